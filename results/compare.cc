#include "results/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace highwater::results {
namespace {

using Count = std::int64_t Measures::*;
using Time = std::optional<std::int64_t> Measures::*;

std::int64_t sum(const ComparedSide& side, Count count) {
    std::int64_t total = 0;
    for (const RunResult& run : side.runs) total += run.measures.*count;
    return total;
}

std::optional<std::int64_t> median(const ComparedSide& side, Time time) {
    std::vector<std::int64_t> values;
    for (const RunResult& run : side.runs) {
        if (run.measures.*time) values.push_back(*(run.measures.*time));
    }
    if (values.empty()) return std::nullopt;
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::int64_t verdicts(const ComparedSide& side, VerdictKind kind) {
    return std::count_if(side.runs.begin(), side.runs.end(),
                         [kind](const RunResult& run) { return run.verdict.kind == kind; });
}

/// What [compare.expect] may speak of: counts are summed over a side's runs, times are medians.
constexpr std::pair<std::string_view, Count> kCounts[] = {{"acked", &Measures::acked},
                                                          {"lost_committed", &Measures::lost_committed},
                                                          {"read_then_lost", &Measures::read_then_lost},
                                                          {"lost_weak", &Measures::lost_weak},
                                                          {"dirty_reads", &Measures::dirty_reads},
                                                          {"rejected", &Measures::rejected},
                                                          {"duplicates", &Measures::duplicates}};
constexpr std::pair<std::string_view, Time> kTimes[] = {{"unavailable_ms", &Measures::unavailable_ms},
                                                        {"recovery_ms", &Measures::recovery_ms}};

/// nullopt: a time that no run of this side had.
std::optional<std::int64_t> counter(const ComparedSide& side, const std::string& name) {
    for (const auto& [known, count] : kCounts) {
        if (known == name) return sum(side, count);
    }
    for (const auto& [known, time] : kTimes) {
        if (known == name) return median(side, time);
    }
    return std::nullopt;
}

VerdictKind worse(VerdictKind a, VerdictKind b) {
    if (a == VerdictKind::Invalid || b == VerdictKind::Invalid) return VerdictKind::Invalid;
    if (a == VerdictKind::Unknown || b == VerdictKind::Unknown) return VerdictKind::Unknown;
    return VerdictKind::Valid;
}

void judge_expectations(Comparison& comparison, const Scenario& scenario) {
    for (const auto& [key, expectation] : scenario.compare_expect) {
        for (const ComparedSide& side : comparison.sides) {
            const bool named = key == comparison.param + "=" + side.value ||
                               (!side.family.empty() && key == comparison.param + "=" + side.family);
            if (!named) continue;
            const std::optional<std::int64_t> value = counter(side, expectation.counter);
            const bool met = value && expectation.met(*value);
            const std::string text = key + ": " + expectation.text;
            comparison.expect.push_back({text, met});
            if (!met) {
                comparison.reasons.push_back(fmt::format("expectation-not-met: {} (it is {})", text,
                                                         value ? std::to_string(*value) : "not measured"));
            }
        }
    }
}

std::string seconds_text(const std::optional<std::int64_t>& milliseconds) {
    return milliseconds ? fmt::format("{:.1f} s", static_cast<double>(*milliseconds) / 1000) : "-";
}

std::string thousands(std::int64_t number) {
    std::string digits = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
        digits.insert(static_cast<std::size_t>(at), ",");
    }
    return digits;
}

std::string verdict_text(const ComparedSide& side) {
    if (side.runs.size() == 1) {
        const Verdict& verdict = side.runs.front().verdict;
        const auto lost = verdict.counts.find("lost-committed");
        const bool allowed =
            lost != verdict.counts.end() && lost->second > 0 && verdict.kind == VerdictKind::Valid;
        return std::string(verdict_name(verdict.kind)) + (allowed ? " (loss is allowed)" : "");
    }
    std::string text;
    for (const VerdictKind kind : {VerdictKind::Valid, VerdictKind::Invalid, VerdictKind::Unknown}) {
        if (const std::int64_t count = verdicts(side, kind); count > 0) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, verdict_name(kind));
        }
    }
    return text;
}

/// Columns are padded by characters of ASCII text, which all cells are.
std::string row(const std::string& label, const std::vector<std::string>& cells) {
    std::string line = fmt::format("{:<44}", label);
    for (const std::string& cell : cells) line += fmt::format("{:>24}", cell);
    return line + "\n";
}

std::map<std::string, std::int64_t> errors_of(const ComparedSide& side) {
    std::map<std::string, std::int64_t> counts;
    for (const RunResult& run : side.runs) {
        for (const auto& [code, count] : run.error_codes) counts[code] += count;
    }
    return counts;
}

