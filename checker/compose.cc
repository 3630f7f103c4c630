// From findings to a verdict: failed premises void everything; otherwise invalid beats unknown beats valid.
#include <fmt/format.h>

#include <algorithm>

#include "checker/properties.h"

namespace highwater::checker {
namespace {

bool voids(std::string_view reason) { return reason == "topic-mismatch" || reason == "bad-time"; }

void add_expectation(Verdict& verdict, const std::string& detail) {
    verdict.reasons.emplace_back("expectation-not-met");
    verdict.reason_details.push_back(detail);
    if (verdict.kind == VerdictKind::Valid) verdict.kind = VerdictKind::Unknown;
}

std::int64_t seen(const Verdict& verdict, const std::string& name) {
    std::string snake = name;
    std::replace(snake.begin(), snake.end(), '-', '_');
    for (const auto& counts : {verdict.evidence, verdict.counts}) {
        for (const std::string& spelling : {name, snake}) {
            const auto found = counts.find(spelling);
            if (found != counts.end()) return found->second;
        }
    }
    return 0;
}

}  // namespace

Verdict check(const CheckInput& input) {
    const std::int64_t limit = input.history.meta.sample_limit.value_or(kAnomalySamples);
    Findings findings(static_cast<std::size_t>(std::clamp<std::int64_t>(limit, 1, kAnomalySamples)));
    for (const std::string& warning : input.history.warnings) findings.warning(warning);
    const Context context(input);
    // Premises first: stuck is judged only after a proven heal.
    check_premises(context, findings);
    // Nothing can be concluded from impossible times, not even counts.
    if (!findings.has_reason("bad-time")) {
        check_lost_committed(context, findings);
        check_dirty_read(context, findings);
        check_inconsistent_offset(context, findings);
        check_phantom(context, findings);
        check_aborted_read(context, findings);
        check_duplicate(context, findings);
        check_poll_order(context, findings);
        check_append_order(context, findings);
        check_acked_not_visible(context, findings);
        check_min_isr(context, findings);
        check_min_isr_outside(context, findings);
        check_unclean_election(context, findings);
        check_hw_regression(context, findings);
        check_hw_above_isr(context, findings);
        check_replica_divergence(context, findings);
        check_replica_rules(context, findings);
        check_acked_outside_isr(context, findings);
        check_eligible_leaders(context, findings);
        check_stuck(context, findings);
        collect_evidence(context, findings);
        list_unchecked(context, findings);
    }
    const bool violated = findings.violated();
    Verdict verdict = findings.take();
    if (std::any_of(verdict.reasons.begin(), verdict.reasons.end(), voids)) {
        verdict.kind = VerdictKind::Unknown;
        verdict.violations.clear();
    } else if (violated) {
        verdict.kind = VerdictKind::Invalid;
    } else {
        verdict.kind = verdict.reasons.empty() ? VerdictKind::Valid : VerdictKind::Unknown;
    }
    return verdict;
}

void expect_evidence(Verdict& verdict, const std::vector<std::string>& sometimes,
                     const std::vector<std::string>& never) {
    for (const std::string& name : sometimes) {
        if (seen(verdict, name) == 0) add_expectation(verdict, fmt::format("{} was never seen", name));
    }
    for (const std::string& name : never) {
        const std::int64_t count = seen(verdict, name);
        if (count > 0)
            add_expectation(verdict, fmt::format("{} was seen {} times, but never expected", name, count));
    }
}

}  // namespace highwater::checker
