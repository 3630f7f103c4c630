#include "wire/messages/create_topics.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(CreateTopicsRequest)
HW_WIRE_INSTANTIATE(CreateTopicsResponse)

}  // namespace highwater::wire
