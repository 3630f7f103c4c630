#include "wire/messages/offset_for_leader_epoch.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(OffsetForLeaderEpochRequest)
HW_WIRE_INSTANTIATE(OffsetForLeaderEpochResponse)

}  // namespace highwater::wire
