#include "wire/messages/join_group.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(JoinGroupRequest)
HW_WIRE_INSTANTIATE(JoinGroupResponse)

}  // namespace highwater::wire
