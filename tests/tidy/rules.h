// The rules of the source tree that a compiler does not know: which room may include which, where threads,
// sockets and JSON may be, how long a file may get, how a header starts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace highwater::tidy {

/// The room a path (relative to the root) belongs to, "" if to none: "node/log", "harness" …
std::string room_of(std::string_view path);

/// What is wrong with a file: "path:line: sentence", one for each breach, in the order of the lines.
std::vector<std::string> check_file(const std::string& path, std::string_view text);

}  // namespace highwater::tidy
