// Writes a night's summary.
#include "results/night.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "results/markup.h"

namespace highwater::results {
namespace {

using Kind = NightRun::Kind;

/// A bug made somewhere that this night would have found it; or, where there are no bugs to make (Apache
/// Kafka), a scenario that must be invalid was.
bool is_canary(const Night& night, const NightRun& run) {
    const bool control = night.canary == "none" && run.kind == Kind::Run && run.expected == "invalid";
    return (run.kind == Kind::Canary || control) && run.as_expected();
}

bool canary_found(const Night& night) {
    return std::any_of(night.runs.begin(), night.runs.end(),
                       [&night](const NightRun& run) { return is_canary(night, run); });
}

bool proves_little(const NightRun& run) {
    return !run.as_expected() && (run.verdict == "unknown" || run.verdict == "harness-fault");
}

/// Not a canary, decided, and not what was expected.
bool failed(const NightRun& run) {
    return run.kind != Kind::Canary && !run.as_expected() && !proves_little(run);
}

const NightRun* first(const Night& night, bool (*which)(const NightRun&)) {
    const auto found = std::find_if(night.runs.begin(), night.runs.end(), which);
    return found == night.runs.end() ? nullptr : &*found;
}

bool unproven(const NightRun& run) { return run.kind != Kind::Canary && proves_little(run); }

/// Worth a person's time: not a canary that one scenario did not find and another did.
bool notable(const Night& night, const NightRun& run) {
    return !run.as_expected() && (run.kind != Kind::Canary || !canary_found(night));
}

std::string what_text(const NightRun& run) {
    const std::vector<std::string>& names = run.violations.empty() ? run.reasons : run.violations;
    const std::string about = names.empty() ? "" : fmt::format(" ({})", fmt::join(names, ", "));
    const std::string expected =
        run.expected == "valid" ? "" : fmt::format(", {} was expected", run.expected);
    return fmt::format("{}{} is {}{}{}", run.kind == Kind::Compare ? "the comparison of " : "", run.scenario,
                       run.verdict, about, expected);
}

std::string count_text(std::int64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string good_text(const Night& night) {
    std::map<std::string, int> scenarios;
    std::int64_t runs = 0;
    std::int64_t comparisons = 0;
    for (const NightRun& run : night.runs) {
        if (run.kind == Kind::Run) {
            ++runs;
            ++scenarios[run.scenario];
        }
        comparisons += run.kind == Kind::Compare ? 1 : 0;
    }
    std::string text = fmt::format("{} of {} as expected", count_text(runs, "run"),
                                   count_text(static_cast<std::int64_t>(scenarios.size()), "scenario"));
    if (comparisons > 0) text += fmt::format(", {} too", count_text(comparisons, "comparison"));
    for (const NightRun& run : night.runs) {
        if (!is_canary(night, run)) continue;
        text += run.kind == Kind::Canary
                    ? fmt::format("; the canary {} was found in {} ({})", night.canary, run.scenario,
                                  fmt::join(run.violations, ", "))
                    : fmt::format("; {} is invalid ({}), as it must be", run.scenario,
                                  fmt::join(run.violations, ", "));
        break;
    }
    return text;
}

std::string more_text(const Night& night, bool (*which)(const NightRun&)) {
    const auto all = std::count_if(night.runs.begin(), night.runs.end(), which);
    return all > 1 ? fmt::format(" (and {} more)", all - 1) : "";
}

std::string table_cell(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::string out;
    for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
    return out;
}

std::string outcomes_table(const Night& night) {
    struct Row {
        int runs = 0;
        int good = 0;
        int failed = 0;
        int unproven = 0;
        double seconds = 0;
    };
    std::map<std::pair<Kind, std::string>, Row> rows;
    for (const NightRun& run : night.runs) {
        Row& row = rows[{run.kind, run.scenario}];
        ++row.runs;
        row.good += run.as_expected() ? 1 : 0;
        row.unproven += proves_little(run) ? 1 : 0;
        row.failed += !run.as_expected() && !proves_little(run) ? 1 : 0;
        row.seconds += run.seconds;
    }
    std::string text =
        "| what | scenario | runs | as expected | otherwise | proved too little | seconds each |\n"
        "|---|---|---|---|---|---|---|\n";
    for (const auto& [key, row] : rows) {
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {:.1f} |\n", night_kind_name(key.first),
                            table_cell(key.second), row.runs, row.good, row.failed, row.unproven,
                            row.seconds / row.runs);
    }
    return text;
}

std::string canary_text(const Night& night) {
    return night.canary == "none"
               ? std::string("without a canary nothing proved that this night can fail")
               : fmt::format("the canary {} was not found, so this night could not have failed",
                             night.canary);
}

std::string verdict_word(const Night& night) {
    switch (night_exit_code(night)) {
        case 0:
            return "good";
        case 1:
            return "failed";
        case 2:
            return "unknown";
        default:
            return "interrupted";
    }
}

}  // namespace

std::string_view night_kind_name(Kind kind) {
    switch (kind) {
        case Kind::Run:
            return "run";
        case Kind::Compare:
            return "compare";
        case Kind::Canary:
            return "canary";
    }
    return "run";
}

int night_exit_code(const Night& night) {
    if (night.interrupted) return 130;
    if (first(night, failed) != nullptr) return 1;
    if (first(night, unproven) != nullptr || !canary_found(night)) return 2;
    return 0;
}

std::string night_sentence(const Night& night) {
    const std::string lead = night.interrupted ? "The night was INTERRUPTED" : "The night";
    if (const NightRun* bad = first(night, failed)) {
        return fmt::format("{} FAILED: {}{}; again: {}", night.interrupted ? lead + " and" : lead,
                           what_text(*bad), more_text(night, failed), bad->reproduce);
    }
    if (night.interrupted) return fmt::format("{}; until then {}", lead, good_text(night));
    if (const NightRun* bad = first(night, unproven)) {
        return fmt::format("{} is UNKNOWN: {}{}; again: {}", lead, what_text(*bad),
                           more_text(night, unproven), bad->reproduce);
    }
    if (!canary_found(night))
        return fmt::format("{} is UNKNOWN: {}; {}", lead, canary_text(night), good_text(night));
    return fmt::format("{} is good: {}", lead, good_text(night));
}

std::string night_to_markdown(const Night& night) {
    std::string text = night_sentence(night) + "\n\n";
    text += fmt::format("- {:.1f} of {:.1f} minutes, seeds from {}\n", night.elapsed_seconds / 60,
                        night.budget_seconds / 60, night.seed);
    text += fmt::format("- again: `{}`\n", night.command);
    if (!night.bugs.empty()) text += fmt::format("- every run had the bug {}\n", night.bugs);
    text += "\n" + outcomes_table(night);
    bool heading = false;
    for (const NightRun& run : night.runs) {
        if (!notable(night, run)) continue;
        if (!heading) text += "\n## Not as expected\n";
        heading = true;
        text += fmt::format("\n{} (seed {}): {}\n\n    {}\n", what_text(run), run.seed,
                            run.sentence.empty() ? "no sentence" : run.sentence, run.reproduce);
        if (!run.kept.empty()) text += fmt::format("\nfiles: {}\n", run.kept);
    }
    return text;
}

std::string night_to_junit(const Night& night) {
    std::int64_t failures = 0;
    std::int64_t errors = 0;
    std::string cases;
    for (const NightRun& run : night.runs) {
        cases += fmt::format("    <testcase classname=\"{}\" name=\"{} seed {}\" time=\"{:.3f}\"",
                             escaped(run.scenario), night_kind_name(run.kind), run.seed, run.seconds);
        if (!notable(night, run)) {
            cases += "/>\n";
            continue;
        }
        // An undecided run is an error, a decided one a failure; JUnit has no third word.
        const bool error = proves_little(run) || run.kind == Kind::Canary;
        ++(error ? errors : failures);
        const char* element = error ? "error" : "failure";
        cases += fmt::format(">\n      <{0} type=\"{1}\" message=\"{2}\">{3}\n{4}</{0}>\n    </testcase>\n",
                             element, escaped(run.verdict), escaped(what_text(run)), escaped(run.sentence),
                             escaped(run.reproduce));
    }
    if (!canary_found(night)) {
        ++errors;
        cases += fmt::format(
            "    <testcase classname=\"nightly\" name=\"canary\" time=\"0\">\n"
            "      <error type=\"unknown\" message=\"{}\"/>\n    </testcase>\n",
            escaped(canary_text(night)));
    }
    const auto tests = static_cast<std::int64_t>(night.runs.size()) + (canary_found(night) ? 0 : 1);
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
        "  <testsuite name=\"highwater nightly\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
        "time=\"{:.3f}\">\n"
        "{}  </testsuite>\n</testsuites>\n",
        tests, failures, errors, night.elapsed_seconds, cases);
}

std::string night_to_json(const Night& night) {
    using Json = nlohmann::ordered_json;
    Json json{{"verdict", verdict_word(night)},
              {"sentence", night_sentence(night)},
              {"exit_code", night_exit_code(night)},
              {"command", night.command},
              {"seed", night.seed},
              {"budget_s", night.budget_seconds},
              {"elapsed_s", night.elapsed_seconds},
              {"bugs", night.bugs},
              {"canary", night.canary},
              {"canary_found", canary_found(night)},
              {"interrupted", night.interrupted},
              {"runs", Json::array()}};
    for (const NightRun& run : night.runs) {
        json["runs"].push_back({{"kind", night_kind_name(run.kind)},
                                {"scenario", run.scenario},
                                {"seed", run.seed},
                                {"verdict", run.verdict},
                                {"expected", run.expected},
                                {"as_expected", run.as_expected()},
                                {"seconds", run.seconds},
                                {"violations", run.violations},
                                {"reasons", run.reasons},
                                {"sentence", run.sentence},
                                {"reproduce", run.reproduce},
                                {"kept", run.kept}});
    }
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace highwater::results
