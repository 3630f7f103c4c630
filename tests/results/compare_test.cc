// Measures of one run, and several runs side by side.
#include "results/compare.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace highwater::results {
namespace {

using Json = nlohmann::ordered_json;

RunResult run(VerdictKind kind, std::int64_t lost, std::optional<std::int64_t> unavailable_ms = {}) {
    RunResult result;
    result.scenario = "s";
    result.seed = 7;
    result.run_dir = "runs/s/1";
    result.verdict.kind = kind;
    if (lost > 0) result.verdict.counts["lost-committed"] = lost;
    if (kind == VerdictKind::Invalid) result.verdict.violations = {"lost-committed"};
    if (kind == VerdictKind::Unknown) result.verdict.reasons = {"vacuous"};
    result.measures.acked = 1000;
    result.measures.lost_committed = lost;
    result.measures.unavailable_ms = unavailable_ms;
    return result;
}

Scenario expecting(const std::vector<std::pair<std::string, std::string>>& expectations) {
    Scenario scenario;
    scenario.name = "s";
    for (const auto& [side, text] : expectations)
        scenario.compare_expect.emplace_back(side, parse_expectation(text).value());
    return scenario;
}

const Scenario& on_and_off() {
    static const Scenario scenario =
        expecting({{"k=true", "lost_committed >= 1"}, {"k=false", "lost_committed == 0"}});
    return scenario;
}

TEST(Compare, CounterThatDoesNotExistIsRefused) {
    EXPECT_TRUE(check_counters(on_and_off()).has_value());
    const Status misspelt = check_counters(expecting({{"k=true", "lost_comitted >= 1"}}));
    ASSERT_FALSE(misspelt.has_value());
    EXPECT_TRUE(
        misspelt.error().message.starts_with("scenario s: compare.expect \"k=true\": no counter is called "
                                             "lost_comitted (known: acked, lost_committed, "))
        << misspelt.error().message;
}

TEST(Compare, BothExpectationsMet) {
    const Comparison comparison = compare(
        on_and_off(), "k", {{"true", {run(VerdictKind::Valid, 3)}}, {"false", {run(VerdictKind::Valid, 0)}}});
    EXPECT_EQ(comparison.verdict, VerdictKind::Valid);
    ASSERT_EQ(comparison.expect.size(), 2U);
    EXPECT_TRUE(comparison.expect[0].met);
    EXPECT_TRUE(comparison.expect[1].met);
    EXPECT_EQ(comparison.expect[0].text, "k=true: lost_committed >= 1");
    EXPECT_TRUE(comparison.reasons.empty());
}

TEST(Compare, AnUnmetExpectationIsUnknownAndSaysWhatItWas) {
    const Comparison comparison = compare(
        on_and_off(), "k", {{"true", {run(VerdictKind::Valid, 0)}}, {"false", {run(VerdictKind::Valid, 0)}}});
    EXPECT_EQ(comparison.verdict, VerdictKind::Unknown);
    EXPECT_FALSE(comparison.expect[0].met);
    ASSERT_EQ(comparison.reasons.size(), 1U);
    EXPECT_EQ(comparison.reasons[0], "expectation-not-met: k=true: lost_committed >= 1 (it is 0)");
}

TEST(Compare, TheWorstSideDecides) {
    const auto verdict = [](VerdictKind a, VerdictKind b) {
        return compare(Scenario{}, "k", {{"1", {run(a, 0)}}, {"2", {run(b, 0)}}}).verdict;
    };
    EXPECT_EQ(verdict(VerdictKind::Valid, VerdictKind::Valid), VerdictKind::Valid);
    EXPECT_EQ(verdict(VerdictKind::Valid, VerdictKind::Unknown), VerdictKind::Unknown);
    EXPECT_EQ(verdict(VerdictKind::Invalid, VerdictKind::Unknown), VerdictKind::Invalid);
    const Comparison unmet =
        compare(on_and_off(), "k",
                {{"true", {run(VerdictKind::Valid, 0)}}, {"false", {run(VerdictKind::Invalid, 2)}}});
    EXPECT_EQ(unmet.verdict, VerdictKind::Invalid) << "an unmet expectation does not hide a violation";
}

TEST(Compare, ExpectationsOfOtherSidesAndParametersAreNotAsked) {
    EXPECT_TRUE(compare(on_and_off(), "other", {{"true", {run(VerdictKind::Valid, 0)}}}).expect.empty());
    EXPECT_EQ(compare(on_and_off(), "k", {{"false", {run(VerdictKind::Valid, 0)}}}).expect.size(), 1U);
}

TEST(Compare, AnUnknownCounterIsNeverMet) {
    const Comparison comparison =
        compare(expecting({{"k=1", "lost_comitted == 0"}}), "k", {{"1", {run(VerdictKind::Valid, 0)}}});
    EXPECT_EQ(comparison.verdict, VerdictKind::Unknown);
    EXPECT_NE(comparison.reasons.at(0).find("not measured"), std::string::npos);
}

Json side_json(std::vector<RunResult> runs) {
    const Comparison comparison = compare(Scenario{}, "k", {{"1", std::move(runs)}});
    return Json::parse(comparison_to_json(comparison)).at("sides").at(0);
}

TEST(Compare, SumsOfCountsMediansOfTimes) {
    const Json odd = side_json({run(VerdictKind::Valid, 1, 900), run(VerdictKind::Invalid, 4, 100),
                                run(VerdictKind::Valid, 0, 300)});
    EXPECT_EQ(odd.at("runs"), 3);
    EXPECT_EQ(odd.at("acked"), 3000);
    EXPECT_EQ(odd.at("lost_committed"), 5);
    EXPECT_EQ(odd.at("unavailable_ms"), 300);
    EXPECT_EQ(odd.at("verdicts"), (Json{{"valid", 2}, {"invalid", 1}, {"unknown", 0}}));
    const Json even = side_json(
        {run(VerdictKind::Valid, 0, 100), run(VerdictKind::Valid, 0), run(VerdictKind::Valid, 0, 300)});
    EXPECT_EQ(even.at("unavailable_ms"), 200) << "a run without the time has no part in the median";
    EXPECT_TRUE(side_json({run(VerdictKind::Valid, 0)}).at("unavailable_ms").is_null());
}

std::vector<std::string> keys_of(const Json& json) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    return keys;
}

