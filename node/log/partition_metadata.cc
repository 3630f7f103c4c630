#include "node/log/partition_metadata.h"

#include <fmt/format.h>

namespace highwater::node {
namespace {

constexpr std::string_view kVersion = "version: 0";
constexpr std::string_view kTopicId = "topic_id: ";

}  // namespace

std::string format_partition_metadata(const Uuid& topic_id) {
    return fmt::format("{}\n{}{}", kVersion, kTopicId, topic_id.to_string());
}

Result<Uuid> parse_partition_metadata(std::string_view text, const std::string& file_name) {
    const std::size_t end = text.find('\n');
    const std::string_view version = text.substr(0, end);
    if (version != kVersion)
        return failure(fmt::format("{}:1: '{}', expected '{}'", file_name, version, kVersion));
    std::string_view topic = end == std::string_view::npos ? "" : text.substr(end + 1);
    if (topic.ends_with('\n')) topic.remove_suffix(1);
    if (!topic.starts_with(kTopicId)) {
        return failure(fmt::format("{}:2: '{}', expected '{}' and an id", file_name, topic, kTopicId));
    }
    auto topic_id = Uuid::parse(topic.substr(kTopicId.size()));
    if (!topic_id) return failure(file_name + ":2", topic_id.error());
    return topic_id;
}

}  // namespace highwater::node
