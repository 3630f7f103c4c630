// The topic configs that replication obeys: how they are written, and what holds when a topic does not set
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "node/controller/metadata_image.h"

namespace highwater::node {

inline constexpr const char* kMinInsyncReplicas = "min.insync.replicas";
inline constexpr const char* kUncleanLeaderElectionEnable = "unclean.leader.election.enable";

/// Why this value cannot be set, as a sentence; nullopt if it can. A config that this node does not implement
/// cannot.
std::optional<std::string> topic_config_error(const std::string& name, const std::string& value);

/// The topic's own value, else `otherwise`. At least 1.
std::int32_t min_insync_replicas(const TopicImage& topic, std::int32_t otherwise);
bool unclean_leader_election(const TopicImage& topic, bool otherwise);

}  // namespace highwater::node