TEST(ResultJson, KeysOfARunAndOfAComparison) {
    const std::string line = run_result_to_json(run(VerdictKind::Invalid, 2));
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const Json json = Json::parse(line);
    EXPECT_EQ(keys_of(json),
              (std::vector<std::string>{"scenario", "sut", "seed", "verdict", "anomalies", "violations",
                                        "reasons", "evidence", "unchecked", "run_dir"}));
    EXPECT_EQ(json.at("anomalies"), (Json{{"lost-committed", 2}}));
    EXPECT_EQ(json.at("verdict"), "invalid");
    const Json empty = Json::parse(run_result_to_json(run(VerdictKind::Valid, 0)));
    EXPECT_TRUE(empty.at("anomalies").is_object()) << "an object, also when there are none";
    EXPECT_TRUE(empty.at("evidence").is_object());
    EXPECT_TRUE(empty.at("violations").is_array());

    const std::string compared =
        comparison_to_json(compare(on_and_off(), "k", {{"true", {run(VerdictKind::Valid, 1)}}}));
    EXPECT_EQ(compared.find('\n'), std::string::npos);
    EXPECT_EQ(keys_of(Json::parse(compared)),
              (std::vector<std::string>{"scenario", "param", "verdict", "reasons", "expect", "same_changes",
                                        "sides"}));
    EXPECT_EQ(keys_of(Json::parse(compared).at("sides").at(0)),
              (std::vector<std::string>{"value", "runs", "verdicts", "acked", "lost_committed",
                                        "read_then_lost", "lost_weak", "dirty_reads", "rejected",
                                        "unavailable_ms", "recovery_ms", "errors", "changes"}));
}

RunResult through(std::vector<std::string> changes) {
    RunResult result = run(VerdictKind::Valid, 0);
    result.changes = std::move(changes);
    return result;
}

TEST(Compare, SystemsAreNamedByThemselvesOrByTheirFamily) {
    const Scenario scenario = expecting({{"sut=kafka", "acked >= 1"}, {"sut=node", "acked >= 2000"}});
    const Comparison comparison = compare(scenario, kSutParam,
                                          {{"node", {run(VerdictKind::Valid, 0)}, "node"},
                                           {"kafka:4.3.1", {run(VerdictKind::Valid, 0)}, "kafka"}});
    ASSERT_EQ(comparison.expect.size(), 2U);
    EXPECT_TRUE(comparison.expect[0].met);
    EXPECT_FALSE(comparison.expect[1].met) << "1000";
}

TEST(Changes, AreTheSameWhateverTheOrderOfTheRuns) {
    const RunResult a = through({"leader 1 epoch 0 ISR 1,2,3 (created)", "ISR 1,2 (fenced)"});
    const RunResult b = through({"leader 1 epoch 0 ISR 1,2,3 (created)", "ISR 1,2 (alter-partition)"});
    EXPECT_TRUE(same_changes({{"node", {a, b}}, {"kafka", {b, a, a}}}));
    EXPECT_FALSE(same_changes({{"node", {a, a}}, {"kafka", {a, b}}}));
    const std::vector<ChangesSeen> seen = changes_seen({"node", {b, a, a}});
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[0].steps, a.changes);
    EXPECT_EQ(seen[0].runs, 2);
}

