#include "wire/messages/sync_group.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(SyncGroupRequest)
HW_WIRE_INSTANTIATE(SyncGroupResponse)

}  // namespace highwater::wire
