// partition.metadata: which topic, by id, a partition's directory belongs to. Kafka's file, one in each
// directory.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/uuid.h"

namespace highwater::node {

inline constexpr const char* kPartitionMetadataFile = "partition.metadata";

/// "version: 0\ntopic_id: <22 characters>", without a newline at the end, as Kafka writes it.
std::string format_partition_metadata(const Uuid& topic_id);
/// With or without a newline at the end. Errors name file and line: another version, no topic id.
Result<Uuid> parse_partition_metadata(std::string_view text, const std::string& file_name);

}  // namespace highwater::node
