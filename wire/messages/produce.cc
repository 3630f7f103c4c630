#include "wire/messages/produce.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(ProduceRequest)
HW_WIRE_INSTANTIATE(ProduceResponse)

}  // namespace highwater::wire
