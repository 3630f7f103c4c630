#include "wire/messages/elect_leaders.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(ElectLeadersRequest)
HW_WIRE_INSTANTIATE(ElectLeadersResponse)

}  // namespace highwater::wire
