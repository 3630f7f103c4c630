// SIGKILL of the harness or of a node, whenever it comes, leaves no process and no listening port, and a run
// directory that can still be judged: unknown, with the reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include "tests/e2e/leftovers.h"
#include "tests/e2e/program.h"

namespace highwater::test {
namespace {

std::vector<std::string> nodes_of(const std::string& word) { return processes_of("highwater-node", word); }

TEST(KilledHarness, LeavesNoProcessAndNoListener) {
    const TempDir dir;
    Program program(dir, {"run", "unclean-election", "--seed", "7", "--out", dir.file("runs"), "--json"});
    const std::string run_dir = dir.file("runs/latest");
    // In the middle of the run: appends are being acknowledged and the followers are paused.
    ASSERT_TRUE(eventually(seconds(60), [&] {
        const std::string history = read_text(run_dir + "/history.jsonl");
        return history.find("\"pause\"") != std::string::npos;
    })) << read_text(dir.file("stderr.txt"));
    ASSERT_EQ(nodes_of(dir.path()).size(), 4U) << joined(nodes_of(dir.path()));
    const int slot = slot_of(run_dir);
    ASSERT_GT(slot, 0);
    ASSERT_GE(listeners_of(slot).size(), 10U) << joined(listeners_of(slot));

    program.kill_now();

    EXPECT_TRUE(eventually(seconds(2), [&] { return nodes_of(dir.path()).empty(); }))
        << joined(nodes_of(dir.path()));
    EXPECT_TRUE(eventually(seconds(2), [&] { return listeners_of(slot).empty(); }))
        << joined(listeners_of(slot));
}

TEST(InterruptedHarness, LeavesNothingAndSaysSo) {
    const TempDir dir;
    Program program(dir, {"run", "unclean-election", "--seed", "7", "--out", dir.file("runs"), "--json"});
    ASSERT_TRUE(eventually(seconds(60), [&] { return nodes_of(dir.path()).size() == 4; }));
    program.interrupt();
    const Ended ended = program.wait(seconds(60));
    EXPECT_EQ(ended.exit_code, 130) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_TRUE(nodes_of(dir.path()).empty()) << joined(nodes_of(dir.path()));
}

/// `check` of what is left says unknown and why, and does not fail.
void expect_cut_short(const TempDir& dir) {
    const Ended ended = highwater(dir, {"check", dir.file("runs/latest"), "--json"});
    ASSERT_EQ(ended.exit_code, 2) << ended.out << ended.err;
    const Json json = ended.json();
    EXPECT_EQ(json["verdict"], "unknown");
    EXPECT_EQ(json["scenario"], "unclean-election");
    EXPECT_TRUE(contains(json["reasons"], "cut-short")) << ended.out;
    EXPECT_NE(ended.err.find("the run was cut short"), std::string::npos) << ended.err;
}

/// When the signal comes: so long after something could be seen.
struct Moment {
    const char* name;
    const char* file;  // of the run directory
    const char* text;  // in it
    int after_ms;
};
void PrintTo(const Moment& moment, std::ostream* out) { *out << moment.name; }

bool has_come(const TempDir& dir, const Moment& moment) {
    const std::string text = read_text(dir.file("runs/latest/") + moment.file);
    return text.find(moment.text) != std::string::npos;
}

/// Until the moment has come. The wait after it is what is tested, not a synchronisation.
void wait_for(const TempDir& dir, const Moment& moment) {
    ASSERT_TRUE(eventually(seconds(60), [&] { return has_come(dir, moment); }))
        << read_text(dir.file("stderr.txt"));
    std::this_thread::sleep_for(milliseconds(moment.after_ms));
}

class KilledAt : public ::testing::TestWithParam<Moment> {};

TEST_P(KilledAt, TheHarnessLeavesNothingButWhatCanBeJudged) {
    const TempDir dir;
    Program program(dir, {"run", "unclean-election", "--seed", "7", "--out", dir.file("runs"), "--json"});
    ASSERT_NO_FATAL_FAILURE(wait_for(dir, GetParam()));
    const int slot = slot_of(dir.file("runs/latest"));
    program.kill_now();
    EXPECT_TRUE(eventually(seconds(2), [&] { return nodes_of(dir.path()).empty(); }))
        << joined(nodes_of(dir.path()));
    if (slot > 0) {
        EXPECT_TRUE(eventually(seconds(2), [&] { return listeners_of(slot).empty(); }))
            << joined(listeners_of(slot));
    }
    expect_cut_short(dir);
}

TEST_P(KilledAt, ANodeIsMissedAndNothingElseIsBlamed) {
    const TempDir dir;
    // It will not come back, and nobody needs to wait long for that.
    Program program(dir, {"run", "unclean-election", "--seed", "7", "--out", dir.file("runs"), "--json",
                          "--set", "heal.progress_within=5s"});
    ASSERT_NO_FATAL_FAILURE(wait_for(dir, GetParam()));
    std::vector<std::string> nodes;
    ASSERT_TRUE(eventually(seconds(10), [&] { return !(nodes = nodes_of(dir.path())).empty(); }));
    // One of the nodes, another one at each moment.
    const std::size_t which = static_cast<std::size_t>(GetParam().after_ms) % nodes.size();
    ASSERT_EQ(::kill(std::atoi(nodes[which].c_str()), SIGKILL), 0) << nodes[which];
    const Ended ended = program.wait();
    EXPECT_TRUE(nodes_of(dir.path()).empty()) << joined(nodes_of(dir.path()));
    // During the start the harness gives up; its directory is judged all the same.
    if (ended.exit_code == 70) return expect_cut_short(dir);
    const Json json = ended.json();
    ASSERT_TRUE(json.is_object());
    EXPECT_NE(json["verdict"], "valid") << nodes[which] << "\n" << ended.out << ended.err;
    // Who ended it cannot be told; that it ended is all there is to blame it for.
    const std::set<std::string> blamed{"node-crashed", "stuck"};
    for (const Json& violation : json["violations"])
        EXPECT_TRUE(blamed.contains(violation)) << nodes[which] << "\n" << ended.out << ended.err;
    const Ended again = highwater(dir, {"check", dir.file("runs/latest"), "--json"});
    EXPECT_EQ(again.exit_code, ended.exit_code) << again.out << again.err;
}

std::vector<Moment> moments() {
    const char* const pause = "\"pause\"";
    std::vector<Moment> all{{"BeforeTheHistory", "scenario.json", "unclean", 0},
                            {"AtTheStart", "history.jsonl", "meta", 13},
                            {"OnceNodesRun", "nodes/3/trace-1.jsonl", "start", 61},
                            {"UnderLoad", "history.jsonl", "produce", 302},
                            {"InAFault", "history.jsonl", pause, 1507},
                            {"AfterADeath", "history.jsonl", "\"kill\"", 3},
                            {"InHeal", "history.jsonl", "\"heal\"", 0},
                            {"LateInHeal", "history.jsonl", "\"heal\"", 150}};
    if (std::getenv("HIGHWATER_NIGHTLY") == nullptr) return all;
    static std::vector<std::string> names;
    names.reserve(100);
    for (int i = 0; i < 100; ++i) {
        names.push_back("After" + std::to_string(i * 47) + "ms");
        all.push_back({names.back().c_str(), "scenario.json", "unclean", i * 47});
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(AnyMoment, KilledAt, ::testing::ValuesIn(moments()),
                         [](const auto& moment) { return std::string(moment.param.name); });

}  // namespace
}  // namespace highwater::test
