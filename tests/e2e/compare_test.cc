// `highwater compare`: unclean leader election on and off, side by side.
#include <gtest/gtest.h>

#include <set>

#include "tests/e2e/program.h"

namespace highwater::test {
namespace {

std::set<std::string> keys_of(const Json& object) {
    std::set<std::string> keys;
    for (const auto& [key, value] : object.items()) keys.insert(key);
    return keys;
}

TEST(Compare, UncleanElectionLosesOnlyWhenItIsOn) {
    const TempDir dir;
    const Ended ended =
        highwater(dir, {"compare", "unclean-election", "--param", "unclean.leader.election.enable=true,false",
                        "--seed", "7", "--out", dir.file("runs"), "--json"});
    const Json json = ended.json();
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    const std::set<std::string> keys{"scenario", "param",        "verdict", "reasons",
                                     "expect",   "same_changes", "sides"};
    EXPECT_EQ(keys_of(json), keys);
    EXPECT_EQ(json["verdict"], "valid");
    EXPECT_EQ(json["param"], "unclean.leader.election.enable");
    ASSERT_EQ(json["sides"].size(), 2U);
    const std::set<std::string> side_keys{"value",          "runs",           "verdicts",    "acked",
                                          "lost_committed", "read_then_lost", "lost_weak",   "dirty_reads",
                                          "rejected",       "unavailable_ms", "recovery_ms", "errors",
                                          "changes"};
    for (const Json& side : json["sides"]) {
        EXPECT_EQ(keys_of(side), side_keys);
        EXPECT_EQ(side["runs"], 1);
        EXPECT_EQ(side["verdicts"]["valid"], 1);
        EXPECT_GT(side["acked"].get<int>(), 0);
    }
    EXPECT_EQ(json["sides"][0]["value"], "true");
    EXPECT_GE(json["sides"][0]["lost_committed"].get<int>(), 1);
    EXPECT_EQ(json["sides"][1]["value"], "false");
    EXPECT_EQ(json["sides"][1]["lost_committed"], 0);
    ASSERT_EQ(json["expect"].size(), 2U);
    for (const Json& expectation : json["expect"]) EXPECT_TRUE(expectation["met"].get<bool>()) << expectation;
    EXPECT_NE(ended.err.find("first loss (true): "), std::string::npos) << ended.err;
    EXPECT_FALSE(json["same_changes"].get<bool>()) << "with it the leader comes from outside the ISR";
    EXPECT_EQ(json["sides"][0]["changes"][0]["steps"][0], "leader 1 epoch 0 ISR 1,2,3 (created)");
}

TEST(Compare, NeedsSeveralSystemsOrSeveralValuesButNotBoth) {
    const TempDir dir;
    const auto told = [&dir](std::vector<std::string> more) {
        std::vector<std::string> words{"compare", "hw-leo-gap"};
        words.insert(words.end(), more.begin(), more.end());
        const Ended ended = highwater(dir, words);
        EXPECT_EQ(ended.exit_code, 64);
        return ended.err;
    };
    EXPECT_NE(told({}).find("needs --param key=value,value or --sut with several systems"),
              std::string::npos);
    EXPECT_NE(told({"--sut", "node,node", "--param", "linger=1s,2s"}).find("not both"), std::string::npos);
    EXPECT_NE(told({"--sut", "node,cafka"}).find("--sut cafka: neither node nor kafka"), std::string::npos);
}

TEST(Compare, SystemsSideBySideGoThroughTheSame) {
    const TempDir dir;
    const Ended ended =
        highwater(dir, {"compare", "hw-leo-gap", "--sut", "node,node", "--out", dir.file("runs"), "--json"});
    const Json json = ended.json();
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    EXPECT_EQ(json["param"], "sut");
    EXPECT_TRUE(json["same_changes"].get<bool>());
    EXPECT_NE(
        ended.err.find("leader and ISR, the same on every side: leader 1 epoch 0 ISR 1,2,3 (created)\n"),
        std::string::npos)
        << ended.err;
}

/// What an application is not told: its library sent the record again, and without idempotence it is there
/// twice, which at-least-once delivery allows.
TEST(Compare, AnApplicationsHiddenRetriesDoubleRecordsUnlessItIsIdempotent) {
    const TempDir dir;
    const Ended ended =
        highwater(dir, {"compare", "hidden-retries", "--param", "workload.idempotent=false,true", "--out",
                        dir.file("runs"), "--json"});
    const Json json = ended.json();
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    EXPECT_EQ(json["verdict"], "valid");
    ASSERT_EQ(json["expect"].size(), 2U);
    for (const Json& expectation : json["expect"]) EXPECT_TRUE(expectation["met"].get<bool>()) << expectation;
    EXPECT_NE(ended.err.find("records written twice"), std::string::npos) << ended.err;
}

/// The same with several appends under way: more are sent again, and an idempotent producer keeps their
/// order.
TEST(Compare, AnApplicationsPipelineKeepsItsOrderWithIdempotence) {
    const TempDir dir;
    const Ended ended =
        highwater(dir, {"compare", "hidden-retries", "--param", "workload.idempotent=false,true", "--set",
                        "workload.in_flight=8", "--out", dir.file("runs"), "--json"});
    const Json json = ended.json();
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(json["verdict"], "valid") << ended.out << ended.err;
}

}  // namespace
}  // namespace highwater::test
