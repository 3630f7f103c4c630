#include "wire/messages/offset_commit.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(OffsetCommitRequest)
HW_WIRE_INSTANTIATE(OffsetCommitResponse)

}  // namespace highwater::wire
