#include "wire/messages/broker_registration.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(BrokerRegistrationRequest)
HW_WIRE_INSTANTIATE(BrokerRegistrationResponse)

}  // namespace highwater::wire
