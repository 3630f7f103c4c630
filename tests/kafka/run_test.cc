// Runs on real Apache Kafka by the real program: what a run leaves, whatever ends it, and what it says when
// it cannot begin.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/e2e/leftovers.h"
#include "tests/e2e/program.h"

namespace highwater::test {
namespace {

constexpr std::size_t kProcesses = 4;

std::vector<std::string> jvms_of(const TempDir& dir) { return processes_of("kafka.Kafka", dir.path()); }

/// Waits until the run is in the middle of its faults; the slot it runs in.
int in_the_middle(const TempDir& dir) {
    EXPECT_TRUE(eventually(seconds(120), [&] {
        return read_text(dir.file("runs/latest/history.jsonl")).find("\"pause\"") != std::string::npos;
    })) << read_text(dir.file("stderr.txt"));
    EXPECT_EQ(jvms_of(dir).size(), kProcesses) << joined(jvms_of(dir));
    const int slot = slot_of(dir.file("runs/latest"));
    EXPECT_GE(listeners_of(slot).size(), 10U) << joined(listeners_of(slot));
    return slot;
}

void expect_nothing_left(const TempDir& dir, int slot) {
    EXPECT_TRUE(eventually(seconds(5), [&] { return jvms_of(dir).empty(); })) << joined(jvms_of(dir));
    EXPECT_TRUE(eventually(seconds(5), [&] { return listeners_of(slot).empty(); }))
        << joined(listeners_of(slot));
}

TEST(KafkaRun, FrozenFollowerAsInTheArticle) {
    const TempDir dir;
    const Ended ended = run_scenario(dir, "hw-leo-gap", {"--sut", "kafka"});
    ASSERT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    const Json json = ended.json();
    EXPECT_EQ(json["verdict"], "valid");
    EXPECT_EQ(json["sut"], "kafka:4.3.1");
    const std::string run_dir = dir.file("runs/latest");
    expect_nothing_left(dir, slot_of(run_dir));
    // Files only inside the run directory: the JVMs' own temporary directory is there too.
    for (const char* id : {"1", "2", "3", "100"})
        EXPECT_TRUE(std::filesystem::is_directory(run_dir + "/nodes/" + id + "/tmp")) << id;
}

TEST(KafkaRun, AFeatureOfTheClusterIsFormatted) {
    const TempDir dir;
    const Ended ended = run_scenario(dir, "isr-shrink-terminate",
                                     {"--sut", "kafka", "--set", "eligible.leader.replicas.version=0"});
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
}

TEST(KafkaRun, KilledHarnessLeavesNothing) {
    const TempDir dir;
    Program program(dir, {"run", "unclean-election", "--seed", "7", "--sut", "kafka", "--out",
                          dir.file("runs"), "--json"});
    const int slot = in_the_middle(dir);
    program.kill_now();
    expect_nothing_left(dir, slot);
    const Ended judged = highwater(dir, {"check", dir.file("runs/latest"), "--json"});
    EXPECT_EQ(judged.exit_code, 2) << judged.out << judged.err;
    EXPECT_TRUE(contains(judged.json()["reasons"], "cut-short")) << judged.out;
}

TEST(KafkaRun, InterruptedHarnessLeavesNothing) {
    const TempDir dir;
    Program program(dir, {"run", "unclean-election", "--seed", "7", "--sut", "kafka", "--out",
                          dir.file("runs"), "--json"});
    const int slot = in_the_middle(dir);
    program.interrupt();
    EXPECT_EQ(program.wait(seconds(60)).exit_code, 130);
    expect_nothing_left(dir, slot);
}

TEST(KafkaRun, ASystemThatIsNotHereIsBadInput) {
    const TempDir dir;
    const auto refused = [&](const std::string& sut, const std::string& words) {
        const Ended ended = run_scenario(dir, "hw-leo-gap", {"--sut", sut});
        EXPECT_EQ(ended.exit_code, 64) << ended.err;
        EXPECT_NE(ended.err.find(words), std::string::npos) << ended.err;
    };
    refused("kafka:9.9.9", "Apache Kafka 9.9.9 is not on this machine: scripts/dev kafka 9.9.9");
    refused("kafka:new", "'new' is no version of Kafka");
    refused("kafka:" + dir.path(), "/libs: no Kafka distribution, it has no jars");
    refused("redpanda", "--sut redpanda: neither node nor kafka[:VERSION|:/PATH]");
    const Ended bugs = run_scenario(dir, "hw-leo-gap", {"--sut", "kafka", "--bug", "Z06"});
    EXPECT_EQ(bugs.exit_code, 64) << bugs.err;
    EXPECT_FALSE(std::filesystem::exists(dir.file("runs")));
}

TEST(KafkaRun, ADistributionOfTheUsersOwn) {
    const TempDir dir;
    // As an unpacked release has them.
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const std::string jars =
        (cache != nullptr && *cache != '\0' ? std::string(cache)
                                            : std::string(std::getenv("HOME")) + "/.cache") +
        "/highwater/kafka-4.3.1";
    std::filesystem::create_directories(dir.file("kafka"));
    std::filesystem::create_directory_symlink(jars, dir.file("kafka/libs"));
    const Ended ended = run_scenario(dir, "isr-shrink-terminate", {"--sut", "kafka:" + dir.file("kafka")});
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    EXPECT_EQ(ended.json()["sut"], "kafka:4.3.1");
}

}  // namespace
}  // namespace highwater::test
