// encode and decode of every message: bodies only, headers are wire/frame.h.
#pragma once

#include "wire/schema.h"

namespace highwater::wire {

/// The message body in `version`, which must be one of Message::kVersions. Fields that the version lacks are
/// left out. Versions that are not flexible carry at most 32,767 bytes of a string; the rest is cut off.
template <class Message>
Bytes encode(const Message& message, std::int16_t version);
/// Errors name message, version, field and byte offset. Bytes left over are an error.
template <class Message>
Result<Message> decode(BytesView body, std::int16_t version);

/// Declares that encode and decode of a message are compiled in its own .cc file.
#define HW_WIRE_MESSAGE(Message)                                \
    extern template Bytes encode(const Message&, std::int16_t); \
    extern template Result<Message> decode(BytesView, std::int16_t);
#define HW_WIRE_INSTANTIATE(Message)                     \
    template Bytes encode(const Message&, std::int16_t); \
    template Result<Message> decode(BytesView, std::int16_t);

}  // namespace highwater::wire
