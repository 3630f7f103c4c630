// Goal: a log on real files survives SIGKILL at any moment: nothing that was appended, let alone flushed, is
// missing, what is there is valid, and the next life goes on from it.
// Method: program/log_writer.cc writes and says what it has done; it is killed at a random moment, a copy of
// its directory is looked at, and the next writer starts on the same directory. HIGHWATER_NIGHTLY=1: 300
// lives; otherwise 30.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/rng.h"
#include "harness/child.h"
#include "node/log/checkpoint.h"
#include "tests/node_log_kill/life.h"
#include "tests/node_log_kill/log_checks.h"
#include "tests/node_log_kill/promise.h"

namespace highwater::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSeed = 20240229;
/// Beyond that the reading again and again takes longer than the writing: begin anew.
constexpr std::uint64_t kLargestLog = 32U << 20U;

class LogKill : public testing::Test {
protected:
    void SetUp() override {
        root = fs::path(testing::TempDir()) / fmt::format("log-kill-{}", ::getpid());
        fs::remove_all(root);
        fs::create_directories(root);
    }
    void TearDown() override {
        if (!HasFailure()) fs::remove_all(root);
    }

    /// What the writer has said from byte `from` on; a line that is not whole yet is left for later.
    std::vector<std::string> lines_from(std::uintmax_t from) const {
        std::ifstream in(said);
        in.seekg(static_cast<std::streamoff>(from));
        std::vector<std::string> lines;
        for (std::string line; std::getline(in, line) && !in.eof();) lines.push_back(line);
        return lines;
    }

    /// One life: until it has done `steps` steps and `more` time has passed.
    void live_and_die(std::uint64_t seed, std::size_t steps, Duration more) {
        const std::uintmax_t before = fs::exists(said) ? fs::file_size(said) : 0;
        auto child = harness::Child::launch({.program = HW_BIN_DIR "/highwater-log-writer",
                                             .args = {log_root.string(), fmt::to_string(seed)},
                                             .output_file = said.string()});
        ASSERT_TRUE(child) << child.error().message;
        const Instant deadline = monotonic_now() + seconds(30);
        while (lines_from(before).size() < steps && !child->poll_exit()) {
            ASSERT_LT(monotonic_now(), deadline) << "only " << lines_from(before).size() << " steps";
            std::this_thread::sleep_for(milliseconds(1));
        }
        // The moment of the kill, not a wait for anything.
        for (const Instant until = monotonic_now() + more; monotonic_now() < until;)
            std::this_thread::yield();
        const auto end = child->kill(monotonic_now() + seconds(20));
        ASSERT_TRUE(end);
        promise.opened = -1;
        promise.steps = 0;
        const Offset ended = promise.end();
        for (const std::string& line : lines_from(before)) promise.hear(line);
        EXPECT_EQ(promise.error, "");
        EXPECT_EQ(end->signal, SIGKILL) << end->to_string();
        // What the copies showed is what the next life found.
        if (promise.opened >= 0) {
            EXPECT_EQ(promise.opened, ended);
        }
        // The last line may be torn: the next life's output must not grow on it.
        std::ofstream(said, std::ios::app) << "\n";
    }

    /// Opens a copy of the directory and returns what it holds.
    std::vector<KeptBatch> look(bool from_recovery_point) {
        const fs::path copy = root / "copy";
        fs::remove_all(copy);
        fs::copy(log_root, copy, fs::copy_options::recursive);
        node::FileStorage storage(copy.string());
        node::LogStart start;
        const auto text = storage.read_file(kRecoveryPoints);
        EXPECT_TRUE(text) << text.error().message;
        if (from_recovery_point && text && *text) {
            const auto points = node::parse_offset_checkpoint(as_text(**text), kRecoveryPoints);
            EXPECT_TRUE(points) << points.error().message;
            if (points) start.recovery_point = points->at({"t", 0});
        }
        const auto log = node::PartitionLog::open(storage, "t-0", kLifeSettings, start);
        EXPECT_TRUE(log) << log.error().message;
        if (!log) return {};
        torn += (*log)->recovered_cut_bytes() > 0 ? 1 : 0;
        bytes = (*log)->size_bytes();
        segments += static_cast<int>((*log)->segment_count());
        check_indexes(storage, "t-0");
        return checked_batches(**log);
    }

    void check_survival() {
        const std::vector<KeptBatch> held = look(true);
        ASSERT_GE(held.size(), promise.batches.size());
        for (std::size_t i = 0; i < promise.batches.size(); ++i)
            ASSERT_EQ(held[i], promise.batches[i]) << "batch " << i;
        EXPECT_GE(held.empty() ? 0 : held.back().last + 1, promise.flushed);
        // The recovery point only spares reading.
        EXPECT_EQ(look(false), held);
        promise.batches = held;
    }

    fs::path root;
    fs::path log_root;
    fs::path said;
    Promise promise;
    std::uint64_t bytes = 0;
    int torn = 0;
    int segments = 0;
};

TEST_F(LogKill, NothingWrittenIsMissingAfterAKillAtAnyMoment) {
    const int lives = std::getenv("HIGHWATER_NIGHTLY") != nullptr ? 300 : 30;
    Rng rng(kSeed);
    int generation = 0;
    int steps = 0;
    said = root / "said";
    log_root = root / "log-0";
    fs::create_directories(log_root);
    for (int life = 0; life < lives; ++life) {
        SCOPED_TRACE(fmt::format("life {} of seed {}", life, kSeed));
        // One in five dies while it opens the log.
        const std::size_t wanted = rng.chance(20) ? 0 : static_cast<std::size_t>(rng.between(1, 250));
        ASSERT_NO_FATAL_FAILURE(
            live_and_die(rng.next(), wanted, std::chrono::microseconds(rng.between(0, 4000))));
        steps += promise.steps;
        ASSERT_NO_FATAL_FAILURE(check_survival());
        if (HasFailure()) break;
        if (bytes > kLargestLog) {
            log_root = root / fmt::format("log-{}", ++generation);
            fs::create_directories(log_root);
            promise = {};
        }
    }
    // Otherwise too little happened to prove anything.
    EXPECT_GT(steps, lives * 20);
    EXPECT_GT(segments, lives);
    fmt::print("{} lives, {} steps, {} torn ends cut, {} logs\n", lives, steps, torn, generation + 1);
}

}  // namespace
}  // namespace highwater::test
