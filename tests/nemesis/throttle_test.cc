// Bandwidth limits, what waits and what has passed, and the proofs of rules.
#include "nemesis/heal.h"
#include "tests/nemesis/network_fixture.h"

namespace highwater::nemesis {
namespace {

TEST_F(NetworkTest, ThrottleTakesItsTimeOverAllConnections) {
    constexpr std::int64_t kRate = 1'000'000;
    constexpr std::size_t kEach = 100'000;
    add({.id = "slow", .source = 2, .destination = 1, .kind = FaultKind::Throttle, .rate = kRate});
    FrameClient first = open(2, 1);
    FrameClient second = open(2, 1);
    const Instant began = monotonic_now();
    ASSERT_TRUE(first.send({wire::ApiKey::Produce, 1, kEach}));
    ASSERT_TRUE(second.send({wire::ApiKey::Produce, 2, kEach}));
    EXPECT_EQ(first.receive(), 1);
    EXPECT_EQ(second.receive(), 2);
    // Two connections share what one path may carry.
    EXPECT_GE(monotonic_now() - began, milliseconds(200));
    const FaultEffect undone = network_->remove_rule("slow");
    ASSERT_TRUE(undone.ok);
    EXPECT_NE(undone.proof.find("bytes passed in"), std::string::npos) << undone.proof;
}

TEST_F(NetworkTest, AThrottledConnectionDoesNotStopTheOther) {
    // Both are served in turns: a small frame is there long before the large one is through.
    add({.id = "slow", .source = 2, .destination = 1, .kind = FaultKind::Throttle, .rate = 200'000});
    FrameClient bulk = open(2, 1);
    ASSERT_TRUE(bulk.send({wire::ApiKey::Produce, 1, 4'000'000}));
    ASSERT_TRUE(eventually([&] { return one_->received_bytes() > 4'000; }));
    FrameClient small = open(2, 1);
    EXPECT_TRUE(small.round_trip({wire::ApiKey::Fetch, 2, 0}));
    EXPECT_LT(one_->received_bytes(), 4'000'000U);
    remove("slow");
    EXPECT_EQ(bulk.receive(), 1) << "what waits goes at once when the limit is gone";
}

TEST_F(NetworkTest, ThrottleOfOneApiLeavesTheOthersAlone) {
    add({.id = "slow",
         .source = 2,
         .destination = 1,
         .kind = FaultKind::Throttle,
         .rate = 1,
         .api = "Produce"});
    FrameClient client = open(2, 1);
    EXPECT_TRUE(client.round_trip({wire::ApiKey::Fetch, 1, 100'000}));
    ASSERT_TRUE(client.send({wire::ApiKey::Produce, 2, 10}));
    EXPECT_TRUE(eventually([&] { return network_->queued_bytes(2, 1) == 22; }));
    const FaultEffect nothing =
        network_->add_rule({.id = "none", .source = 2, .destination = 1, .kind = FaultKind::Throttle});
    EXPECT_EQ(nothing.detail, "rule 'none' on 2->1: a bandwidth of nothing");
}

TEST_F(NetworkTest, CountsWhatWaitsAndWhatHasPassedSince) {
    FrameClient client = open(2, 1);
    ASSERT_TRUE(client.round_trip({wire::ApiKey::Fetch, 1, 0}));
    // The relay counts an answer a moment after its receiver may have it.
    ASSERT_TRUE(eventually([&] { return network_->stats(1, 2).frames == 1; }));
    const Instant since = monotonic_now();
    add({.id = "hold",
         .source = 1,
         .destination = 2,
         .kind = FaultKind::Hold,
         .api = "Fetch",
         .part = FramePart::Response});
    ASSERT_TRUE(client.send({wire::ApiKey::Fetch, 2, 0}));
    ASSERT_TRUE(eventually([&] { return network_->waiting(1, 2, kFetch, FramePart::Response) == 1; }));
    EXPECT_EQ(network_->waiting(1, 2, kMetadata, FramePart::Response), 0U);
    EXPECT_EQ(network_->waiting(1, 2, kFetch, FramePart::Request), 0U);
    EXPECT_EQ(network_->waiting(1, 2, kFetch, FramePart::Both), 1U);
    EXPECT_EQ(network_->passed_since(2, 1, kFetch, FramePart::Request, since), 1U);
    EXPECT_EQ(network_->passed_since(2, 1, kMetadata, FramePart::Request, since), 0U);
    EXPECT_EQ(network_->passed_since(1, 2, kFetch, FramePart::Response, since), 0U);
    remove("hold");
    EXPECT_EQ(client.receive(), 2);
    EXPECT_TRUE(
        eventually([&] { return network_->passed_since(1, 2, kFetch, FramePart::Both, since) == 1; }));
    EXPECT_EQ(network_->waiting(1, 2, kFetch, FramePart::Both), 0U);
}

TEST_F(NetworkTest, RemovedRulesTellWhatTheyDid) {
    add({.id = "hold", .source = 2, .destination = 1, .kind = FaultKind::Hold});
    FrameClient stays = open(2, 1);
    ASSERT_TRUE(stays.send({wire::ApiKey::Fetch, 1, 0}));
    FrameClient closes = open(2, 1);
    ASSERT_TRUE(closes.send({wire::ApiKey::Fetch, 2, 0}));
    closes.close();
    ASSERT_TRUE(eventually([&] { return network_->waiting(2, 1, kFetch, FramePart::Request) == 2; }));
    // The end of a connection is behind its bytes; a later answer elsewhere shows that it was seen.
    ASSERT_TRUE(open(2, 100).round_trip({wire::ApiKey::Fetch, 3, 0}));
    const FaultEffect released = network_->remove_rule("hold");
    ASSERT_TRUE(released.ok) << released.detail;
    EXPECT_EQ(released.proof, "2 frames waited, 1 of closed senders delivered late");
    EXPECT_EQ(stays.receive(), 1);

    FrameClient client = open(2, 1);
    ASSERT_TRUE(client.round_trip({wire::ApiKey::Fetch, 4, 0}));
    add({.id = "cut", .source = 2, .destination = 1, .kind = FaultKind::Cut});
    EXPECT_EQ(client.wait_end(), ECONNRESET);
    EXPECT_NE(network_->remove_rule("cut").proof.find("connections reset"), std::string::npos);
}

class HealTest : public NetworkTest {
protected:
    std::vector<PathProof> prove(const Grudge& paths, Instant healed, Duration patience = kPatience) {
        ProofOptions options;
        options.healed = healed;
        options.patience = patience;
        options.wait = [this](Instant) {
            if (traffic) traffic();
        };
        return prove_healed(*network_, paths, options);
    }
    std::function<void()> traffic;
};

TEST_F(HealTest, TrafficProvesAPathThatCarriesSome) {
    FrameClient client = open(2, 1);
    std::int32_t next = 1;
    traffic = [&] { EXPECT_TRUE(client.round_trip({wire::ApiKey::Fetch, next++, 0})); };
    traffic();
    const std::vector<PathProof> proofs = prove({{2, 1}, {1, 2}, {2, 100}}, monotonic_now());
    ASSERT_EQ(proofs.size(), 3U) << "conn(1,2), conn(2,1), conn(2,100)";
    EXPECT_TRUE(proofs[0].ok);
    EXPECT_FALSE(proofs[0].by_traffic) << "nobody has opened conn(1,2)";
    EXPECT_EQ(proofs[1].source, 2);
    EXPECT_EQ(proofs[1].destination, 1);
    EXPECT_TRUE(proofs[1].by_traffic);
    EXPECT_TRUE(proofs[2].ok);
    EXPECT_FALSE(proofs[2].by_traffic);
}

TEST_F(HealTest, APathThatDoesNotAnswerIsNotHealed) {
    add({.id = "left", .source = 1, .destination = 2, .kind = FaultKind::Hold});
    const std::vector<PathProof> proofs = prove({{2, 1}}, monotonic_now(), milliseconds(50));
    ASSERT_EQ(proofs.size(), 2U);
    EXPECT_FALSE(proofs[0].ok);
    EXPECT_FALSE(proofs[1].ok);
    EXPECT_EQ(proofs[1].detail, "no answer in time");
}

}  // namespace
}  // namespace highwater::nemesis
