#include "base/partition.h"

#include <charconv>

namespace highwater {

std::optional<TopicPartition> TopicPartition::parse(std::string_view text) {
    const std::size_t dash = text.rfind('-');
    if (dash == std::string_view::npos || dash == 0 || dash + 1 == text.size()) return std::nullopt;
    std::int32_t index = 0;
    const auto [end, status] = std::from_chars(text.data() + dash + 1, text.data() + text.size(), index);
    if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return TopicPartition{std::string(text.substr(0, dash)), index};
}

}  // namespace highwater
