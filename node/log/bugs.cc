#include "node/log/bugs.h"

#include <fmt/format.h>

namespace highwater::node {

Result<Bugs> Bugs::parse(std::string_view list) {
    Bugs bugs;
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        const std::string_view name = list.substr(0, comma);
        list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
        bool known = false;
        std::string names;
        for (const BugInfo& info : kBugs) {
            if (info.name == name || info.id == name) {
                bugs.add(info.bug);
                known = true;
            }
            names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", info.name, info.id);
        }
        if (!known) return failure(fmt::format("unknown bug '{}' (known: {})", name, names));
    }
    return bugs;
}

std::vector<BugInfo> Bugs::list() const {
    std::vector<BugInfo> present;
    for (const BugInfo& info : kBugs) {
        if (has(info.bug)) present.push_back(info);
    }
    return present;
}

std::string Bugs::to_string() const {
    std::string names;
    for (const BugInfo& info : list()) names += fmt::format("{}{}", names.empty() ? "" : ",", info.name);
    return names;
}

}  // namespace highwater::node
