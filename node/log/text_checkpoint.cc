#include "node/log/text_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace highwater::node {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return parts;
}

}  // namespace

Result<std::vector<std::vector<std::string>>> parse_text_checkpoint(std::string_view text,
                                                                    const std::string& file_name,
                                                                    std::size_t fields_per_line) {
    std::vector<std::vector<std::string>> entries;
    const std::vector<std::string> lines = split(text, '\n');
    if (lines.empty()) return entries;
    if (lines[0] != "0") return failure(fmt::format("{}:1: version '{}', expected 0", file_name, lines[0]));
    if (lines.size() < 2 || lines[1] != std::to_string(lines.size() - 2)) {
        return failure(fmt::format("{}:2: '{}' entries announced, {} lines follow", file_name,
                                   lines.size() < 2 ? "" : lines[1],
                                   lines.size() < 2 ? 0 : lines.size() - 2));
    }
    for (std::size_t i = 2; i < lines.size(); ++i) {
        std::vector<std::string> fields = split(lines[i], ' ');
        if (fields.size() != fields_per_line) {
            return failure(fmt::format("{}:{}: '{}' has {} fields, expected {}", file_name, i + 1, lines[i],
                                       fields.size(), fields_per_line));
        }
        if (std::find(fields.begin(), fields.end(), "") != fields.end()) {
            return failure(fmt::format("{}:{}: '{}' has an empty field", file_name, i + 1, lines[i]));
        }
        entries.push_back(std::move(fields));
    }
    return entries;
}

Result<std::int64_t> checkpoint_number(const std::string& text, const std::string& file_name,
                                       std::size_t entry, std::int64_t max) {
    std::int64_t number = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (status != std::errc{} || end != text.data() + text.size() || number < 0 || number > max) {
        return failure(
            fmt::format("{}:{}: '{}' is no whole number from 0 to {}", file_name, entry + 3, text, max));
    }
    return number;
}

}  // namespace highwater::node
