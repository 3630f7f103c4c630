// How brokers read the metadata log: by Fetch, at the version and topic id that Kafka uses between its
// processes.
#pragma once

#include <string_view>

#include "base/uuid.h"

namespace highwater::node {

/// Fetch between our processes: topic ids, ReplicaState with the broker epoch.
inline constexpr std::int16_t kInternalFetchVersion = 17;
inline constexpr std::string_view kClusterMetadataTopic = "__cluster_metadata";
/// Kafka's fixed id of __cluster_metadata: AAAAAAAAAAAAAAAAAAAAAQ.
inline constexpr Uuid kClusterMetadataTopicId{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
/// Where groups and what they have committed are kept; for the brokers' own records only.
inline constexpr const char* kConsumerOffsetsTopic = "__consumer_offsets";

}  // namespace highwater::node