/// One row for each code that a client of any side was told.
std::string error_rows(const std::vector<ComparedSide>& sides) {
    std::set<std::string> codes;
    for (const ComparedSide& side : sides) {
        for (const auto& [code, count] : errors_of(side)) codes.insert(code);
    }
    std::string text;
    for (const std::string& code : codes) {
        std::vector<std::string> cells;
        for (const ComparedSide& side : sides) {
            const auto counts = errors_of(side);
            const auto found = counts.find(code);
            cells.push_back(found == counts.end() ? "-" : thousands(found->second));
        }
        text += row("answered " + code, cells);
    }
    return text;
}

std::string steps_text(const std::vector<std::string>& steps) {
    std::string text;
    for (const std::string& step : steps) text += (text.empty() ? "" : " → ") + step;
    return text.empty() ? "no change was seen" : text;
}

/// "at step 3 node has "ISR 1,2 (fenced)", kafka:4.3.1 "ISR 1,2 (alter-partition)"".
std::string first_difference(const ComparedSide& a, const ComparedSide& b) {
    const std::vector<std::string> left = changes_seen(a).front().steps;
    const std::vector<std::string> right = changes_seen(b).front().steps;
    const auto step = [](const std::vector<std::string>& steps, std::size_t at) {
        return at < steps.size() ? "\"" + steps[at] + "\"" : std::string("no more");
    };
    for (std::size_t at = 0; at < std::max(left.size(), right.size()); ++at) {
        if (step(left, at) != step(right, at))
            return fmt::format("at step {} {} has {}, {} {}", at + 1, a.value, step(left, at), b.value,
                               step(right, at));
    }
    return fmt::format("{} and {} went mostly through the same", a.value, b.value);
}

std::string changes_text(const std::vector<ComparedSide>& sides) {
    if (sides.empty()) return "";
    const std::vector<ChangesSeen> first = changes_seen(sides.front());
    if (same_changes(sides) && first.size() == 1)
        return fmt::format("leader and ISR, the same on every side: {}\n", steps_text(first.front().steps));
    std::string text;
    for (const ComparedSide& side : sides) {
        for (const ChangesSeen& seen : changes_seen(side))
            text += fmt::format(
                "leader and ISR ({}{}): {}\n", side.value,
                side.runs.size() > 1 ? fmt::format(", {} of {} runs", seen.runs, side.runs.size()) : "",
                steps_text(seen.steps));
    }
    if (same_changes(sides)) return text + "every side went through the same sequences\n";
    text += "the sequences DIFFER";
    for (std::size_t i = 1; i < sides.size(); ++i)
        text += (i == 1 ? ": " : "; ") + first_difference(sides.front(), sides[i]);
    return text + "\n";
}

const Anomaly* first_loss(const ComparedSide& side) {
    for (const RunResult& run : side.runs) {
        const Anomaly* first = nullptr;
        for (const Anomaly& anomaly : run.verdict.anomalies) {
            if (anomaly.kind != "lost-committed") continue;
            if (first == nullptr || anomaly.offset < first->offset) first = &anomaly;
        }
        if (first != nullptr) return first;
    }
    return nullptr;
}

}  // namespace

std::vector<ChangesSeen> changes_seen(const ComparedSide& side) {
    std::vector<ChangesSeen> seen;
    for (const RunResult& run : side.runs) {
        const auto known = std::find_if(seen.begin(), seen.end(), [&run](const ChangesSeen& other) {
            return other.steps == run.changes;
        });
        if (known == seen.end())
            seen.push_back({run.changes, 1});
        else
            ++known->runs;
    }
    std::stable_sort(seen.begin(), seen.end(),
                     [](const ChangesSeen& a, const ChangesSeen& b) { return a.runs > b.runs; });
    return seen;
}

bool same_changes(const std::vector<ComparedSide>& sides) {
    std::set<std::set<std::vector<std::string>>> different;
    for (const ComparedSide& side : sides) {
        std::set<std::vector<std::string>> seen;
        for (const RunResult& run : side.runs) seen.insert(run.changes);
        different.insert(std::move(seen));
    }
    return different.size() <= 1;
}

Status check_counters(const Scenario& scenario) {
    for (const auto& [side, expectation] : scenario.compare_expect) {
        const auto is_it = [&expected = expectation.counter](const auto& entry) {
            return entry.first == expected;
        };
        if (std::any_of(std::begin(kCounts), std::end(kCounts), is_it) ||
            std::any_of(std::begin(kTimes), std::end(kTimes), is_it)) {
            continue;
        }
        std::string known;
        for (const auto& entry : kCounts) known += (known.empty() ? "" : ", ") + std::string(entry.first);
        for (const auto& entry : kTimes) known += ", " + std::string(entry.first);
        return failure(fmt::format("scenario {}: compare.expect \"{}\": no counter is called {} (known: {})",
                                   scenario.name, side, expectation.counter, known));
    }
    return {};
}

