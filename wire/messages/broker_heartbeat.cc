#include "wire/messages/broker_heartbeat.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(BrokerHeartbeatRequest)
HW_WIRE_INSTANTIATE(BrokerHeartbeatResponse)

}  // namespace highwater::wire
