// The checker can fail on real processes: a deliberate bug makes a run invalid that is valid without it, and
// `check` of the files says the same as the run did.
#include <gtest/gtest.h>

#include "tests/e2e/program.h"

namespace highwater::test {
namespace {

std::string testdata(const std::string& name) { return std::string(HW_TEST_DATA) + "/" + name; }

void expect_same_when_checked(const TempDir& dir, const Json& run, int exit_code) {
    const Ended again = highwater(dir, {"check", run["run_dir"], "--json"});
    const Json json = again.json();
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(again.exit_code, exit_code);
    for (const char* key : {"scenario", "sut", "seed", "verdict", "anomalies", "violations", "reasons",
                            "evidence", "run_dir"}) {
        EXPECT_EQ(json[key], run[key]) << key;
    }
}

void expect_valid(const std::string& scenario) {
    const TempDir dir;
    const Ended ended = run_scenario(dir, testdata(scenario));
    const Json json = ended.json();
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(json["verdict"], "valid") << ended.out << ended.err;
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_GE(json["evidence"].value("leader-lost", 0), 1) << ended.out;
    expect_same_when_checked(dir, json, 0);
}

void expect_invalid(const std::string& scenario, const std::string& bug, const std::string& violation) {
    const TempDir dir;
    const Ended ended = run_scenario(dir, testdata(scenario), {"--bug", bug});
    const Json json = ended.json();
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(json["verdict"], "invalid") << ended.out << ended.err;
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_TRUE(contains(json["violations"], violation)) << ended.out;
    EXPECT_GE(json["anomalies"].value(violation, 0), 1);
    EXPECT_NE(ended.err.find(violation + ": "), std::string::npos) << "no sentence:\n" << ended.err;
    expect_same_when_checked(dir, json, 1);
}

TEST(ServeAboveHw, IsADirtyRead) { expect_invalid("served-above-hw.toml", "serve_above_hw", "dirty-read"); }
TEST(ServeAboveHw, ValidWithoutTheBug) { expect_valid("served-above-hw.toml"); }
TEST(AckOnAppend, LosesCommitted) {
    expect_invalid("acked-on-append.toml", "ack_on_append", "lost-committed");
}
TEST(AckOnAppend, ByItsId) { expect_invalid("acked-on-append.toml", "Z01", "lost-committed"); }
TEST(AckOnAppend, ValidWithoutTheBug) { expect_valid("acked-on-append.toml"); }

TEST(Check, HistoryFileWithALossIsInvalid) {
    const TempDir dir;
    const std::string file = std::string(HW_SOURCE_DIR) + "/tests/checker/testdata/cases/R12.jsonl";
    const Ended ended = highwater(dir, {"check", file, "--json"});
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    const Json json = ended.json();
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(json["verdict"], "invalid");
    EXPECT_FALSE(json["violations"].empty());
}

TEST(Check, JunkIsRefusedWithItsLine) {
    const TempDir dir;
    const Ended ended =
        highwater(dir, {"check", dir.write("junk.jsonl", "\x01\x02 no history\n{]\n"), "--json"});
    EXPECT_EQ(ended.exit_code, 64);
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(lines_of(ended.err).size(), 1U) << ended.err;
    EXPECT_NE(ended.err.find("junk.jsonl:1"), std::string::npos) << ended.err;
}

TEST(Check, MissingFileAndDirectoryWithoutHistory) {
    const TempDir dir;
    for (const std::string& path : {dir.file("missing.jsonl"), dir.path()}) {
        const Ended ended = highwater(dir, {"check", path, "--json"});
        EXPECT_EQ(ended.exit_code, 64) << path;
        EXPECT_EQ(lines_of(ended.err).size(), 1U) << ended.err;
    }
}

}  // namespace
}  // namespace highwater::test
