#include "wire/messages/offset_fetch.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(OffsetFetchRequest)
HW_WIRE_INSTANTIATE(OffsetFetchResponse)

}  // namespace highwater::wire
