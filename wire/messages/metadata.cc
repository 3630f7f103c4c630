#include "wire/messages/metadata.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(MetadataRequest)
HW_WIRE_INSTANTIATE(MetadataResponse)

}  // namespace highwater::wire
