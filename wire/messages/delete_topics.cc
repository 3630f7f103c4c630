#include "wire/messages/delete_topics.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(DeleteTopicsRequest)
HW_WIRE_INSTANTIATE(DeleteTopicsResponse)

}  // namespace highwater::wire
