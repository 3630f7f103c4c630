#include "wire/messages/describe_groups.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(DescribeGroupsRequest)
HW_WIRE_INSTANTIATE(DescribeGroupsResponse)

}  // namespace highwater::wire
