// Every bundled scenario, against real processes: valid, and proven to have tested what its title says.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/e2e/program.h"

namespace highwater::test {
namespace {

struct Bundled {
    TempDir dir;
    Ended ended;
    Json json;
};

/// Runs it, and checks what holds for every valid run.
void run_valid(Bundled& run, const std::string& scenario) {
    run.ended = run_scenario(run.dir, scenario);
    run.json = run.ended.json();
    ASSERT_TRUE(run.json.is_object());
    ASSERT_EQ(run.json["verdict"], "valid") << run.ended.out << run.ended.err;
    EXPECT_EQ(run.ended.exit_code, 0);
    std::set<std::string> keys;
    for (const auto& [key, value] : run.json.items()) keys.insert(key);
    const std::set<std::string> promised{"scenario",   "sut",     "seed",     "verdict",   "anomalies",
                                         "violations", "reasons", "evidence", "unchecked", "run_dir"};
    EXPECT_EQ(keys, promised);
    EXPECT_EQ(run.json["scenario"], scenario);
    EXPECT_EQ(run.json["sut"], "node");
    EXPECT_EQ(run.json["seed"], 7);
    EXPECT_TRUE(run.json["violations"].empty());
    EXPECT_TRUE(run.json["reasons"].empty());
    EXPECT_GT(run.json["evidence"].value("acked", 0), 0);
    EXPECT_GT(run.json["evidence"].value("read", 0), 0);
    const std::string run_dir = run.json["run_dir"];
    EXPECT_TRUE(run_dir.starts_with(run.dir.file("runs"))) << run_dir;
    for (const char* file :
         {"run.json", "schedule.json", "scenario.json", "history.jsonl", "trace.jsonl", "verdict.json"}) {
        EXPECT_TRUE(std::filesystem::is_regular_file(run_dir + "/" + file)) << file;
    }
}

/// The measured time and the timer stand in one sentence.
void expect_finding(const Bundled& run, const std::string& before, const std::string& after) {
    for (const std::string& line : lines_of(run.ended.err)) {
        const std::size_t left = line.find("broker 3 left the ISR ");
        if (left == std::string::npos) continue;
        EXPECT_NE(line.find(" s after '" + before), std::string::npos) << line;
        EXPECT_NE(line.find(after), std::string::npos) << line;
        return;
    }
    ADD_FAILURE() << "no sentence about the shrink in:\n" << run.ended.err;
}

TEST(Scenario, UncleanElectionOff) {
    Bundled run;
    ASSERT_NO_FATAL_FAILURE(run_valid(run, "unclean-election"));
    EXPECT_GE(run.json["evidence"].value("leader-lost", 0), 1);
    EXPECT_EQ(run.json["anomalies"].value("lost-committed", 0), 0);
}

TEST(Scenario, MinIsrRejection) {
    Bundled run;
    ASSERT_NO_FATAL_FAILURE(run_valid(run, "min-isr-rejection"));
    EXPECT_GE(run.json["evidence"].value("not-enough-replicas", 0), 1);
}

TEST(Scenario, IsrShrinkTerminate) {
    Bundled run;
    ASSERT_NO_FATAL_FAILURE(run_valid(run, "isr-shrink-terminate"));
    expect_finding(run, "leaves' (terminate)", "no timer");
}

TEST(Scenario, IsrShrinkFrozen) {
    Bundled run;
    ASSERT_NO_FATAL_FAILURE(run_valid(run, "isr-shrink-frozen"));
    expect_finding(run, "frozen' (pause)", "broker.session.timeout.ms = 2000");
}

TEST(Scenario, IsrShrinkLaggingWithoutAnyFence) {
    Bundled run;
    ASSERT_NO_FATAL_FAILURE(run_valid(run, "isr-shrink-lagging"));
    expect_finding(run, "starved' (hold)", "replica.lag.time.max.ms = 3000");
    EXPECT_FALSE(run.json["evidence"].contains("fenced"));
    EXPECT_FALSE(run.json["evidence"].contains("session-timeout"));
    // The controller's own trace: the only fences are those every broker has until it has caught up at first.
    std::size_t lines = 0;
    for (const std::string& text :
         lines_of(read_text(run.json["run_dir"].get<std::string>() + "/trace.jsonl"))) {
        const Json line = Json::parse(text);
        ++lines;
        if (line.value("e", "") != "fence") continue;
        EXPECT_EQ(line.value("reason", ""), "registered") << text;
    }
    EXPECT_GT(lines, 0U);
}

TEST(Scenario, SlowFollower) {
    Bundled run;
    ASSERT_NO_FATAL_FAILURE(run_valid(run, "slow-follower"));
    EXPECT_GE(run.json["evidence"].value("slow-ack@slow", 0), 1);
    EXPECT_FALSE(run.json["evidence"].contains("isr-shrunk@slow"));
}

TEST(Scenario, CutPathDoesNotAnswerUntilItIsMended) {
    Bundled run;
    run.ended = run_scenario(run.dir, std::string(HW_TEST_DATA) + "/cut-follower.toml");
    run.json = run.ended.json();
    ASSERT_EQ(run.json["verdict"], "valid") << run.ended.out << run.ended.err;
    int silent = 0;
    const std::string run_dir = run.json["run_dir"];
    for (const std::string& line : lines_of(read_text(run_dir + "/history.jsonl"))) {
        const Json operation = Json::parse(line);
        if (operation.value("op", "") == "probe" && operation.contains("src") && !operation.value("ok", true))
            ++silent;
    }
    EXPECT_EQ(silent, 1) << "the cut was probed, and nothing answered";
}

TEST(Scenario, OneThatIsForKafkaOnlyIsRefusedOnOurNode) {
    const TempDir dir;
    const Ended ended = highwater(dir, {"run", "controller-and-leader", "--out", dir.file("runs")});
    EXPECT_EQ(ended.exit_code, 64);
    EXPECT_NE(ended.err.find("scenario controller-and-leader is for kafka only (its key sut says so), not for node"),
              std::string::npos)
        << ended.err;
    EXPECT_NE(highwater(dir, {"list"}).out.find("(kafka only)"), std::string::npos);
}

TEST(Scenario, ListNamesAllOfThem) {
    const TempDir dir;
    const Ended ended = highwater(dir, {"list", "--json"});
    EXPECT_EQ(ended.exit_code, 0);
    std::set<std::string> names;
    const Json list = ended.json();
    ASSERT_TRUE(list.is_object());
    for (const Json& scenario : list.at("scenarios")) names.insert(scenario.at("name"));
    std::set<std::string> files;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(HW_SOURCE_DIR) + "/harness/scenarios")) {
        files.insert(entry.path().stem().string());
    }
    EXPECT_EQ(names, files);
    EXPECT_GE(names.size(), 6U);
}

}  // namespace
}  // namespace highwater::test
