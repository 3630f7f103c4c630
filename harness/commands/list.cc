#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/commands/commands.h"
#include "harness/program_paths.h"

namespace highwater::harness {

int list_command(const CommonOptions& common) {
    nlohmann::ordered_json json{{"scenarios", nlohmann::ordered_json::array()}};
    for (const std::string& path : bundled_scenarios()) {
        const auto scenario = load_scenario(path, {});
        if (!scenario) return report_error(scenario.error().message, kExitUsage);
        json["scenarios"].push_back({{"name", scenario->name}, {"title", scenario->title}});
        if (!scenario->suts.empty()) json["scenarios"].back()["sut"] = scenario->suts;
        const std::string only =
            scenario->suts.empty() ? "" : fmt::format(" ({} only)", fmt::join(scenario->suts, ", "));
        if (!common.json) fmt::print("{:<24}{}{}\n", scenario->name, scenario->title, only);
    }
    if (common.json) fmt::print("{}\n", json.dump());
    return 0;
}

}  // namespace highwater::harness
