#include "wire/messages/describe_cluster.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(DescribeClusterRequest)
HW_WIRE_INSTANTIATE(DescribeClusterResponse)

}  // namespace highwater::wire
