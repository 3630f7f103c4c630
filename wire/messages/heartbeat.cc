#include "wire/messages/heartbeat.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(HeartbeatRequest)
HW_WIRE_INSTANTIATE(HeartbeatResponse)

}  // namespace highwater::wire
