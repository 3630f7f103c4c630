// HW_ASSERT: invariants that hold in every build; a broken one prints expression, values and place, then
// traps.
#pragma once

#include <fmt/format.h>

#include <source_location>
#include <string>

namespace highwater {

/// Prints "file:line: function: assertion failed: expression (detail)" to stderr and traps. Never returns.
[[noreturn]] void assertion_failed(const char* expression, const std::string& detail,
                                   std::source_location where = std::source_location::current());

}  // namespace highwater

#define HW_ASSERT(condition, ...)                                                     \
    do {                                                                              \
        if (!(condition)) [[unlikely]] {                                              \
            ::highwater::assertion_failed(#condition, ::fmt::format("" __VA_ARGS__)); \
        }                                                                             \
    } while (false)
