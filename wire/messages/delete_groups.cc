#include "wire/messages/delete_groups.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(DeleteGroupsRequest)
HW_WIRE_INSTANTIATE(DeleteGroupsResponse)

}  // namespace highwater::wire
