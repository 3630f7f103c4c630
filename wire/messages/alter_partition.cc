#include "wire/messages/alter_partition.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(AlterPartitionRequest)
HW_WIRE_INSTANTIATE(AlterPartitionResponse)

}  // namespace highwater::wire
