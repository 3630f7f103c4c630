// The records of __consumer_offsets, as Kafka writes them: two bytes that say of which kind and version, then
// the message. A null value removes.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "base/result.h"
#include "node/group/group.h"
#include "wire/messages/group_records.h"
#include "wire/record_batch.h"

namespace highwater::node {

wire::Record offset_record(std::int64_t wall_ms, const std::string& group, const TopicPartition& partition,
                           const CommittedOffset& offset);
wire::Record offset_tombstone(std::int64_t wall_ms, const std::string& group,
                              const TopicPartition& partition);
/// `assignments`: by member id; who is not there has none.
wire::Record group_record(std::int64_t wall_ms, const Group& group,
                          const std::map<std::string, Bytes>& assignments);
wire::Record group_tombstone(std::int64_t wall_ms, const std::string& group);

/// A record as read. `value` is nullopt where the record removes.
struct OffsetEntry {
    wire::OffsetCommitKey key;
    std::optional<wire::OffsetCommitValue> value;
};
struct GroupEntry {
    wire::GroupMetadataKey key;
    std::optional<wire::GroupMetadataValue> value;
};
/// Of another kind of group (KIP-848, share groups): left alone.
struct OtherEntry {};
using GroupLogEntry = std::variant<OffsetEntry, GroupEntry, OtherEntry>;
/// Errors: no key, a version that Kafka 4.3 does not have, bytes that do not fit.
Result<GroupLogEntry> read_group_record(const wire::Record& record);

}  // namespace highwater::node
