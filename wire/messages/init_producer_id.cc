#include "wire/messages/init_producer_id.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(InitProducerIdRequest)
HW_WIRE_INSTANTIATE(InitProducerIdResponse)

}  // namespace highwater::wire
