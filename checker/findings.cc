// Counts, samples and reasons on their way to a verdict.
#include "checker/findings.h"

#include <algorithm>

namespace highwater::checker {

bool Findings::count(std::string_view kind, bool allowed) {
    Kind& counts = kinds_[std::string(kind)];
    ++counts.count;
    if (!allowed) {
        ++counts.violations;
        violations_.emplace(kind);
    }
    const std::int64_t same = allowed ? counts.count - counts.violations : counts.violations;
    return same <= static_cast<std::int64_t>(sample_limit_);
}

void Findings::reason(std::string_view name, std::string detail) {
    if (has_reason(name)) return;
    reasons_.emplace_back(name);
    reason_details_.push_back(std::move(detail));
}

void Findings::evidence(std::string_view name, std::int64_t by) {
    if (by != 0) evidence_[std::string(name)] += by;
}

bool Findings::has_reason(std::string_view name) const {
    return std::find(reasons_.begin(), reasons_.end(), name) != reasons_.end();
}

Verdict Findings::take() {
    Verdict verdict;
    for (const auto& [kind, counts] : kinds_) verdict.counts[kind] = counts.count;
    verdict.violations.assign(violations_.begin(), violations_.end());
    verdict.reasons = std::move(reasons_);
    verdict.reason_details = std::move(reason_details_);
    verdict.warnings = std::move(warnings_);
    verdict.unchecked = std::move(unchecked_);
    for (const auto& [name, count] : evidence_) verdict.evidence[name] = count;
    std::stable_sort(samples_.begin(), samples_.end(),
                     [](const Anomaly& a, const Anomaly& b) { return a.allowed < b.allowed; });
    std::map<std::string, std::size_t> kept;
    for (Anomaly& sample : samples_) {
        if (++kept[sample.kind] <= sample_limit_) verdict.anomalies.push_back(std::move(sample));
    }
    return verdict;
}

}  // namespace highwater::checker
