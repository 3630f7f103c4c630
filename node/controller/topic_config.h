// The topic configs there are: those that this node obeys, and those of whose values it has one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/controller/metadata_image.h"

namespace highwater::node {

inline constexpr const char* kMinInsyncReplicas = "min.insync.replicas";
inline constexpr const char* kUncleanLeaderElectionEnable = "unclean.leader.election.enable";
inline constexpr const char* kMaxMessageBytes = "max.message.bytes";

/// Numbers as in DescribeConfigs.
enum class ConfigType : std::int8_t { Boolean = 1, String = 2, Int = 3, Long = 5, List = 7 };

struct TopicConfigKey {
    const char* name;
    ConfigType type;
    /// The broker's key whose value holds where the topic sets none.
    const char* broker_key;
    /// What holds where the broker does not set it either, or has no such key here.
    const char* otherwise;
    /// Not nullptr: the only value that this node can honour.
    const char* only;
    /// Smallest value of a number.
    std::int64_t low;
};
/// Sorted by name.
const std::vector<TopicConfigKey>& topic_config_keys();
/// nullptr: unknown, or not implemented here.
const TopicConfigKey* find_topic_config(const std::string& name);

/// Why this value cannot be set, as a sentence; nullopt if it can. A config that this node does not implement
/// cannot.
std::optional<std::string> topic_config_error(const std::string& name, const std::string& value);

/// The topic's own value, else `otherwise`. At least 1.
std::int32_t min_insync_replicas(const TopicImage& topic, std::int32_t otherwise);
/// What holds where a topic has no min.insync.replicas: the cluster's ConfigRecord, else `otherwise`.
std::int32_t cluster_min_insync_replicas(const MetadataImage& image, std::int32_t otherwise);
bool unclean_leader_election(const TopicImage& topic, bool otherwise);
/// Of one batch.
std::int32_t max_message_bytes(const TopicImage& topic, std::int32_t otherwise);

}  // namespace highwater::node
