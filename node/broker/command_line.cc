#include "node/broker/command_line.h"

#include <fmt/format.h>

namespace highwater::node {
namespace {

Status add_override(CommandLine& line, const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        return failure(fmt::format("--override takes key=value, not \"{}\"", text));
    }
    line.overrides.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    return {};
}

}  // namespace

const char* const kUsage = "usage: highwater-node server.properties [--override key=value]...\n";

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
    constexpr std::string_view kOverride = "--override";
    CommandLine line;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        if (argument == "--help" || argument == "-h") {
            line.help = true;
            return line;
        }
        if (argument == kOverride) {
            if (++i == arguments.size()) return failure("--override takes key=value, nothing follows it");
            if (Status added = add_override(line, arguments[i]); !added)
                return tl::make_unexpected(added.error());
        } else if (argument.starts_with("--override=")) {
            if (Status added = add_override(line, argument.substr(kOverride.size() + 1)); !added) {
                return tl::make_unexpected(added.error());
            }
        } else if (argument.starts_with('-')) {
            return failure(fmt::format("unknown option \"{}\"", argument));
        } else if (!line.properties_file.empty()) {
            return failure(fmt::format("a second properties file, \"{}\"", argument));
        } else {
            line.properties_file = argument;
        }
    }
    if (line.properties_file.empty()) return failure("no properties file");
    return line;
}

}  // namespace highwater::node
