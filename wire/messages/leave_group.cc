#include "wire/messages/leave_group.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(LeaveGroupRequest)
HW_WIRE_INSTANTIATE(LeaveGroupResponse)

}  // namespace highwater::wire
