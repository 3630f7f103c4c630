// Names of partitions: by topic name (clients, files) and by topic id (between brokers).
#pragma once

#include <fmt/format.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.h"

namespace highwater {

struct TopicPartition {
    std::string topic;
    std::int32_t partition = 0;

    /// Kafka's spelling "topic-partition", which is also the directory name.
    [[nodiscard]] std::string to_string() const { return fmt::format("{}-{}", topic, partition); }
    /// What to_string() wrote; nullopt for anything else.
    static std::optional<TopicPartition> parse(std::string_view text);
    friend auto operator<=>(const TopicPartition&, const TopicPartition&) = default;
};

struct TopicIdPartition {
    Uuid topic_id;
    std::string topic;
    std::int32_t partition = 0;

    [[nodiscard]] TopicPartition topic_partition() const { return {topic, partition}; }
    friend auto operator<=>(const TopicIdPartition&, const TopicIdPartition&) = default;
};

}  // namespace highwater
