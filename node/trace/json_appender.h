// Appends the fields of one flat JSON object to a string. Trace lines are written before every send, so this
// does nothing but append: no tree, no allocation of its own.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace highwater::node {

class JsonAppender {
public:
    /// Begins the object; finish() ends it.
    explicit JsonAppender(std::string& out) : out_(out) { out_.push_back('{'); }

    /// Keys are literals of this room and need no escaping.
    void field(std::string_view key, std::integral auto value) {
        begin(key);
        number(value);
    }
    void field(std::string_view key, bool value) {
        begin(key);
        out_ += value ? "true" : "false";
    }
    void field(std::string_view key, std::string_view value) {
        begin(key);
        text(value);
    }
    void field(std::string_view key, const char* value) { field(key, std::string_view(value)); }
    template <std::integral T>
    void field(std::string_view key, const std::vector<T>& values) {
        list(key, values, [this](T value) { number(value); });
    }
    /// A list whose elements `write` appends, each an array or number of its own.
    template <class Values, class Write>
    void list(std::string_view key, const Values& values, Write write) {
        begin(key);
        out_.push_back('[');
        bool first = true;
        for (const auto& value : values) {
            if (!first) out_.push_back(',');
            first = false;
            write(value);
        }
        out_.push_back(']');
    }
    /// "[a,b,…]" in place, for elements of list().
    template <std::integral... T>
    void tuple(T... values) {
        char separator = '[';
        ((out_.push_back(separator), number(values), separator = ','), ...);
        out_.push_back(']');
    }
    template <std::integral... T>
    void tuple_field(std::string_view key, T... values) {
        begin(key);
        tuple(values...);
    }
    void finish() { out_ += "}\n"; }

private:
    void begin(std::string_view key) {
        if (!first_) out_.push_back(',');
        first_ = false;
        out_.push_back('"');
        out_ += key;
        out_ += "\":";
    }
    void number(std::integral auto value) {
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
        out_.append(digits, end);
    }
    void text(std::string_view value);

    std::string& out_;
    bool first_ = true;
};

}  // namespace highwater::node
