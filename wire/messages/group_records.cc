#include "wire/messages/group_records.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(OffsetCommitKey)
HW_WIRE_INSTANTIATE(OffsetCommitValue)
HW_WIRE_INSTANTIATE(GroupMetadataKey)
HW_WIRE_INSTANTIATE(GroupMetadataValue)

}  // namespace highwater::wire
