// The whole node in simulation under random faults. That a broken node is noticed: bug_test.cc.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/sim/seed_run.h"

namespace highwater::sim {
namespace {

/// 2,000 in all, in cases that can run beside each other.
constexpr std::uint64_t kSeedsPerCase = 250;

class SimSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SimSeeds, KeepTheInvariants) {
    Cluster::Counts counts;
    for (std::uint64_t i = 0; i < kSeedsPerCase; ++i) {
        const SeedResult result = run_seed(GetParam() * kSeedsPerCase + i);
        EXPECT_EQ(result.failure, "");
        counts += result.counts;
    }
    // A run in which nothing happens proves nothing.
    EXPECT_GT(counts.elections, 1000U);
    EXPECT_GT(counts.unclean_elections, 50U);
    EXPECT_GT(counts.last_known_elections, 20U);
    EXPECT_GT(counts.elr_elections, 20U);
    EXPECT_GT(counts.preferred_elections, 20U);
    EXPECT_GT(counts.isr_changes, 2000U);
    EXPECT_GT(counts.power_losses, 20U);
    EXPECT_GT(counts.truncations, 100U);
    EXPECT_GT(counts.acknowledged, 20'000U);
    EXPECT_GT(counts.served, 10'000U);
}

INSTANTIATE_TEST_SUITE_P(EachOf250, SimSeeds, testing::Range<std::uint64_t>(0, 8));

/// HIGHWATER_SIM_SEED=N: that seed with every event on stderr. HIGHWATER_SIM_SEEDS=A-B: a longer search.
/// Without them both forms run a little, so that they are known to work.
TEST(Sim, OneSeed) {
    const char* const seed = std::getenv("HIGHWATER_SIM_SEED");
    EXPECT_EQ(run_seed(seed == nullptr ? 1 : std::stoull(seed), {}, seed != nullptr).failure, "");
}

TEST(Sim, ManySeeds) {
    const char* const range = std::getenv("HIGHWATER_SIM_SEEDS");
    const std::string text = range == nullptr ? "2000-2004" : range;
    const std::uint64_t last = std::stoull(text.substr(text.find('-') + 1));
    Cluster::Counts counts;
    Duration simulated{0};
    for (std::uint64_t seed = std::stoull(text); seed <= last; ++seed) {
        const SeedResult result = run_seed(seed);
        EXPECT_EQ(result.failure, "");
        counts += result.counts;
        simulated += result.simulated;
    }
    fmt::print(
        "{:.0f} s simulated: {} steps, {} elections ({} unclean, {} from the ELR, {} of the last known "
        "leader), {} ISR changes, {} truncations, {} "
        "acks=all, {} reads\n",
        to_seconds(simulated), counts.steps, counts.elections, counts.unclean_elections, counts.elr_elections,
        counts.last_known_elections, counts.isr_changes, counts.truncations, counts.acknowledged,
        counts.served);
}

TEST(Sim, TheSameSeedIsTheSameRun) {
    const SeedResult first = run_seed(7);
    const SeedResult second = run_seed(7);
    EXPECT_EQ(first.counts.steps, second.counts.steps);
    EXPECT_EQ(first.simulated, second.simulated);
}

}  // namespace
}  // namespace highwater::sim
