// highwater doctor: can the main job run here, what else can, and what to install for the rest.
#include "harness/doctor.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/commands/commands.h"

namespace highwater::harness {

int doctor_command(const std::string& out, const CommonOptions& common) {
    using Json = nlohmann::ordered_json;
    const std::vector<Capability> found = examine_machine(out);
    Json json{{"ready", true}, {"checks", Json::array()}};
    std::string missing;
    std::FILE* text = common.json ? stderr : stdout;
    for (const Capability& one : found) {
        const char* word = one.ok ? "ok" : one.needed ? "MISSING" : "missing";
        fmt::print(text, "{:<8} {:<19} {}", word, one.name, one.found);
        if (!one.ok) fmt::print(text, "; for {}{}{}", one.serves, one.remedy.empty() ? "" : ": ", one.remedy);
        fmt::print(text, "\n");
        if (one.needed && !one.ok) missing += (missing.empty() ? "" : ", ") + one.name;
        json["checks"].push_back({{"name", one.name},
                                  {"for", one.serves},
                                  {"needed", one.needed},
                                  {"ok", one.ok},
                                  {"found", one.found},
                                  {"remedy", one.remedy}});
    }
    json["ready"] = missing.empty();
    if (missing.empty()) {
        fmt::print(text, "the main job can run here: scripts/dev run\n");
    } else {
        fmt::print(text, "the main job CANNOT run here: {}\n", missing);
    }
    if (common.json) fmt::print("{}\n", json.dump());
    return missing.empty() ? 0 : 1;
}

}  // namespace highwater::harness
