// highwater nightly MINUTES: everything once, a canary, then seeds until the time is used.
#include "harness/nightly.h"

#include <fmt/format.h>

#include <cstdio>

#include "harness/commands/commands.h"
#include "harness/program_paths.h"
#include "harness/sut.h"
#include "node/log/bugs.h"

namespace highwater::harness {
namespace {

/// Other seeds each day, the same ones all day long; --seed repeats a night.
std::uint64_t seed_of_today() {
    constexpr std::int64_t kDay = 24LL * 60 * 60 * 1000;
    constexpr std::uint64_t kSeedsOfADay = 10'000;
    return static_cast<std::uint64_t>(wall_clock_ms() / kDay) * kSeedsOfADay;
}

std::vector<std::string> words_of(const std::string& list) {
    std::vector<std::string> words;
    std::size_t from = 0;
    while (from <= list.size()) {
        const std::size_t comma = std::min(list.find(',', from), list.size());
        if (comma > from) words.push_back(list.substr(from, comma - from));
        from = comma + 1;
    }
    return words;
}

/// Everything that can be wrong with the command line, before the first run.
Result<Sut> check_arguments(const NightlyArguments& arguments) {
    if (const auto bugs = node::Bugs::parse(arguments.bugs); !bugs) return failure("--bug", bugs.error());
    auto sut = Sut::parse(arguments.sut);
    if (!sut) return tl::make_unexpected(sut.error());
    if (sut->kafka && (!arguments.bugs.empty() || arguments.canary.value_or("none") != "none"))
        return failure("--bug, --canary: only our own node has deliberate bugs");
    if (arguments.canary.value_or("none") != "none") {
        const auto bugs = node::Bugs::parse(*arguments.canary);
        if (!bugs) return failure("--canary", bugs.error());
        if (bugs->empty()) return failure("--canary: names no bug (\"none\" goes without one)");
    }
    for (const std::string& name : words_of(arguments.scenarios)) {
        if (const auto found = find_scenario(name); !found) return failure("--scenarios", found.error());
    }
    if (!arguments.scenarios.empty() && words_of(arguments.scenarios).empty())
        return failure("--scenarios: names no scenario");
    return sut;
}

}  // namespace

int nightly_command(const NightlyArguments& arguments, const CommonOptions& common) {
    const Result<Sut> sut = check_arguments(arguments);
    if (!sut) return report_error(sut.error().message, kExitUsage);
    NightOptions options;
    options.budget = Duration{static_cast<std::int64_t>(arguments.minutes * 60e9)};
    options.seed = arguments.seed.value_or(seed_of_today());
    options.scenarios = words_of(arguments.scenarios);
    options.directed = arguments.directed;
    options.sut = arguments.sut;
    options.family = sut->family();
    options.canary = arguments.canary.value_or(sut->kafka ? "none" : options.canary);
    options.bugs = arguments.bugs;
    options.out = arguments.out;
    options.jobs = arguments.jobs;
    options.command_line = common.command_line;
    if (!arguments.seed) options.command_line += fmt::format(" --seed {}", options.seed);
    options.interrupted = common.interrupted;
    std::string dir;
    const auto night = spend_night(options, dir);
    if (!night) return report_error(night.error().message, kExitHarness);
    fmt::print(common.json ? stderr : stdout, "{}\n{}/summary.md\n", results::night_sentence(*night), dir);
    if (common.json) fmt::print("{}\n", results::night_to_json(*night));
    return results::night_exit_code(*night);
}

}  // namespace highwater::harness
