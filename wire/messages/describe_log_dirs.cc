#include "wire/messages/describe_log_dirs.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(DescribeLogDirsRequest)
HW_WIRE_INSTANTIATE(DescribeLogDirsResponse)

}  // namespace highwater::wire
