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

/// One column: a scenario on a system.
struct Side {
    std::string value;
    Sut sut;
    Scenario scenario;
    /// What makes this side's runs again.
    RunArguments arguments;
    std::vector<Setting> settings;
};

/// Several systems, or several values of one key on one system: never both, since the columns would differ in
/// two things.
Result<std::vector<Side>> sides_of(const CompareArguments& arguments) {
    auto suts = parse_suts(arguments.run.sut);
    if (!suts) return tl::make_unexpected(suts.error());
    const bool systems = suts->size() > 1;
    if (systems && !arguments.param.empty())
        return failure("compare takes several systems (--sut A,B) or several values (--param), not both");
    if (!systems && arguments.param.empty())
        return failure("compare needs --param key=value,value or --sut with several systems");
    Param param{results::kSutParam, {}};
    for (const Sut& sut : *suts) param.values.push_back(sut.name);
    if (!systems) {
        auto asked = parse_param(arguments.param);
        if (!asked) return tl::make_unexpected(asked.error());
        param = std::move(*asked);
    }
    std::vector<Side> sides;
    // Every side is read before the first run: a typo in the last value must not cost the runs before it.
    for (std::size_t i = 0; i < param.values.size(); ++i) {
        Side side;
        side.value = param.values[i];
        side.sut = (*suts)[systems ? i : 0];
        side.arguments = arguments.run;
        if (systems) side.arguments.sut = side.value;
        if (!systems) side.settings.push_back({param.key, side.value});
        if (side.sut.kafka && !arguments.run.bugs.empty())
            return failure("--bug: only our own node has deliberate bugs");
        auto scenario = load_named_scenario(side.arguments, side.settings);
        if (!scenario) return tl::make_unexpected(scenario.error());
        if (const Status fits = scenario->runs_on(side.sut.family()); !fits)
            return tl::make_unexpected(fits.error());
        if (const Status known = results::check_counters(*scenario); !known)
            return tl::make_unexpected(known.error());
        side.scenario = std::move(*scenario);
        sides.push_back(std::move(side));
    }
    return sides;
}

std::string heading(const Side& side, const CompareArguments& arguments) {
    const Scenario& scenario = side.scenario;
    return fmt::format(
        "{} · {}{} brokers, RF {}, min.insync.replicas {} · seed {}{}", scenario.name,
        arguments.param.empty() || !side.sut.kafka ? "" : side.sut.name + " · ", scenario.cluster.brokers,
        scenario.topic.assignment.front().size(), scenario.topic.min_insync_replicas(), arguments.run.seed,
        arguments.runs > 1
            ? fmt::format(" to {}", arguments.run.seed + static_cast<unsigned>(arguments.runs) - 1)
            : "");
}

Result<results::ComparedSide> runs_of(const Side& side, const std::string& param,
                                      const CompareArguments& arguments, const CommonOptions& common) {
    results::ComparedSide compared;
    compared.value = side.value;
    if (param == results::kSutParam) compared.family = side.sut.family();
    for (int run = 0; run < arguments.runs; ++run) {
        RunOptions options;
        options.sut = side.sut;
        options.seed = arguments.run.seed + static_cast<std::uint64_t>(run);
        options.out = arguments.run.out;
        options.bugs = arguments.run.bugs;
        options.command_line = common.command_line;
        options.reproduce = reproduce_command(side.arguments, options.seed, side.settings);
        options.interrupted = common.interrupted;
        fmt::print(stderr, "{}={} · seed {}\n", param, side.value, options.seed);
        auto result = run_scenario(side.scenario, options);
        if (!result) return tl::make_unexpected(result.error());
        compared.runs.push_back(std::move(*result));
    }
    return compared;
}

}  // namespace

int compare_command(const CompareArguments& arguments, const CommonOptions& common) {
    const auto sides = sides_of(arguments);
    if (!sides) return report_error(sides.error().message, kExitUsage);
    const std::string param =
        arguments.param.empty() ? results::kSutParam : parse_param(arguments.param)->key;
    std::vector<results::ComparedSide> compared;
    for (const Side& side : *sides) {
        auto runs = runs_of(side, param, arguments, common);
        if (!runs) {
            const bool interrupted = runs.error().message == kInterrupted;
            return report_error(runs.error().message, interrupted ? kExitInterrupted : kExitHarness);
        }
        compared.push_back(std::move(*runs));
    }
    const Scenario& scenario = sides->front().scenario;
    const results::Comparison comparison = results::compare(scenario, param, std::move(compared));
    fmt::print(common.json ? stderr : stdout, "{}",
               results::comparison_to_text(comparison, heading(sides->front(), arguments)));
    if (common.json) fmt::print("{}\n", results::comparison_to_json(comparison));
    return exit_code(comparison.verdict);
}

}  // namespace highwater::harness
