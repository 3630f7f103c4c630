// The golden histories: every verdict must match. Compared are the verdict, that every expected violation is
// there and no other kind, and exact counts of what is counted record by record.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "checker/checker.h"

namespace highwater::checker {
namespace {

using Json = nlohmann::json;

/// Kinds that the checker does not know yet, each with the cases that need it. Empty is the goal.
const std::map<std::string, std::set<std::string>>& unsupported() {
    static const std::map<std::string, std::set<std::string>> cases{};
    return cases;
}

const std::set<std::string>& exactly_counted() {
    static const std::set<std::string> kinds{"lost-committed", "lost-weak", "duplicate", "dirty-read",
                                             "inconsistent-offset"};
    return kinds;
}

std::string case_path(const std::string& name) {
    return fmt::format("{}/cases/{}.jsonl", HW_TEST_DATA, name);
}

std::vector<Json> expectations() {
    std::vector<Json> all;
    std::ifstream file(case_path("VERDICTS"));
    for (std::string line; std::getline(file, line);) {
        if (!line.empty()) all.push_back(Json::parse(line));
    }
    return all;
}

std::string spelled(VerdictKind kind) {
    if (kind == VerdictKind::Valid) return "pass";
    return kind == VerdictKind::Invalid ? "violation" : "unknown";
}

/// "" if the verdict matches, else what differs.
std::string difference(const Json& expected, const Verdict& verdict) {
    if (spelled(verdict.kind) != expected.at("verdict")) {
        return fmt::format("verdict {} instead of {} (violations: {}; reasons: {})", spelled(verdict.kind),
                           expected.at("verdict").get<std::string>(), Json(verdict.violations).dump(),
                           Json(verdict.reasons).dump());
    }
    const auto wanted = expected.at("violations").get<std::set<std::string>>();
    const auto tolerated = expected.value("may", std::set<std::string>{});
    for (const std::string& kind : wanted) {
        if (std::count(verdict.violations.begin(), verdict.violations.end(), kind) == 0)
            return "no violation " + kind;
    }
    for (const std::string& kind : verdict.violations) {
        if (!wanted.contains(kind) && !tolerated.contains(kind)) return "unexpected violation " + kind;
    }
    const auto counts = expected.at("anomalies").get<std::map<std::string, std::int64_t>>();
    for (const std::string& kind : exactly_counted()) {
        const auto told = counts.find(kind);
        const auto seen = verdict.counts.find(kind);
        const std::int64_t want = told == counts.end() ? 0 : told->second;
        const std::int64_t got = seen == verdict.counts.end() ? 0 : seen->second;
        if (told == counts.end() && tolerated.contains(kind)) continue;
        if (want != got) return fmt::format("{} {} times instead of {}", kind, got, want);
    }
    return "";
}

TEST(Golden, every_supported_history_gets_its_verdict) {
    int histories = 0;
    int matching = 0;
    for (const Json& expected : expectations()) {
        const std::string name = expected.at("case").get<std::string>();
        if (expected.at("verdict") == "scenario") continue;
        const Result<History> history = read_history(case_path(name));
        ASSERT_TRUE(history.has_value()) << history.error().message;
        if (history->meta.needs == "txn") continue;
        ++histories;
        const std::string differs = difference(expected, check({.history = *history}));
        if (differs.empty()) {
            ++matching;
            continue;
        }
        const bool excused = std::any_of(unsupported().begin(), unsupported().end(),
                                         [&](const auto& kind) { return kind.second.contains(name); });
        EXPECT_TRUE(excused) << name << ": " << differs << " -- " << expected.at("why");
    }
    std::cout << fmt::format("golden {}/{}\n", matching, histories);
    EXPECT_EQ(histories, 59);
    EXPECT_GE(matching, 59);
}

TEST(Golden, a_reason_is_given_where_one_is_expected) {
    for (const Json& expected : expectations()) {
        if (expected.at("verdict") != "unknown") continue;
        const Result<History> history = read_history(case_path(expected.at("case").get<std::string>()));
        ASSERT_TRUE(history.has_value()) << history.error().message;
        if (history->meta.needs == "txn") continue;
        const Verdict verdict = check({.history = *history});
        for (const auto& reason : expected.at("reasons")) {
            EXPECT_NE(std::find(verdict.reasons.begin(), verdict.reasons.end(), reason),
                      verdict.reasons.end())
                << expected.at("case") << " lacks the reason " << reason;
        }
    }
}

TEST(Golden, writing_and_reading_again_changes_no_verdict) {
    for (const Json& expected : expectations()) {
        if (expected.at("verdict") == "scenario") continue;
        const std::string name = expected.at("case").get<std::string>();
        Result<History> history = read_history(case_path(name));
        ASSERT_TRUE(history.has_value()) << history.error().message;
        HistoryMeta meta = history->meta;
        meta.format = "highwater/1";
        std::string text = format_meta(meta) + "\n";
        for (const Operation& operation : history->operations) {
            text +=
                format_operation(operation, history->clients[static_cast<std::size_t>(operation.client)]) +
                "\n";
        }
        const Result<History> again = parse_history(text, name);
        ASSERT_TRUE(again.has_value()) << again.error().message;
        const Verdict first = check({.history = *history});
        const Verdict second = check({.history = *again});
        EXPECT_EQ(first.kind, second.kind) << name;
        EXPECT_EQ(first.counts, second.counts) << name;
        EXPECT_EQ(first.evidence, second.evidence) << name;
    }
}

}  // namespace
}  // namespace highwater::checker
