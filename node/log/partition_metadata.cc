#include "node/log/partition_metadata.h"

#include <fmt/format.h>

namespace highwater::node {
namespace {

constexpr std::string_view kVersionLine = "version: 0\n";
constexpr std::string_view kTopicId = "topic_id: ";

}  // namespace

std::string format_partition_metadata(const Uuid& topic_id) {
    return fmt::format("{}{}{}", kVersionLine, kTopicId, topic_id.to_string());
}

Result<Uuid> parse_partition_metadata(std::string_view text, const std::string& file_name) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (!text.starts_with(kVersionLine)) {
        return failure(
            fmt::format("{}:1: '{}', expected 'version: 0'", file_name, text.substr(0, text.find('\n'))));
    }
    text.remove_prefix(kVersionLine.size());
    if (!text.starts_with(kTopicId)) {
        return failure(fmt::format("{}:2: '{}', expected 'topic_id: ' and an id", file_name, text));
    }
    auto topic_id = Uuid::parse(text.substr(kTopicId.size()));
    if (!topic_id) return failure(file_name + ":2", topic_id.error());
    return topic_id;
}

}  // namespace highwater::node
