// Several runs side by side: one parameter, its values, sums of counts and medians of times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/scenario.h"
#include "results/run_result.h"

namespace highwater::results {

struct ComparedSide {
    std::string value;
    std::vector<RunResult> runs;
};

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

/// {scenario, param, verdict, reasons, expect [{text, met}], sides [{value, runs, verdicts, acked, …}]}, one
/// line.
std::string comparison_to_json(const Comparison& comparison);
/// A table for a person, then the first loss of each side in one sentence.
std::string comparison_to_text(const Comparison& comparison, const std::string& heading);

}  // namespace highwater::results
