#include "results/run_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace highwater::results {
namespace {

std::int64_t count_of(const std::map<std::string, std::int64_t>& counts, const std::string& key) {
    const auto found = counts.find(key);
    return found == counts.end() ? 0 : found->second;
}

/// The longest time without an acks=all acknowledgement between the first fault and heal.
std::optional<std::int64_t> longest_silence_ms(const History& history, const Phases& phases) {
    if (!phases.first_fault || !phases.healed) return std::nullopt;
    std::vector<Instant> acks;
    for (const Operation& operation : history.operations) {
        const auto* produce = std::get_if<Produce>(&operation.what);
        if (produce == nullptr || produce->status != Outcome::Ok || produce->acks.value_or(-1) != -1)
            continue;
        if (operation.completed >= *phases.first_fault && operation.completed <= *phases.healed) {
            acks.push_back(operation.completed);
        }
    }
    std::sort(acks.begin(), acks.end());
    acks.push_back(*phases.healed);
    Instant last = *phases.first_fault;
    Duration longest{0};
    for (const Instant ack : acks) {
        longest = std::max(longest, ack - last);
        last = ack;
    }
    return longest / milliseconds(1);
}

/// One line for each reason.
std::string unchecked_text(const RunResult& result) {
    std::string text;
    const auto& all = result.verdict.unchecked;
    for (std::size_t i = 0; i < all.size();) {
        std::string names;
        const std::string& why = all[i].why;
        for (; i < all.size() && all[i].why == why; ++i) names += (names.empty() ? "" : ", ") + all[i].name;
        text += fmt::format("  not checked on {}: {} ({})\n", result.sut, names, why);
    }
    return text;
}

}  // namespace

Measures measure(const History& history, const Verdict& verdict, const Phases& phases) {
    Measures measures;
    for (const Operation& operation : history.operations) {
        const auto* produce = std::get_if<Produce>(&operation.what);
        if (produce == nullptr) continue;
        if (produce->status == Outcome::Ok && produce->acks.value_or(-1) == -1) ++measures.acked;
        if (produce->error == "NOT_ENOUGH_REPLICAS") ++measures.rejected;
    }
    measures.lost_committed = count_of(verdict.counts, "lost-committed");
    measures.read_then_lost = count_of(verdict.evidence, "read_then_lost");
    measures.lost_weak = count_of(verdict.counts, "lost-weak");
    measures.duplicates = count_of(verdict.counts, "duplicate");
    measures.dirty_reads = count_of(verdict.counts, "dirty-read");
    measures.unavailable_ms = longest_silence_ms(history, phases);
    if (phases.healed && phases.recovered) {
        measures.recovery_ms = std::max(*phases.recovered - *phases.healed, Duration{0}) / milliseconds(1);
    }
    return measures;
}

std::string run_result_to_json(const RunResult& result) {
    nlohmann::ordered_json json;
    json["scenario"] = result.scenario;
    json["sut"] = result.sut;
    json["seed"] = result.seed;
    json["verdict"] = verdict_name(result.verdict.kind);
    json["anomalies"] = nlohmann::ordered_json::object();
    for (const auto& [kind, count] : result.verdict.counts) json["anomalies"][kind] = count;
    json["violations"] = result.verdict.violations;
    json["reasons"] = result.verdict.reasons;
    json["evidence"] = nlohmann::ordered_json::object();
    for (const auto& [name, count] : result.verdict.evidence) json["evidence"][name] = count;
    json["unchecked"] = nlohmann::ordered_json::array();
    for (const Unchecked& one : result.verdict.unchecked)
        json["unchecked"].push_back({{"check", one.name}, {"why", one.why}});
    json["run_dir"] = result.run_dir;
    return json.dump();
}

std::string run_result_to_text(const RunResult& result) {
    const Verdict& verdict = result.verdict;
    std::string text = fmt::format("{} · {} · seed {} · {}\n", result.scenario, result.sut, result.seed,
                                   verdict_name(verdict.kind));
    text += fmt::format("  acknowledged (acks=all) {}, refused with NOT_ENOUGH_REPLICAS {}",
                        result.measures.acked, result.measures.rejected);
    if (result.measures.unavailable_ms) {
        text += fmt::format(", unavailable {:.1f} s",
                            static_cast<double>(*result.measures.unavailable_ms) / 1000);
    }
    if (result.measures.recovery_ms) {
        text += fmt::format(", whole again {:.1f} s after heal",
                            static_cast<double>(*result.measures.recovery_ms) / 1000);
    }
    text += "\n";
    for (const auto& [kind, count] : verdict.counts) {
        if (count == 0) continue;
        const bool violation =
            std::find(verdict.violations.begin(), verdict.violations.end(), kind) != verdict.violations.end();
        text += fmt::format("  {} {}{}\n", kind, count, violation ? "  VIOLATION" : " (allowed)");
    }
    std::map<std::string, int> shown;
    for (const Anomaly& anomaly : verdict.anomalies) {
        if (anomaly.sentence.empty() || ++shown[anomaly.kind] > 3) continue;
        text += fmt::format("  {}: {}\n", anomaly.kind, anomaly.sentence);
    }
    for (std::size_t i = 0; i < verdict.reasons.size(); ++i) {
        const bool told = i < verdict.reason_details.size() && !verdict.reason_details[i].empty();
        text += fmt::format("  unknown: {}{}{}\n", verdict.reasons[i], told ? ": " : "",
                            told ? verdict.reason_details[i] : "");
    }
    text += unchecked_text(result);
    for (const std::string& finding : result.findings) text += "  " + finding + "\n";
    if (!result.run_dir.empty()) text += fmt::format("  files: {}\n", result.run_dir);
    return text;
}

}  // namespace highwater::results
