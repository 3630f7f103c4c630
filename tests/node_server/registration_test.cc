// From a broker's start to its unfencing: when registrations, metadata fetches and heartbeats are sent.
#include <gtest/gtest.h>

#include "tests/node_server/cluster.h"

namespace highwater::test {
namespace {

using node::BrokerUnfenced;

TEST(Registration, BrokersMayStartBeforeTheirController) {
    Cluster cluster(2);
    cluster.start(1);
    cluster.start(2);
    cluster.advance(seconds(5));
    cluster.start(kController);
    ASSERT_TRUE(cluster.run_until([&] { return cluster.facts<BrokerUnfenced>(kController).size() == 2; },
                                  seconds(5)));
}

TEST(Registration, AControllerThatListensALittleLaterCostsLittle) {
    Cluster cluster(2);
    cluster.start(1);
    cluster.start(2);
    cluster.advance(milliseconds(40));
    cluster.start(kController);
    EXPECT_TRUE(cluster.run_until([&] { return cluster.facts<BrokerUnfenced>(kController).size() == 2; },
                                  milliseconds(150)));
}

TEST(Registration, ABrokerAsksToBeUnfencedAsSoonAsItHasCaughtUp) {
    Cluster cluster(1);
    cluster.start(kController);
    cluster.start(1);
    const Instant began = cluster.now();
    // The network here takes no time, so nothing that waits for a timer fits in.
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.facts<BrokerUnfenced>(kController).empty(); }));
    EXPECT_EQ(cluster.now(), began);
}

TEST(Registration, ARefusedRegistrationIsRepeatedAtOnceAndThenEverMoreSeldom) {
    Cluster cluster(2);
    cluster.start_all();
    cluster.kill(2);
    const auto sent = [&] { return cluster.requests_from(kController, "2"); };
    const std::size_t before = sent();
    cluster.start(2);  // its old session lives for three seconds more: all it can send is registrations
    cluster.advance(milliseconds(400));
    EXPECT_GE(sent() - before, 5U) << "20, 40, 80 and 160 ms apart";
    const std::size_t quick = sent();
    cluster.advance(milliseconds(2000));
    EXPECT_LE(sent() - quick, 5U) << "a sixth of the session timeout apart, less jitter";
    EXPECT_GE(sent() - quick, 4U);
    ASSERT_TRUE(cluster.run_until([&] { return cluster.facts<node::ServerRegistered>(2).size() == 2; }));
}

}  // namespace
}  // namespace highwater::test
