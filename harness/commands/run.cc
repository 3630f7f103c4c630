#include <fmt/format.h>

#include <cstdio>

#include "harness/commands/commands.h"
#include "harness/program_paths.h"
#include "harness/runner.h"
#include "nemesis/scenario_check.h"
#include "node/log/bugs.h"
#include "results/report.h"
#include "results/stored_run.h"

namespace highwater::harness {

int report_error(const std::string& message, int code) {
    fmt::print(stderr, "highwater: {}\n", message);
    return code;
}

std::string reproduce_command(const RunArguments& arguments, std::uint64_t seed,
                              const std::vector<Setting>& more) {
    using results::shell_quoted;
    std::string command = fmt::format("highwater run {} --seed {}", shell_quoted(arguments.scenario), seed);
    if (arguments.sut != "node") command += " --sut " + shell_quoted(arguments.sut);
    for (const std::string& setting : arguments.settings) command += " --set " + shell_quoted(setting);
    for (const Setting& setting : more) {
        command += " --set " + shell_quoted(setting.key + "=" + setting.value);
    }
    if (!arguments.bugs.empty()) command += " --bug " + shell_quoted(arguments.bugs);
    return command;
}

Result<Scenario> load_named_scenario(const RunArguments& arguments, const std::vector<Setting>& more) {
    if (const auto bugs = node::Bugs::parse(arguments.bugs); !bugs) return failure("--bug", bugs.error());
    const auto path = find_scenario(arguments.scenario);
    if (!path) return tl::make_unexpected(path.error());
    std::vector<Setting> settings;
    for (const std::string& text : arguments.settings) {
        auto setting = parse_setting(text);
        if (!setting) return failure("--set", setting.error());
        settings.push_back(std::move(*setting));
    }
    settings.insert(settings.end(), more.begin(), more.end());
    auto scenario = load_scenario(*path, settings);
    if (!scenario) return scenario;
    if (const Status apis = nemesis::check_apis(*scenario); !apis) return failure(*path, apis.error());
    return scenario;
}

int run_command(const RunArguments& arguments, const CommonOptions& common) {
    const auto scenario = load_named_scenario(arguments);
    if (!scenario) return report_error(scenario.error().message, kExitUsage);
    auto sut = Sut::parse(arguments.sut);
    if (!sut) return report_error(sut.error().message, kExitUsage);
    if (sut->kafka && !arguments.bugs.empty())
        return report_error("--bug: only our own node has deliberate bugs", kExitUsage);
    if (const Status fits = scenario->runs_on(sut->family()); !fits)
        return report_error(fits.error().message, kExitUsage);
    RunOptions options;
    options.sut = std::move(*sut);
    options.seed = arguments.seed;
    options.out = arguments.out;
    options.bugs = arguments.bugs;
    options.command_line = common.command_line;
    options.reproduce = reproduce_command(arguments, arguments.seed);
    options.interrupted = common.interrupted;
    options.live = !common.json;
    const auto result = run_scenario(*scenario, options);
    if (!result) {
        const bool interrupted = result.error().message == kInterrupted;
        return report_error(result.error().message, interrupted ? kExitInterrupted : kExitHarness);
    }
    fmt::print(common.json ? stderr : stdout, "{}", results::run_result_to_text(*result));
    fmt::print(common.json ? stderr : stdout, "  page: {}/{}\n", result->run_dir, results::kReportFile);
    if (common.json) fmt::print("{}\n", results::run_result_to_json(*result));
    return exit_code(result->verdict.kind);
}

}  // namespace highwater::harness
