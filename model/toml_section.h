// One table of a scenario file while it is read: each key is taken once, and what nobody took is unknown.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

// The library's header is heavy and stays in .cc files.
namespace toml {
inline namespace v3 {
class node;
class table;
}  // namespace v3
}  // namespace toml

namespace highwater {

/// The first error stays. Errors name file, line and key.
class Section {
public:
    /// `table` outlives it.
    Section(std::string file, std::string name, const toml::table& table);

    void take(std::string_view key, std::string& into);
    void take(std::string_view key, bool& into);
    void take_int(std::string_view key, std::int32_t& into, std::int32_t low, std::int32_t high);
    void take_int(std::string_view key, std::int64_t& into, std::int64_t low, std::int64_t high);
    /// The tables of [[this.key]], in order.
    void take_tables(std::string_view key, const std::function<void(Section&)>& read);
    void take_duration(std::string_view key, Duration& into);
    void take_strings(std::string_view key, std::vector<std::string>& into);
    /// A table of whole numbers, its keys in the order of the file's reader.
    std::vector<std::pair<std::string, std::int64_t>> take_numbers(std::string_view key);
    /// A string turned into something by a parser that may refuse it.
    template <class Parser, class Into>
    void take_parsed(std::string_view key, Parser parse, Into& into) {
        const auto text = take_string(key);
        if (!text) return;
        auto parsed = parse(*text);
        if (!parsed) return fail(key, parsed.error().message);
        into = std::move(*parsed);
    }
    /// Nullopt if there is none, or it is no string.
    std::optional<std::string> take_string(std::string_view key);
    /// Any scalar as the text that a .properties file would have.
    std::optional<std::string> take_text(std::string_view key);
    /// Marks it taken; nullptr if there is none.
    const toml::node* find(std::string_view key);
    [[nodiscard]] bool has(std::string_view key) const;

    void fail(std::string_view key, const std::string& what);
    /// Reports an unknown key, if any, then the first error.
    Status finish();

private:
    std::string file_;
    std::string name_;
    const toml::table& table_;
    std::set<std::string> taken_;
    std::string error_;
};

}  // namespace highwater
