// The verdict of a night from the verdicts of its runs, and how it is told.
#include "results/night.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace highwater::results {
namespace {

using Kind = NightRun::Kind;

NightRun run(Kind kind, const std::string& scenario, const std::string& verdict) {
    NightRun one;
    one.kind = kind;
    one.scenario = scenario;
    one.seed = 7;
    one.verdict = verdict;
    one.expected = kind == Kind::Canary ? "invalid" : "valid";
    if (verdict == "invalid") one.violations = {"lost-committed"};
    if (verdict == "unknown") one.reasons = {"vacuous"};
    one.reproduce = "highwater run " + scenario + " --seed 7";
    return one;
}

Night good_night() {
    Night night;
    night.canary = "Z06";
    night.runs = {run(Kind::Run, "a", "valid"), run(Kind::Run, "b", "valid"), run(Kind::Run, "a", "valid"),
                  run(Kind::Compare, "a", "valid"), run(Kind::Canary, "b", "invalid")};
    return night;
}

std::string first_line(const Night& night) {
    const std::string text = night_to_markdown(night);
    return text.substr(0, text.find('\n'));
}

TEST(Night, GoodOnlyWithItsCanary) {
    Night night = good_night();
    EXPECT_EQ(night_exit_code(night), 0);
    EXPECT_EQ(first_line(night),
              "The night is good: 3 runs of 2 scenarios as expected, 1 comparison too; the "
              "canary Z06 was found in b (lost-committed)");
    night.runs.pop_back();
    EXPECT_EQ(night_exit_code(night), 2);
    EXPECT_NE(first_line(night).find("UNKNOWN: the canary Z06 was not found"), std::string::npos);
    night.canary = "none";
    EXPECT_EQ(night_exit_code(night), 2);
    EXPECT_NE(first_line(night).find("UNKNOWN: without a canary"), std::string::npos);
}

/// Apache Kafka has no bugs to make: there a scenario that must be invalid proves that the night can fail.
TEST(Night, WithoutBugsAScenarioThatMustBeInvalidIsTheCanary) {
    Night night = good_night();
    night.runs.pop_back();
    night.canary = "none";
    night.runs.push_back(run(Kind::Run, "forged-fetch", "invalid"));
    night.runs.back().expected = "invalid";
    EXPECT_EQ(night_exit_code(night), 0);
    EXPECT_NE(first_line(night).find("forged-fetch is invalid (lost-committed), as it must be"), std::string::npos)
        << first_line(night);
    night.runs.back().verdict = "valid";
    EXPECT_NE(night_exit_code(night), 0);
    night.runs.back().verdict = "invalid";
    night.canary = "Z06";
    EXPECT_EQ(night_exit_code(night), 2) << "who asked for a canary wants that one";
}

TEST(Night, CanaryThatOneScenarioMissesAndAnotherFindsIsFound) {
    Night night = good_night();
    night.runs.insert(night.runs.begin(), run(Kind::Canary, "c", "valid"));
    EXPECT_EQ(night_exit_code(night), 0);
    EXPECT_EQ(night_to_markdown(night).find("## Not as expected"), std::string::npos);
    EXPECT_NE(night_to_junit(night).find("tests=\"6\" failures=\"0\" errors=\"0\""), std::string::npos);
}

TEST(Night, FailureIsInTheFirstLineWithItsCommand) {
    Night night = good_night();
    night.runs.insert(night.runs.begin() + 1, run(Kind::Run, "slow", "unknown"));
    EXPECT_EQ(night_exit_code(night), 2);
    EXPECT_EQ(first_line(night),
              "The night is UNKNOWN: slow is unknown (vacuous); again: highwater run slow --seed 7");
    night.runs.push_back(run(Kind::Run, "bad", "invalid"));
    night.runs.push_back(run(Kind::Run, "worse", "invalid"));
    EXPECT_EQ(night_exit_code(night), 1) << "a violation is worse than a doubt";
    EXPECT_EQ(first_line(night),
              "The night FAILED: bad is invalid (lost-committed) (and 1 more); again: "
              "highwater run bad --seed 7");
    night.interrupted = true;
    EXPECT_EQ(night_exit_code(night), 130);
    EXPECT_NE(first_line(night).find("INTERRUPTED and FAILED: bad is invalid"), std::string::npos);
}

TEST(Night, WhatAScenarioExpectsDecides) {
    Night night = good_night();
    night.runs.front().expected = "invalid";
    EXPECT_EQ(night_exit_code(night), 1);
    EXPECT_NE(first_line(night).find("a is valid, invalid was expected"), std::string::npos);
    night.runs.front().verdict = "invalid";
    EXPECT_EQ(night_exit_code(night), 0);
    night.runs.front().verdict = "harness-fault";
    EXPECT_EQ(night_exit_code(night), 2);
}

TEST(Night, JUnitIsEscapedAndCounts) {
    Night night = good_night();
    NightRun bad = run(Kind::Run, "a<b", "invalid");
    bad.sentence = "x \"&\" y\x01";
    night.runs.push_back(bad);
    night.runs.push_back(run(Kind::Run, "c", "unknown"));
    const std::string text = night_to_junit(night);
    EXPECT_NE(text.find("tests=\"7\" failures=\"1\" errors=\"1\""), std::string::npos) << text;
    EXPECT_NE(text.find("classname=\"a&lt;b\""), std::string::npos) << text;
    EXPECT_NE(text.find("x &quot;&amp;&quot; y\n"), std::string::npos) << text;
    EXPECT_NE(text.find("<error type=\"unknown\""), std::string::npos) << text;
}

TEST(Night, Json) {
    const auto json = nlohmann::json::parse(night_to_json(good_night()));
    EXPECT_EQ(json["verdict"], "good");
    EXPECT_EQ(json["exit_code"], 0);
    EXPECT_EQ(json["canary_found"], true);
    EXPECT_EQ(json["runs"].size(), 5U);
    EXPECT_EQ(json["runs"][3]["kind"], "compare");
}

}  // namespace
}  // namespace highwater::results
