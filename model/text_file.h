// Reading files, for the readers of model: whole, or line by line without holding them in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace highwater {

/// Errors name the path and the cause.
Result<std::string> read_text_file(const std::string& path);

/// text, number from 1, whether a newline ended it (only the last may lack one). Blank lines are left out.
using LineFunction = std::function<Status(std::string_view, std::size_t, bool)>;
/// Stops at the first error.
Status for_each_line(std::string_view text, const LineFunction& line);
/// The same over a file. `begin` is told its size in bytes first (0 if it has none, like a pipe).
Status for_each_line_of_file(const std::string& path, const std::function<void(std::uint64_t)>& begin,
                             const LineFunction& line);

}  // namespace highwater
