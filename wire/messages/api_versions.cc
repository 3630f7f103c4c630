#include "wire/messages/api_versions.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(ApiVersionsRequest)
HW_WIRE_INSTANTIATE(ApiVersionsResponse)

}  // namespace highwater::wire
