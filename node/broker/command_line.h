// The arguments of highwater-node, as Kafka's start script takes them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace highwater::node {

struct CommandLine {
    std::string properties_file;
    /// In the order given; a later one of the same key wins, and all win over the file.
    std::vector<std::pair<std::string, std::string>> overrides;
    bool help = false;
};

extern const char* const kUsage;

/// Errors: no or more than one properties file, an unknown option, an override that is not key=value.
Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

}  // namespace highwater::node
