// `highwater nightly`, short: it is good only if its canary was found, and a failure is in the first line.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/e2e/program.h"

namespace highwater::test {
namespace {

std::string short_scenario() { return std::string(HW_TEST_DATA) + "/short.toml"; }

Ended nightly(const TempDir& dir, const std::string& minutes, const std::vector<std::string>& more) {
    std::vector<std::string> words{"nightly", minutes, "--scenarios", short_scenario(), "--seed",
                                   "5",       "--out", dir.path(),    "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return highwater(dir, words);
}

std::string night_file(const TempDir& dir, const std::string& name) {
    return dir.file("nightly/latest/" + name);
}

std::string first_line(const TempDir& dir) {
    const std::vector<std::string> lines = lines_of(read_text(night_file(dir, "summary.md")));
    return lines.empty() ? "" : lines.front();
}

std::size_t folders_of(const TempDir& dir) {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dir.file("nightly/latest"))) {
        count += entry.is_directory() ? 1U : 0U;
    }
    return count;
}

TEST(Nightly, GoodWithTheCanaryFoundAndNothingKept) {
    const TempDir dir;
    const Ended ended = nightly(dir, "0", {});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    const std::string first = first_line(dir);
    EXPECT_EQ(first,
              "The night is good: 1 run of 1 scenario as expected; the canary Z06 was found in "
              "min-isr-rejection (dirty-read)");
    const Json json = ended.json();
    EXPECT_EQ(json["sentence"], first);
    EXPECT_EQ(Json::parse(read_text(night_file(dir, "nightly.json"))), json);
    EXPECT_NE(read_text(night_file(dir, "junit.xml")).find("tests=\"2\" failures=\"0\" errors=\"0\""),
              std::string::npos);
    EXPECT_EQ(folders_of(dir), 0U) << "runs that were as expected keep no files";
}

TEST(Nightly, DirectedRunsWhatItsSeedsDraw) {
    const TempDir dir;
    const Ended ended = highwater(dir, {"nightly", "0", "--directed", "--seed", "3", "--canary", "none",
                                        "--out", dir.path(), "--json"});
    const Json json = ended.json();
    ASSERT_EQ(json["runs"].size(), 1U) << ended.err;
    const Json& run = json["runs"][0];
    EXPECT_EQ(run["scenario"], "directed-3");
    EXPECT_EQ(run["seed"], 3);
    EXPECT_EQ(run["verdict"], "valid") << ended.err;
}

TEST(Nightly, WithoutACanaryUnknown_AndSeedsFillTheBudget) {
    const TempDir dir;
    const Ended ended = nightly(dir, "0.3", {"--canary", "none"});
    EXPECT_EQ(ended.exit_code, 2) << ended.err;
    EXPECT_NE(first_line(dir).find("UNKNOWN: without a canary"), std::string::npos) << first_line(dir);
    const Json json = ended.json();
    ASSERT_GE(json["runs"].size(), 2U) << "18 s were enough for one run only";
    for (std::size_t i = 0; i < json["runs"].size(); ++i) {
        EXPECT_EQ(json["runs"][i]["seed"], 5 + i);
        EXPECT_EQ(json["runs"][i]["verdict"], "valid");
    }
}

TEST(Nightly, FailureNamesScenarioKindAndCommand) {
    const TempDir dir;
    const Ended ended = nightly(dir, "0", {"--canary", "none", "--bug", "Z06"});
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    EXPECT_EQ(first_line(dir), "The night FAILED: short is invalid (dirty-read); again: highwater run " +
                                   short_scenario() + " --seed 5 --bug Z06");
    const Json json = ended.json();
    ASSERT_EQ(json["runs"].size(), 1U);
    const std::string kept = json["runs"][0]["kept"];
    EXPECT_TRUE(std::filesystem::is_regular_file(kept + "/report.html")) << kept;
    EXPECT_TRUE(std::filesystem::is_directory(kept + "/nodes/1/data")) << kept;
    EXPECT_NE(read_text(night_file(dir, "junit.xml")).find("failures=\"1\""), std::string::npos);
}

TEST(Nightly, RunThatCannotStartIsAHarnessFaultNotAPass) {
    const TempDir dir;
    ::setenv("HIGHWATER_NODE", "/bin/false", 1);
    const Ended ended = nightly(dir, "0", {"--canary", "none"});
    ::unsetenv("HIGHWATER_NODE");
    EXPECT_EQ(ended.exit_code, 2) << ended.err;
    EXPECT_NE(first_line(dir).find("UNKNOWN: short is harness-fault"), std::string::npos) << first_line(dir);
    EXPECT_EQ(folders_of(dir), 1U);
}

TEST(Nightly, InterruptedWritesWhatItHas) {
    const TempDir dir;
    Program program(
        dir, {"nightly", "5", "--scenarios", short_scenario(), "--canary", "none", "--out", dir.path()});
    ASSERT_TRUE(
        eventually(seconds(60), [&] { return std::filesystem::exists(night_file(dir, "nightly.json")); }));
    program.interrupt();
    const Ended ended = program.wait(seconds(60));
    EXPECT_EQ(ended.exit_code, 130) << ended.err;
    EXPECT_TRUE(first_line(dir).starts_with("The night was INTERRUPTED; until then ")) << first_line(dir);
    const Json json = Json::parse(read_text(night_file(dir, "nightly.json")));
    EXPECT_EQ(json["interrupted"], true);
    EXPECT_GE(json["runs"].size(), 1U);
    EXPECT_EQ(folders_of(dir), 0U) << "a run that nobody judged keeps no files";
}

TEST(Nightly, MistakesAreRefusedBeforeTheFirstRun) {
    const TempDir dir;
    for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--canary", "no_such_bug"},
                                                  {"--bug", "no_such_bug"},
                                                  {"--scenarios", "no-such-scenario"},
                                                  {"--canary", ""}}) {
        std::vector<std::string> words{"nightly", "1", "--out", dir.file("runs")};
        words.insert(words.end(), wrong.begin(), wrong.end());
        const Ended ended = highwater(dir, words);
        EXPECT_EQ(ended.exit_code, 64) << wrong.front() << ended.err;
        EXPECT_EQ(lines_of(ended.err).size(), 1U) << ended.err;
        EXPECT_FALSE(std::filesystem::exists(dir.file("runs")));
    }
}

}  // namespace
}  // namespace highwater::test
