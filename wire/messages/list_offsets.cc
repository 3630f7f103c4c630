#include "wire/messages/list_offsets.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(ListOffsetsRequest)
HW_WIRE_INSTANTIATE(ListOffsetsResponse)

}  // namespace highwater::wire
