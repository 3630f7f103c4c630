#include "wire/messages/allocate_producer_ids.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(AllocateProducerIdsRequest)
HW_WIRE_INSTANTIATE(AllocateProducerIdsResponse)

}  // namespace highwater::wire
