// The whole node in simulation under random faults, and that the invariants notice a broken node.
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
        "{:.0f} s simulated: {} steps, {} elections ({} unclean), {} ISR changes, {} truncations, {} "
        "acks=all, {} reads\n",
        to_seconds(simulated), counts.steps, counts.elections, counts.unclean_elections, counts.isr_changes,
        counts.truncations, counts.acknowledged, counts.served);
}

TEST(Sim, TheSameSeedIsTheSameRun) {
    const SeedResult first = run_seed(7);
    const SeedResult second = run_seed(7);
    EXPECT_EQ(first.counts.steps, second.counts.steps);
    EXPECT_EQ(first.simulated, second.simulated);
}

/// Broker 1 leads and nothing reaches it from its followers; then a record is written with `acks`.
class DirectedSim : public testing::Test {
protected:
    void write_while_followers_are_held(const node::Bugs& bugs, std::int16_t acks) {
        ClusterOptions options;
        options.seed = 1;
        options.min_isr = 2;
        options.bugs = bugs;
        cluster_ = std::make_unique<Cluster>(options);
        ASSERT_TRUE(cluster_->start());
        for (const BrokerId follower : {2, 3}) cluster_->network().hold(follower, 1, wire::ApiKey::Fetch);
        client_ = std::make_unique<Client>(150, cluster_->scheduler(), cluster_->network());
        // The fetches that wait at the leader already are answered by the append, and the next ones are held.
        client_->call<wire::ProduceResponse>(
            1, test::produce_request(kTopic, 0, acks, 1000, test::batch_of({42}, 0)), test::kProduceVersion,
            seconds(5), [](const Result<wire::ProduceResponse>&) {});
        cluster_->run_until(seconds(2), [&] { return !client_->busy(); });
    }
    void read_at_leader() {
        client_->call<wire::FetchResponse>(1, test::fetch_request(kTopic, 0, 0, 0), test::kFetchVersion,
                                           seconds(5), [](const Result<wire::FetchResponse>&) {});
        cluster_->run_until(seconds(1), [&] { return !client_->busy(); });
    }

    std::unique_ptr<Cluster> cluster_;
    std::unique_ptr<Client> client_;
};

TEST_F(DirectedSim, AckOnAppendIsNoticed) {
    node::Bugs bugs;
    bugs.add(node::Bug::AckOnAppend);
    write_while_followers_are_held(bugs, -1);
    EXPECT_TRUE(cluster_->invariants().violated("AckQuorum"));
}

TEST_F(DirectedSim, ServingAboveTheHighWatermarkIsNoticed) {
    node::Bugs bugs;
    bugs.add(node::Bug::ServeAboveHw);
    write_while_followers_are_held(bugs, 1);
    read_at_leader();
    EXPECT_TRUE(cluster_->invariants().violated("FetchAboveHw"));
}

TEST_F(DirectedSim, ACorrectNodeIsSilentInTheSameSchedule) {
    for (const auto acks : {std::int16_t{-1}, std::int16_t{1}}) {
        write_while_followers_are_held({}, acks);
        read_at_leader();
        EXPECT_TRUE(cluster_->invariants().violations().empty())
            << cluster_->invariants().violations().front().detail;
    }
}

}  // namespace
}  // namespace highwater::sim
