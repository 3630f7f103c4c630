#include "wire/messages/find_coordinator.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(FindCoordinatorRequest)
HW_WIRE_INSTANTIATE(FindCoordinatorResponse)

}  // namespace highwater::wire
