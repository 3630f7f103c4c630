#include "model/toml_section.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include "model/scenario.h"

namespace highwater {

Section::Section(std::string file, std::string name, const toml::table& table)
    : file_(std::move(file)), name_(std::move(name)), table_(table) {}

const toml::node* Section::find(std::string_view key) {
    taken_.insert(std::string(key));
    return table_.get(key);
}

bool Section::has(std::string_view key) const { return table_.get(key) != nullptr; }

void Section::take(std::string_view key, std::string& into) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const auto value = node->value<std::string>();
    if (!value) return fail(key, "has the wrong type");
    into = *value;
}

void Section::take(std::string_view key, bool& into) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const auto value = node->value_exact<bool>();
    if (!value) return fail(key, "is not true or false");
    into = *value;
}

void Section::take_int(std::string_view key, std::int64_t& into, std::int64_t low, std::int64_t high) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const auto value = node->value_exact<std::int64_t>();
    if (!value) return fail(key, "is no whole number");
    if (*value < low || *value > high)
        return fail(key, fmt::format("is {}, not in {}..{}", *value, low, high));
    into = *value;
}

void Section::take_int(std::string_view key, std::int32_t& into, std::int32_t low, std::int32_t high) {
    std::int64_t wide = into;
    take_int(key, wide, low, high);
    into = static_cast<std::int32_t>(wide);
}

void Section::take_tables(std::string_view key, const std::function<void(Section&)>& read) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const std::string wrong = fmt::format("is no array of tables: write [[{}.{}]]", name_, key);
    const toml::array* array = node->as_array();
    if (array == nullptr) return fail(key, wrong);
    for (const toml::node& item : *array) {
        const toml::table* table = item.as_table();
        if (table == nullptr) return fail(key, wrong);
        Section section(file_, fmt::format("{}.{}", name_, key), *table);
        read(section);
        const Status status = section.finish();
        if (!status && error_.empty()) error_ = status.error().message;
    }
}

void Section::take_duration(std::string_view key, Duration& into) {
    take_parsed(key, [](const std::string& text) { return parse_duration(text); }, into);
}

void Section::take_strings(std::string_view key, std::vector<std::string>& into) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    if (array == nullptr) return fail(key, "is no array of strings");
    into.clear();
    for (const toml::node& item : *array) {
        const auto text = item.value_exact<std::string>();
        if (!text) return fail(key, "is no array of strings");
        into.push_back(*text);
    }
}

std::vector<std::pair<std::string, std::int64_t>> Section::take_numbers(std::string_view key) {
    std::vector<std::pair<std::string, std::int64_t>> numbers;
    const toml::node* node = find(key);
    if (node == nullptr) return numbers;
    const toml::table* table = node->as_table();
    if (table == nullptr) {
        fail(key, "is no table of whole numbers");
        return numbers;
    }
    for (const auto& [name, value] : *table) {
        const auto number = value.value_exact<std::int64_t>();
        if (!number) fail(key, fmt::format("has no whole number for '{}'", std::string(name.str())));
        if (number) numbers.emplace_back(std::string(name.str()), *number);
    }
    return numbers;
}

std::optional<std::string> Section::take_string(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr) return std::nullopt;
    auto text = node->value_exact<std::string>();
    if (!text) fail(key, "is no string");
    return text;
}

std::optional<std::string> Section::take_text(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr) return std::nullopt;
    if (const auto text = node->value_exact<std::string>()) return text;
    if (const auto flag = node->value_exact<bool>()) return *flag ? "true" : "false";
    if (const auto number = node->value_exact<std::int64_t>()) return std::to_string(*number);
    fail(key, "is no string, number or boolean");
    return std::nullopt;
}

void Section::fail(std::string_view key, const std::string& what) {
    if (!error_.empty()) return;
    const toml::node* node = table_.get(key);
    const auto line = node != nullptr && node->source().begin.line > 0 ? node->source().begin.line
                                                                       : table_.source().begin.line;
    error_ = fmt::format("{}{}: {}{}{} {}", file_, line > 0 ? fmt::format(":{}", line) : "", name_,
                         name_.empty() ? "" : ".", key, what);
}

Status Section::finish() {
    for (const auto& [key, node] : table_) {
        if (!taken_.contains(std::string(key.str()))) fail(key.str(), "is not a known key");
    }
    if (!error_.empty()) return failure(error_);
    return {};
}

}  // namespace highwater