TEST(Changes, TextNamesTheFirstStepThatDiffers) {
    const RunResult a = through({"leader 1 epoch 0 ISR 1,2,3 (created)", "ISR 1,2 (fenced)"});
    const RunResult b = through({"leader 1 epoch 0 ISR 1,2,3 (created)"});
    const auto text = [](std::vector<ComparedSide> sides) {
        return comparison_to_text(compare(Scenario{}, kSutParam, std::move(sides)), "h");
    };
    EXPECT_NE(
        text({{"node", {a}}, {"kafka", {a}}})
            .find("leader and ISR, the same on every side: leader 1 epoch 0 ISR 1,2,3 (created) → ISR 1,2 "
                  "(fenced)\n"),
        std::string::npos);
    const std::string different = text({{"node", {a}}, {"kafka", {b}}});
    EXPECT_NE(different.find("leader and ISR (kafka): leader 1 epoch 0 ISR 1,2,3 (created)\n"),
              std::string::npos)
        << different;
    EXPECT_NE(
        different.find("the sequences DIFFER: at step 2 node has \"ISR 1,2 (fenced)\", kafka no more\n"),
        std::string::npos)
        << different;
}

TEST(Text, CountsEveryCodeThatAClientWasTold) {
    RunResult refused = run(VerdictKind::Valid, 0);
    refused.error_codes = {{"Produce NOT_ENOUGH_REPLICAS", 2}};
    const Comparison comparison = compare(
        Scenario{}, kSutParam, {{"node", {refused, refused}}, {"kafka", {run(VerdictKind::Valid, 0)}}});
    EXPECT_NE(comparison_to_text(comparison, "h").find("answered Produce NOT_ENOUGH_REPLICAS"),
              std::string::npos);
    EXPECT_EQ(Json::parse(comparison_to_json(comparison)).at("sides").at(0).at("errors"),
              (Json{{"Produce NOT_ENOUGH_REPLICAS", 4}}));
}

TEST(Text, SaysTheFirstLossAndWhatWasExpected) {
    RunResult lossy = run(VerdictKind::Valid, 2);
    Anomaly later;
    later.kind = "lost-committed";
    later.offset = 9;
    later.sentence = "offset 9 is gone";
    Anomaly first = later;
    first.offset = 4;
    first.sentence = "offset 4 is gone";
    lossy.verdict.anomalies = {later, first};
    const std::string text = comparison_to_text(
        compare(on_and_off(), "k", {{"true", {lossy}}, {"false", {run(VerdictKind::Valid, 1)}}}), "heading");
    EXPECT_TRUE(text.starts_with("heading\n")) << text;
    EXPECT_NE(text.find("first loss (true): offset 4 is gone\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nas expected: k=true: lost_committed >= 1\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nNOT as expected: k=false: lost_committed == 0\n"), std::string::npos) << text;
    EXPECT_NE(text.find("valid (loss is allowed)"), std::string::npos) << text;
    EXPECT_NE(text.find("1,000"), std::string::npos) << text;
}

Operation produced(std::int64_t at_ms, Outcome status, std::int16_t acks, const std::string& error = "") {
    Operation operation;
    operation.invoked = operation.completed = Instant{} + milliseconds(at_ms);
    Produce produce;
    produce.status = status;
    produce.acks = acks;
    produce.error = error;
    operation.what = produce;
    return operation;
}

TEST(Measures, CountsAndTheLongestSilence) {
    History history;
    history.operations = {
        produced(100, Outcome::Ok, -1),  produced(1100, Outcome::Ok, -1),
        produced(1500, Outcome::Ok, 1),  produced(2000, Outcome::Fail, -1, "NOT_ENOUGH_REPLICAS"),
        produced(3100, Outcome::Ok, -1), produced(3200, Outcome::Info, -1)};
    Phases phases;
    phases.first_fault = Instant{} + milliseconds(1000);
    phases.healed = Instant{} + milliseconds(4000);
    phases.recovered = Instant{} + milliseconds(4250);
    Verdict verdict;
    verdict.counts = {{"lost-committed", 2}, {"lost-weak", 3}, {"dirty-read", 4}, {"duplicate", 5}};
    verdict.evidence = {{"read_then_lost", 1}};
    const Measures measures = measure(history, verdict, phases);
    EXPECT_EQ(measures.acked, 3) << "acks=1 is counted elsewhere";
    EXPECT_EQ(measures.rejected, 1);
    EXPECT_EQ(measures.lost_committed, 2);
    EXPECT_EQ(measures.lost_weak, 3);
    EXPECT_EQ(measures.dirty_reads, 4);
    EXPECT_EQ(measures.duplicates, 5);
    EXPECT_EQ(measures.read_then_lost, 1);
    EXPECT_EQ(measures.unavailable_ms, 2000);
    EXPECT_EQ(measures.recovery_ms, 250);
    EXPECT_FALSE(measure(history, verdict, {}).unavailable_ms.has_value());
}

TEST(Measures, SilenceUntilHealCountsToo) {
    History history;
    history.operations = {produced(1100, Outcome::Ok, -1)};
    Phases phases;
    phases.first_fault = Instant{} + milliseconds(1000);
    phases.healed = Instant{} + milliseconds(4000);
    EXPECT_EQ(measure(history, {}, phases).unavailable_ms, 2900);
}

}  // namespace
}  // namespace highwater::results
