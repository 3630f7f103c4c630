#include "node/controller/topic_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace highwater::node {
namespace {

std::optional<std::int32_t> parse_count(const std::string& value, std::int64_t low) {
    std::int32_t number = 0;
    const char* const end = value.data() + value.size();
    const auto parsed = std::from_chars(value.data(), end, number);
    if (parsed.ec != std::errc{} || parsed.ptr != end || number < low) return std::nullopt;
    return number;
}

/// Any case, as Kafka reads booleans.
std::optional<bool> parse_boolean(std::string value) {
    std::transform(value.begin(), value.end(), value.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    if (value == "true") return true;
    if (value == "false") return false;
    return std::nullopt;
}

std::int32_t number_of(const std::map<std::string, std::string>& configs, const char* name,
                       std::int32_t otherwise) {
    const auto config = configs.find(name);
    if (config == configs.end()) return otherwise;
    return parse_count(config->second, std::numeric_limits<std::int32_t>::min()).value_or(otherwise);
}

std::string known_names() {
    std::string names;
    for (const TopicConfigKey& key : topic_config_keys())
        names += fmt::format("{}{}", names.empty() ? "" : ", ", key.name);
    return names;
}

}  // namespace

const std::vector<TopicConfigKey>& topic_config_keys() {
    // A log here keeps every record: retention has no other value.
    static const std::vector<TopicConfigKey> kKeys = {
        {"cleanup.policy", ConfigType::List, "log.cleanup.policy", "delete", "delete", 0},
        {"compression.type", ConfigType::String, "compression.type", "producer", "producer", 0},
        {kMaxMessageBytes, ConfigType::Int, "message.max.bytes", "1048588", nullptr, 0},
        {"message.timestamp.type", ConfigType::String, "log.message.timestamp.type", "CreateTime",
         "CreateTime", 0},
        {kMinInsyncReplicas, ConfigType::Int, "min.insync.replicas", "1", nullptr, 1},
        {"retention.bytes", ConfigType::Long, "log.retention.bytes", "-1", "-1", 0},
        {"retention.ms", ConfigType::Long, "log.retention.ms", "-1", "-1", 0},
        {kUncleanLeaderElectionEnable, ConfigType::Boolean, "unclean.leader.election.enable", "false",
         nullptr, 0},
    };
    return kKeys;
}

const TopicConfigKey* find_topic_config(const std::string& name) {
    for (const TopicConfigKey& key : topic_config_keys()) {
        if (name == key.name) return &key;
    }
    return nullptr;
}

std::optional<std::string> topic_config_error(const std::string& name, const std::string& value) {
    const TopicConfigKey* key = find_topic_config(name);
    if (key == nullptr) {
        return fmt::format("Unknown topic config name: {}; here there are {}", name, known_names());
    }
    // Kafka's words: tools and people search for them.
    const auto invalid = [&](const std::string& why) {
        return fmt::format("Invalid value {} for configuration {}: {}", value, name, why);
    };
    if (key->only != nullptr) {
        if (value == key->only) return std::nullopt;
        return invalid(fmt::format("It can only be {} here", key->only));
    }
    if (key->type == ConfigType::Boolean) {
        if (parse_boolean(value)) return std::nullopt;
        return invalid("Expected value to be either true or false");
    }
    if (parse_count(value, key->low)) return std::nullopt;
    const bool is_number = parse_count(value, std::numeric_limits<std::int32_t>::min()).has_value();
    return invalid(is_number ? fmt::format("Value must be at least {}", key->low)
                             : "Not a number of type INT");
}

std::int32_t min_insync_replicas(const TopicImage& topic, std::int32_t otherwise) {
    return std::max(1, number_of(topic.configs, kMinInsyncReplicas, otherwise));
}

std::int32_t cluster_min_insync_replicas(const MetadataImage& image, std::int32_t otherwise) {
    return std::max(1, number_of(image.cluster_configs(), kMinInsyncReplicas, otherwise));
}

std::int32_t max_message_bytes(const TopicImage& topic, std::int32_t otherwise) {
    return number_of(topic.configs, kMaxMessageBytes, otherwise);
}

bool unclean_leader_election(const TopicImage& topic, bool otherwise) {
    const auto config = topic.configs.find(kUncleanLeaderElectionEnable);
    return config == topic.configs.end() ? otherwise : parse_boolean(config->second).value_or(otherwise);
}

}  // namespace highwater::node
