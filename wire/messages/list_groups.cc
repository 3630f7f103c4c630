#include "wire/messages/list_groups.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(ListGroupsRequest)
HW_WIRE_INSTANTIATE(ListGroupsResponse)

}  // namespace highwater::wire
