#include "wire/messages/list_partition_reassignments.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(ListPartitionReassignmentsRequest)
HW_WIRE_INSTANTIATE(ListPartitionReassignmentsResponse)

}  // namespace highwater::wire
