// Writing JSON by hand: the few pieces that history, trace and verdict writers share.
#pragma once

#include <string>
#include <string_view>

namespace highwater {

/// The text as a JSON string with its quotes. Control characters are escaped; bytes above 127 are passed on.
std::string json_quoted(std::string_view text);

}  // namespace highwater
