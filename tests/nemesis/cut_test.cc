// Cuts, refusals, probes, bypasses, and rules that make no sense.
#include "nemesis/probe.h"
#include "tests/nemesis/network_fixture.h"

namespace highwater::nemesis {
namespace {

TEST_F(NetworkTest, CutResetsOldAndNewConnections) {
    FrameClient client = open(2, 1);
    ASSERT_TRUE(client.round_trip({wire::ApiKey::Fetch, 1, 0}));
    FrameClient back = open(1, 2);
    ASSERT_TRUE(back.round_trip({wire::ApiKey::Fetch, 2, 0}));
    FrameClient other = open(2, 100);
    add({.id = "cut", .source = 2, .destination = 1, .kind = FaultKind::Cut});
    EXPECT_EQ(client.wait_end(), ECONNRESET);
    EXPECT_EQ(back.wait_end(), ECONNRESET);
    EXPECT_TRUE(eventually([&] { return one_->ended() == 1; }));
    EXPECT_TRUE(other.round_trip({wire::ApiKey::Fetch, 3, 0}));
    EXPECT_EQ(open(2, 1).wait_end(), ECONNRESET);
    EXPECT_EQ(one_->accepted(), 1U);
    EXPECT_EQ(network_->stats(2, 1).connections_cut, 3U);
    EXPECT_EQ(network_->connections(2, 1), 0U);
    remove("cut");
    EXPECT_TRUE(open(2, 1).round_trip({wire::ApiKey::Fetch, 4, 0}));
}

TEST_F(NetworkTest, CutOfOnePartLeavesTheOtherConnectionAlone) {
    FrameClient client = open(2, 1);
    ASSERT_TRUE(client.round_trip({wire::ApiKey::Fetch, 1, 0}));
    FrameClient back = open(1, 2);
    add({.id = "cut", .source = 2, .destination = 1, .kind = FaultKind::Cut, .part = FramePart::Request});
    EXPECT_EQ(client.wait_end(), ECONNRESET);
    EXPECT_TRUE(back.round_trip({wire::ApiKey::Fetch, 2, 0}));
}

TEST_F(NetworkTest, CutOfOneApiResetsAtItsFirstFrame) {
    FrameClient client = open(2, 1);
    add({.id = "cut", .source = 2, .destination = 1, .kind = FaultKind::Cut, .api = "Fetch"});
    ASSERT_TRUE(client.round_trip({wire::ApiKey::Metadata, 1, 0}));
    ASSERT_TRUE(client.send({wire::ApiKey::Fetch, 2, 0}));
    EXPECT_EQ(client.wait_end(), ECONNRESET);
    EXPECT_EQ(one_->received(), (std::vector<std::int32_t>{1}));
    EXPECT_TRUE(open(2, 1).round_trip({wire::ApiKey::Metadata, 3, 0}));
}

TEST_F(NetworkTest, CutEndsHeldConnections) {
    add({.id = "hold", .source = 2, .destination = 1, .kind = FaultKind::Hold});
    FrameClient client = open(2, 1);
    ASSERT_TRUE(client.send({wire::ApiKey::Fetch, 1, 0}));
    add({.id = "cut", .source = 2, .destination = 1, .kind = FaultKind::Cut});
    EXPECT_EQ(client.wait_end(), ECONNRESET);
    ASSERT_TRUE(network_->heal().ok);
    EXPECT_TRUE(network_->rules().empty());
    EXPECT_TRUE(open(2, 1).round_trip({wire::ApiKey::Fetch, 2, 0}));
    EXPECT_EQ(one_->received(), (std::vector<std::int32_t>{2}));
}

TEST_F(NetworkTest, RefuseStopsNewConnectionsOnly) {
    FrameClient client = open(2, 1);
    ASSERT_TRUE(client.round_trip({wire::ApiKey::Fetch, 1, 0}));
    add({.id = "refuse", .source = 2, .destination = 1, .kind = FaultKind::Refuse});
    EXPECT_TRUE(client.round_trip({wire::ApiKey::Fetch, 2, 0}));
    FrameClient refused;
    EXPECT_EQ(refused.connect(plan().address(2, 1), kInternalPort), ECONNREFUSED);
    EXPECT_TRUE(open(1, 2).round_trip({wire::ApiKey::Fetch, 3, 0}));
    add({.id = "again", .source = 2, .destination = 1, .kind = FaultKind::Refuse});
    remove("refuse");
    EXPECT_EQ(refused.connect(plan().address(2, 1), kInternalPort), ECONNREFUSED);
    remove("again");
    EXPECT_TRUE(open(2, 1).round_trip({wire::ApiKey::Fetch, 4, 0}));
}

TEST_F(NetworkTest, AListenerTakenMeanwhileIsReported) {
    add({.id = "refuse", .source = 2, .destination = 1, .kind = FaultKind::Refuse});
    FrameServer thief(plan().address(2, 1), kInternalPort);
    const FaultEffect effect = network_->remove_rule("refuse");
    EXPECT_FALSE(effect.ok);
    EXPECT_NE(effect.detail.find(plan().address(2, 1)), std::string::npos) << effect.detail;
    EXPECT_FALSE(Network::start(plan(), members_, {}));
}

TEST_F(NetworkTest, ProbeMakesARoundTrip) {
    const Instant deadline = monotonic_now() + kPatience;
    EXPECT_TRUE(network_->probe(2, 1, deadline));
    EXPECT_TRUE(network_->probe(1, 100, deadline));
    // A probe is no traffic of the peers.
    EXPECT_EQ(network_->stats(2, 1).frames, 0U);
    EXPECT_FALSE(network_->round_trip_since(2, 1, Instant{0}));
    EXPECT_EQ(network_->connections(2, 1), 0U);

    const Status nobody = network_->probe(150, 2, deadline);
    EXPECT_FALSE(nobody);
    const Status senseless = network_->probe(100, 1, deadline);
    ASSERT_FALSE(senseless);
    EXPECT_EQ(senseless.error().message, "100 opens no connection to 1");
}

TEST_F(NetworkTest, ProbeFailsOnFaultedPathsInBothDirections) {
    for (const FaultKind kind : {FaultKind::Hold, FaultKind::Cut, FaultKind::Refuse}) {
        add({.id = "there", .source = 2, .destination = 1, .kind = kind});
        EXPECT_FALSE(network_->probe(2, 1, monotonic_now() + milliseconds(50))) << fault_kind_name(kind);
        remove("there");
        EXPECT_TRUE(network_->probe(2, 1, monotonic_now() + kPatience)) << fault_kind_name(kind);
    }
    add({.id = "back", .source = 1, .destination = 2, .kind = FaultKind::Hold});
    const Status held = network_->probe(2, 1, monotonic_now() + milliseconds(50));
    ASSERT_FALSE(held);
    EXPECT_EQ(held.error().message, "no answer in time");
}

TEST_F(NetworkTest, FindsConnectionsThatStepAroundTheRelays) {
    const auto bypasses = [&] {
        return network_->bypasses().value_or(std::vector<std::string>{"unreadable"});
    };
    FrameClient relayed = open(2, 1);
    ASSERT_TRUE(relayed.round_trip({wire::ApiKey::Fetch, 1, 0}));
    FrameClient observer;
    ASSERT_EQ(observer.connect(plan().real_address(1), kInternalPort, plan().observer_source()), 0);
    ASSERT_TRUE(observer.round_trip({wire::ApiKey::Fetch, 2, 0}));
    EXPECT_TRUE(bypasses().empty());
    FrameClient bypass;
    ASSERT_EQ(bypass.connect(plan().real_address(1), kInternalPort), 0);
    ASSERT_TRUE(bypass.round_trip({wire::ApiKey::Fetch, 3, 0}));
    ASSERT_EQ(bypasses().size(), 1U);
    EXPECT_NE(bypasses()[0].find("-> " + plan().real_address(1) + ":19091"), std::string::npos)
        << bypasses()[0];
    bypass.close();
    EXPECT_TRUE(eventually([&] { return bypasses().empty(); }));
}

TEST_F(NetworkTest, RefusesRulesThatWouldDoNothing) {
    const PathRule good{.id = "r", .source = 2, .destination = 1, .kind = FaultKind::Hold};
    const auto detail = [&](PathRule rule) {
        const FaultEffect effect = network_->add_rule(rule);
        EXPECT_FALSE(effect.ok);
        return effect.detail;
    };
    PathRule rule = good;
    rule.api = "Fetsch";
    EXPECT_EQ(detail(rule), "rule 'r' on 2->1: no API is called 'Fetsch' (a number works for any)");
    rule = good;
    rule.destination = 3;
    EXPECT_EQ(detail(rule), "rule 'r' on 2->3: no connection carries this");
    rule = good;
    rule.source = 100;
    rule.part = FramePart::Request;  // controllers open nothing to brokers
    EXPECT_EQ(detail(rule), "rule 'r' on 100->1: no connection carries this");
    rule = good;
    rule.kind = FaultKind::Kill;
    EXPECT_EQ(detail(rule), "rule 'r' on 2->1: kill is no fault of a path");
    rule = good;
    rule.kind = FaultKind::Delay;
    EXPECT_EQ(detail(rule), "rule 'r' on 2->1: a delay of nothing");
    rule.delay = milliseconds(1);
    rule.jitter = milliseconds(2);
    EXPECT_NE(detail(rule), "");
    rule = good;
    rule.kind = FaultKind::Refuse;
    rule.api = "Fetch";
    EXPECT_NE(detail(rule), "");
    EXPECT_TRUE(network_->rules().empty());
    add(good);
    EXPECT_EQ(detail(good), "rule 'r' on 2->1: a rule of this id is in force");
    const FaultEffect unknown = network_->remove_rule("q");
    EXPECT_FALSE(unknown.ok);
    EXPECT_EQ(unknown.detail, "no rule 'q' is in force");
}

}  // namespace
}  // namespace highwater::nemesis
