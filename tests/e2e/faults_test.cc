// Faults against real processes: conditions that wait for events, data that are wiped, named nemeses, random
// mixes; each with its proof in schedule.json, and a schedule that plays again.
#include <gtest/gtest.h>

#include <map>

#include "tests/e2e/program.h"

namespace highwater::test {
namespace {

Json schedule_of(const Json& run) {
    return Json::parse(read_text(run["run_dir"].get<std::string>() + "/schedule.json"), nullptr, false);
}

TEST(Faults, WaitForEventsAndProveTheirEffect) {
    const TempDir dir;
    const Ended ended = run_scenario(dir, std::string(HW_TEST_DATA) + "/events.toml");
    const Json json = ended.json();
    ASSERT_TRUE(json.is_object());
    ASSERT_EQ(json["verdict"], "valid") << ended.out << ended.err;
    std::map<std::string, std::string> proofs;
    const Json schedule = schedule_of(json);
    ASSERT_FALSE(schedule["faults"].empty());
    for (const Json& fault : schedule["faults"]) {
        EXPECT_TRUE(fault["ok"]) << fault;
        EXPECT_NE(fault["proof"], "") << fault;
        EXPECT_FALSE(fault["completed"].is_null()) << fault;
        proofs[fault["id"]] = fault["proof"];
    }
    EXPECT_NE(proofs["death"].find("is gone"), std::string::npos) << proofs["death"];
    EXPECT_NE(proofs["back"].find("runs, start 2"), std::string::npos) << proofs["back"];
    EXPECT_NE(proofs["blank"].find("is gone; "), std::string::npos) << proofs["blank"];
    EXPECT_NE(proofs["blank"].find("files and folders removed"), std::string::npos) << proofs["blank"];
    EXPECT_NE(proofs["change.hold"].find("1->100: "), std::string::npos) << proofs["change.hold"];
    EXPECT_NE(proofs["change.hold"].find("frames waited"), std::string::npos) << proofs["change.hold"];
}

TEST(Faults, ADrawnMixIsWrittenAndPlaysAgain) {
    const TempDir dir;
    const Ended first = run_scenario(dir, std::string(HW_TEST_DATA) + "/mixed.toml");
    const Json one = first.json();
    ASSERT_TRUE(one.is_object());
    EXPECT_EQ(one["verdict"], "valid") << first.out << first.err;
    const Json drawn = schedule_of(one);
    ASSERT_GE(drawn["fault"].size(), 3U);
    EXPECT_EQ(drawn["faults"].size(), drawn["fault"].size()) << "each was played";
    EXPECT_FALSE(drawn.contains("mix"));

    const Ended second = run_scenario(dir, one["run_dir"].get<std::string>() + "/schedule.json");
    const Json two = second.json();
    ASSERT_TRUE(two.is_object()) << second.err;
    EXPECT_EQ(schedule_of(two)["fault"], drawn["fault"]);
}

TEST(Faults, AnApiThatNobodyKnowsIsBadInput) {
    const TempDir dir;
    const std::string file = dir.write(
        "s.toml", "name = \"s\"\n[[fault]]\nkind = \"hold\"\npath = \"leader->id:2\"\napi = \"Fetsch\"\n");
    const Ended ended = highwater(dir, {"run", file});
    EXPECT_EQ(ended.exit_code, 64);
    EXPECT_NE(ended.err.find("no API is called 'Fetsch'"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace highwater::test
