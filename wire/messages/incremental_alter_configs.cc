#include "wire/messages/incremental_alter_configs.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(IncrementalAlterConfigsRequest)
HW_WIRE_INSTANTIATE(IncrementalAlterConfigsResponse)

}  // namespace highwater::wire
