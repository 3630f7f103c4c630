#include "wire/messages/fetch.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(FetchRequest)
HW_WIRE_INSTANTIATE(FetchResponse)

}  // namespace highwater::wire
