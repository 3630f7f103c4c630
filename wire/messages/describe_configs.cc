#include "wire/messages/describe_configs.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(DescribeConfigsRequest)
HW_WIRE_INSTANTIATE(DescribeConfigsResponse)

}  // namespace highwater::wire
