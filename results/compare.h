// Several runs side by side: one parameter or several systems, sums of counts, medians of times, and what
// each side went through.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/scenario.h"
#include "results/run_result.h"

namespace highwater::results {

/// The parameter of a comparison whose sides are systems under test.
inline constexpr const char* kSutParam = "sut";

struct ComparedSide {
    std::string value;
    std::vector<RunResult> runs;
    /// A second name that expectations may use: "kafka" of "kafka:4.3.1".
    std::string family;
};

/// A sequence of changes of leader and ISR, and how many runs of the side went through it.
struct ChangesSeen {
    std::vector<std::string> steps;
    std::int64_t runs = 0;
};
/// Most frequent first.
std::vector<ChangesSeen> changes_seen(const ComparedSide& side);
/// No side went through something that another one did not, however often.
bool same_changes(const std::vector<ComparedSide>& sides);

struct MetExpectation {
    std::string text;  // "unclean.leader.election.enable=true: lost_committed >= 1"
    bool met = false;
};

struct Comparison {
    std::string scenario;
    std::string param;
    std::vector<ComparedSide> sides;
    std::vector<MetExpectation> expect;
    /// Worst side; unknown if an expectation is unmet.
    VerdictKind verdict = VerdictKind::Unknown;
    std::vector<std::string> reasons;
};

/// Errors: an expectation about a counter that does not exist. To be asked before the first run.
Status check_counters(const Scenario& scenario);
/// Judges the expectations of [compare.expect] whose "key=value" is `param`=side; decides the verdict.
Comparison compare(const Scenario& scenario, const std::string& param, std::vector<ComparedSide> sides);

/// {scenario, param, verdict, reasons, expect [{text, met}], same_changes, sides [{value, runs, verdicts,
/// acked, …, errors {code: count}, changes [{runs, steps}]}]}, one line.
std::string comparison_to_json(const Comparison& comparison);
/// A table for a person, then the first loss of each side in one sentence, and what the sides went through.
std::string comparison_to_text(const Comparison& comparison, const std::string& heading);

}  // namespace highwater::results
