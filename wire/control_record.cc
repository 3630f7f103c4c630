#include "wire/control_record.h"

#include <fmt/format.h>

namespace highwater::wire {
namespace {

constexpr std::int16_t kKeyVersion = 0;

}  // namespace

Result<ControlType> control_type(const Record& record) {
    if (!record.key) return failure(fmt::format("control record at offset {} has no key", record.offset));
    ByteReader in(*record.key);
    in.i16();
    const auto type = static_cast<ControlType>(in.i16());
    if (in.failed()) {
        return failure(fmt::format("control record at offset {} has a key of {} bytes", record.offset,
                                   record.key->size()));
    }
    return type;
}

Result<LeaderChangeMessage> decode_leader_change(const Record& record) {
    const auto type = control_type(record);
    if (!type) return tl::make_unexpected(type.error());
    if (*type != ControlType::LeaderChange || !record.value) {
        return failure(fmt::format("control record at offset {} is no leader change, its type is {}",
                                   record.offset, static_cast<int>(*type)));
    }
    // The message begins with the version it is written in.
    ByteReader in(*record.value);
    return decode<LeaderChangeMessage>(*record.value, in.i16());
}

Record encode_leader_change(const LeaderChangeMessage& message, std::int64_t timestamp) {
    ByteWriter key;
    key.i16(kKeyVersion);
    key.i16(static_cast<std::int16_t>(ControlType::LeaderChange));
    Record record;
    record.timestamp = timestamp;
    record.key = key.take();
    record.value = encode(message, message.version);
    return record;
}

}  // namespace highwater::wire
