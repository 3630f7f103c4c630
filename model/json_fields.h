// Reading JSON lines: typed fields of one simdjson object, with errors that name the field. For .cc files of
// model only.
#pragma once

#include <fmt/format.h>
#include <simdjson.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace highwater::json {

using Element = simdjson::dom::element;

/// Thrown and caught inside one line's reading; never leaves model.
struct FieldError {
    std::string message;
};

[[noreturn]] inline void wrong(std::string_view key, std::string_view expected) {
    throw FieldError{fmt::format("field \"{}\": expected {}", key, expected)};
}

inline std::int64_t to_integer(std::string_view key, Element value) {
    std::int64_t number = 0;
    if (value.get(number) != simdjson::SUCCESS) wrong(key, "an integer");
    return number;
}

template <class T>
T to_number(std::string_view key, Element value) {
    const std::int64_t number = to_integer(key, value);
    if (number < std::numeric_limits<T>::min() || number > std::numeric_limits<T>::max()) {
        wrong(key, fmt::format("an integer of {} bits", 8 * sizeof(T)));
    }
    return static_cast<T>(number);
}

/// null and negative numbers (-1, -1001) mean unknown.
inline Offset to_offset(std::string_view key, Element value) {
    if (value.is_null()) return kUnknownOffset;
    const std::int64_t offset = to_integer(key, value);
    return offset < 0 ? kUnknownOffset : offset;
}

inline bool to_bool(std::string_view key, Element value) {
    bool flag = false;
    if (value.get(flag) != simdjson::SUCCESS) wrong(key, "true or false");
    return flag;
}

/// The view lives as long as the parser's document.
inline std::string_view to_text(std::string_view key, Element value) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) wrong(key, "a string");
    return text;
}

inline simdjson::dom::array to_array(std::string_view key, Element value) {
    simdjson::dom::array array;
    if (value.get(array) != simdjson::SUCCESS) wrong(key, "an array");
    return array;
}

template <class T>
std::vector<T> to_numbers(std::string_view key, Element value) {
    std::vector<T> numbers;
    for (const Element item : to_array(key, value)) numbers.push_back(to_number<T>(key, item));
    return numbers;
}

/// [[a, b]…]; `at_least` numbers in each.
inline std::vector<std::vector<std::int64_t>> to_tuples(std::string_view key, Element value,
                                                        std::size_t at_least) {
    std::vector<std::vector<std::int64_t>> tuples;
    for (const Element item : to_array(key, value)) {
        tuples.push_back(to_numbers<std::int64_t>(key, item));
        if (tuples.back().size() < at_least) wrong(key, fmt::format("arrays of {} integers", at_least));
    }
    return tuples;
}

}  // namespace highwater::json