Comparison compare(const Scenario& scenario, const std::string& param, std::vector<ComparedSide> sides) {
    Comparison comparison;
    comparison.scenario = scenario.name;
    comparison.param = param;
    comparison.sides = std::move(sides);
    comparison.verdict = VerdictKind::Valid;
    for (const ComparedSide& side : comparison.sides) {
        for (const RunResult& run : side.runs) {
            comparison.verdict = worse(comparison.verdict, run.verdict.kind);
            for (const std::string& reason : run.verdict.reasons) {
                comparison.reasons.push_back(fmt::format("{}={}: {}", param, side.value, reason));
            }
        }
    }
    judge_expectations(comparison, scenario);
    const bool unmet = std::any_of(comparison.expect.begin(), comparison.expect.end(),
                                   [](const MetExpectation& expectation) { return !expectation.met; });
    if (unmet) comparison.verdict = worse(comparison.verdict, VerdictKind::Unknown);
    return comparison;
}

std::string comparison_to_json(const Comparison& comparison) {
    using Json = nlohmann::ordered_json;
    const auto time = [](const std::optional<std::int64_t>& value) {
        return value ? Json(*value) : Json(nullptr);
    };
    Json json{{"scenario", comparison.scenario},
              {"param", comparison.param},
              {"verdict", verdict_name(comparison.verdict)},
              {"reasons", comparison.reasons},
              {"expect", Json::array()},
              {"same_changes", same_changes(comparison.sides)},
              {"sides", Json::array()}};
    for (const MetExpectation& expectation : comparison.expect) {
        json["expect"].push_back(Json{{"text", expectation.text}, {"met", expectation.met}});
    }
    for (const ComparedSide& side : comparison.sides) {
        json["sides"].push_back(Json{{"value", side.value},
                                     {"runs", side.runs.size()},
                                     {"verdicts", Json{{"valid", verdicts(side, VerdictKind::Valid)},
                                                       {"invalid", verdicts(side, VerdictKind::Invalid)},
                                                       {"unknown", verdicts(side, VerdictKind::Unknown)}}},
                                     {"acked", sum(side, &Measures::acked)},
                                     {"lost_committed", sum(side, &Measures::lost_committed)},
                                     {"read_then_lost", sum(side, &Measures::read_then_lost)},
                                     {"lost_weak", sum(side, &Measures::lost_weak)},
                                     {"dirty_reads", sum(side, &Measures::dirty_reads)},
                                     {"rejected", sum(side, &Measures::rejected)},
                                     {"unavailable_ms", time(median(side, &Measures::unavailable_ms))},
                                     {"recovery_ms", time(median(side, &Measures::recovery_ms))},
                                     {"errors", errors_of(side)},
                                     {"changes", Json::array()}});
        for (const ChangesSeen& seen : changes_seen(side))
            json["sides"].back()["changes"].push_back(Json{{"runs", seen.runs}, {"steps", seen.steps}});
    }
    return json.dump();
}

std::string comparison_to_text(const Comparison& comparison, const std::string& heading) {
    const auto cells = [&](auto cell) {
        std::vector<std::string> texts;
        for (const ComparedSide& side : comparison.sides) texts.push_back(cell(side));
        return texts;
    };
    const auto counts = [&](Count count) {
        return cells([count](const ComparedSide& side) { return thousands(sum(side, count)); });
    };
    std::string text = heading + "\n";
    text += row(comparison.param, cells([](const ComparedSide& side) { return side.value; }));
    text += row("acknowledged (acks=all)", counts(&Measures::acked));
    text += row("lost after acknowledgement", counts(&Measures::lost_committed));
    text += row("of these, read before they were lost", counts(&Measures::read_then_lost));
    if (std::any_of(comparison.sides.begin(), comparison.sides.end(),
                    [](const ComparedSide& side) { return sum(side, &Measures::rejected) > 0; })) {
        text += row("refused with NOT_ENOUGH_REPLICAS", counts(&Measures::rejected));
    }
    if (std::any_of(comparison.sides.begin(), comparison.sides.end(),
                    [](const ComparedSide& side) { return sum(side, &Measures::duplicates) > 0; })) {
        text += row("records written twice", counts(&Measures::duplicates));
    }
    text += error_rows(comparison.sides);
    text += row("unavailable", cells([](const ComparedSide& side) {
                    return seconds_text(median(side, &Measures::unavailable_ms));
                }));
    text += row("whole again after heal", cells([](const ComparedSide& side) {
                    return seconds_text(median(side, &Measures::recovery_ms));
                }));
    text += row("verdict", cells(verdict_text));
    for (const ComparedSide& side : comparison.sides) {
        if (const Anomaly* loss = first_loss(side)) {
            text += fmt::format("first loss ({}): {}\n", side.value, loss->sentence);
        }
    }
    text += changes_text(comparison.sides);
    for (const MetExpectation& expectation : comparison.expect) {
        text +=
            fmt::format("{} {}\n", expectation.met ? "as expected:" : "NOT as expected:", expectation.text);
    }
    for (const std::string& reason : comparison.reasons) text += fmt::format("unknown: {}\n", reason);
    return text;
}

}  // namespace highwater::results
