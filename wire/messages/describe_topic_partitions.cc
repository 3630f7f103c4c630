#include "wire/messages/describe_topic_partitions.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(DescribeTopicPartitionsRequest)
HW_WIRE_INSTANTIATE(DescribeTopicPartitionsResponse)

}  // namespace highwater::wire
