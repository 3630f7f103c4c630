#include "results/compare.h"

#include <fmt/format.h>

#include <cstdio>

#include "harness/commands/commands.h"
#include "harness/runner.h"

namespace highwater::harness {
namespace {

struct Param {
    std::string key;
    std::vector<std::string> values;
};

Result<Param> parse_param(const std::string& text) {
    auto setting = parse_setting(text);
    if (!setting) return failure("--param", setting.error());
    Param param{setting->key, {}};
    std::string_view rest = setting->value;
    while (true) {
        const std::size_t comma = rest.find(',');
        param.values.emplace_back(rest.substr(0, comma));
        if (param.values.back().empty()) return failure(fmt::format("--param {}: an empty value", text));
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    if (param.values.size() < 2)
        return failure(fmt::format("--param {}: needs at least two values to compare", text));
    return param;
}

std::string heading(const Scenario& scenario, const CompareArguments& arguments) {
    return fmt::format(
        "{} · {} brokers, RF {}, min.insync.replicas {} · seed {}{}", scenario.name, scenario.cluster.brokers,
        scenario.topic.assignment.front().size(), scenario.topic.min_insync_replicas(), arguments.run.seed,
        arguments.runs > 1
            ? fmt::format(" to {}", arguments.run.seed + static_cast<unsigned>(arguments.runs) - 1)
            : "");
}

}  // namespace

int compare_command(const CompareArguments& arguments, const CommonOptions& common) {
    const auto param = parse_param(arguments.param);
    if (!param) return report_error(param.error().message, kExitUsage);
    std::vector<Scenario> scenarios;
    // Every side is read before the first run: a typo in the last value must not cost the runs before it.
    for (const std::string& value : param->values) {
        auto scenario = load_named_scenario(arguments.run, {{param->key, value}});
        if (!scenario) return report_error(scenario.error().message, kExitUsage);
        if (const Status known = results::check_counters(*scenario); !known) {
            return report_error(known.error().message, kExitUsage);
        }
        scenarios.push_back(std::move(*scenario));
    }
    std::vector<results::ComparedSide> sides;
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
        results::ComparedSide side;
        side.value = param->values[i];
        for (int run = 0; run < arguments.runs; ++run) {
            RunOptions options;
            options.seed = arguments.run.seed + static_cast<std::uint64_t>(run);
            options.out = arguments.run.out;
            options.bugs = arguments.run.bugs;
            options.command_line = common.command_line;
            options.reproduce = reproduce_command(arguments.run, options.seed, {{param->key, side.value}});
            options.interrupted = common.interrupted;
            fmt::print(stderr, "{}={} · seed {}\n", param->key, side.value, options.seed);
            auto result = run_scenario(scenarios[i], options);
            if (!result) {
                const bool interrupted = result.error().message == kInterrupted;
                return report_error(result.error().message, interrupted ? kExitInterrupted : kExitHarness);
            }
            side.runs.push_back(std::move(*result));
        }
        sides.push_back(std::move(side));
    }
    const results::Comparison comparison = results::compare(scenarios.front(), param->key, std::move(sides));
    fmt::print(common.json ? stderr : stdout, "{}",
               results::comparison_to_text(comparison, heading(scenarios.front(), arguments)));
    if (common.json) fmt::print("{}\n", results::comparison_to_json(comparison));
    return exit_code(comparison.verdict);
}

}  // namespace highwater::harness
