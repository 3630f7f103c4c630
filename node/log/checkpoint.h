// Kafka's offset checkpoint files: replication-offset-checkpoint (high watermarks) and its relatives.
// Text: "0\n<count>\n<topic> <partition> <offset>\n…".
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/partition.h"
#include "base/result.h"

namespace highwater::node {

inline constexpr const char* kReplicationOffsetCheckpoint = "replication-offset-checkpoint";

using OffsetCheckpoint = std::map<TopicPartition, Offset>;

std::string format_offset_checkpoint(const OffsetCheckpoint& offsets);
/// Errors name the file and line. An empty text is an empty checkpoint (Kafka creates the files empty).
Result<OffsetCheckpoint> parse_offset_checkpoint(std::string_view text, const std::string& file_name);

}  // namespace highwater::node
