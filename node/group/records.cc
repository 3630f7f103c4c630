#include "node/group/records.h"

#include <fmt/format.h>

#include "wire/codec.h"

namespace highwater::node {
namespace {

/// Kinds of keys; the first offset keys had kind 0 and the same layout.
constexpr std::int16_t kLegacyOffsetKey = 0;
constexpr std::int16_t kOffsetKey = 1;
constexpr std::int16_t kGroupKey = 2;
/// The last versions that every broker since 2.1 reads.
constexpr std::int16_t kOffsetValueVersion = 3;
constexpr std::int16_t kGroupValueVersion = 3;
constexpr std::size_t kPrefix = 2;

template <class Message>
Bytes prefixed(std::int16_t prefix, const Message& message, std::int16_t version) {
    ByteWriter out;
    out.i16(prefix);
    out.raw(wire::encode(message, version));
    return out.take();
}

/// The two bytes in front.
std::optional<std::int16_t> prefix_of(const Bytes& bytes) {
    if (bytes.size() < kPrefix) return std::nullopt;
    return ByteReader(bytes).i16();
}

template <class Entry, class Key, class Value>
Result<GroupLogEntry> read_entry(const wire::Record& record) {
    const BytesView key_bytes = BytesView(*record.key).subspan(kPrefix);
    const auto key = wire::decode<Key>(key_bytes, 0);
    if (!key) return tl::make_unexpected(key.error());
    if (!record.value) return GroupLogEntry{Entry{*key, std::nullopt}};
    const auto version = prefix_of(*record.value);
    if (!version) return failure("a value without version");
    auto value = wire::decode<Value>(BytesView(*record.value).subspan(kPrefix), *version);
    if (!value) return tl::make_unexpected(value.error());
    return GroupLogEntry{Entry{*key, std::move(*value)}};
}

}  // namespace

wire::Record offset_record(std::int64_t wall_ms, const std::string& group, const TopicPartition& partition,
                           const CommittedOffset& offset) {
    wire::OffsetCommitValue value;
    value.offset = offset.offset;
    value.leader_epoch = offset.leader_epoch;
    value.metadata = offset.metadata;
    value.commit_timestamp = wall_ms;
    wire::Record record = offset_tombstone(wall_ms, group, partition);
    record.value = prefixed(kOffsetValueVersion, value, kOffsetValueVersion);
    return record;
}

wire::Record offset_tombstone(std::int64_t wall_ms, const std::string& group,
                              const TopicPartition& partition) {
    wire::OffsetCommitKey key;
    key.group = group;
    key.topic = partition.topic;
    key.partition = partition.partition;
    wire::Record record;
    record.timestamp = wall_ms;
    record.key = prefixed(kOffsetKey, key, 0);
    return record;
}

wire::Record group_record(std::int64_t wall_ms, const Group& group,
                          const std::map<std::string, Bytes>& assignments) {
    wire::GroupMetadataValue value;
    value.protocol_type = group.protocol_type.value_or("");
    value.generation = group.generation;
    value.protocol = group.protocol;
    value.leader = group.leader;
    value.current_state_timestamp = wall_ms;
    for (const auto& [id, member] : group.members) {
        auto& written = value.members.emplace_back();
        written.member_id = id;
        written.group_instance_id = member.instance_id;
        written.client_id = member.client_id;
        written.client_host = member.client_host;
        written.rebalance_timeout = static_cast<std::int32_t>(member.rebalance_timeout / milliseconds(1));
        written.session_timeout = static_cast<std::int32_t>(member.session_timeout / milliseconds(1));
        const Bytes* subscription = group.protocol ? member.metadata(*group.protocol) : nullptr;
        if (subscription != nullptr) written.subscription = *subscription;
        if (const auto found = assignments.find(id); found != assignments.end())
            written.assignment = found->second;
    }
    wire::Record record = group_tombstone(wall_ms, group.id);
    record.value = prefixed(kGroupValueVersion, value, kGroupValueVersion);
    return record;
}

wire::Record group_tombstone(std::int64_t wall_ms, const std::string& group) {
    wire::GroupMetadataKey key;
    key.group = group;
    wire::Record record;
    record.timestamp = wall_ms;
    record.key = prefixed(kGroupKey, key, 0);
    return record;
}

Result<GroupLogEntry> read_group_record(const wire::Record& record) {
    const auto kind = record.key ? prefix_of(*record.key) : std::nullopt;
    if (!kind) return failure("a record without a key");
    if (*kind == kLegacyOffsetKey || *kind == kOffsetKey)
        return read_entry<OffsetEntry, wire::OffsetCommitKey, wire::OffsetCommitValue>(record);
    if (*kind == kGroupKey)
        return read_entry<GroupEntry, wire::GroupMetadataKey, wire::GroupMetadataValue>(record);
    return GroupLogEntry{OtherEntry{}};
}

}  // namespace highwater::node
