#include "node/controller/topic_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace highwater::node {
namespace {

std::optional<std::int32_t> parse_count(const std::string& value) {
    std::int32_t number = 0;
    const char* const end = value.data() + value.size();
    const auto parsed = std::from_chars(value.data(), end, number);
    if (parsed.ec != std::errc{} || parsed.ptr != end || number < 1) return std::nullopt;
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

}  // namespace

std::optional<std::string> topic_config_error(const std::string& name, const std::string& value) {
    if (name == kMinInsyncReplicas) {
        if (parse_count(value)) return std::nullopt;
        return fmt::format("{} must be a whole number from 1, not \"{}\"", name, value);
    }
    if (name == kUncleanLeaderElectionEnable) {
        if (parse_boolean(value)) return std::nullopt;
        return fmt::format("{} must be true or false, not \"{}\"", name, value);
    }
    return fmt::format("topic config {} is unknown or not implemented here; there are {} and {}", name,
                       kMinInsyncReplicas, kUncleanLeaderElectionEnable);
}

std::int32_t min_insync_replicas(const TopicImage& topic, std::int32_t otherwise) {
    const auto config = topic.configs.find(kMinInsyncReplicas);
    return config == topic.configs.end() ? otherwise : parse_count(config->second).value_or(otherwise);
}

bool unclean_leader_election(const TopicImage& topic, bool otherwise) {
    const auto config = topic.configs.find(kUncleanLeaderElectionEnable);
    return config == topic.configs.end() ? otherwise : parse_boolean(config->second).value_or(otherwise);
}

}  // namespace highwater::node
