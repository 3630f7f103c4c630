// An outgoing connection: one request at a time, backoff that doubles up to a second, timeouts that close.
#include "node/server/channel.h"

#include <gtest/gtest.h>

#include "base/overloaded.h"
#include "wire/messages/broker_heartbeat.h"

namespace highwater::node {
namespace {

class ChannelTest : public ::testing::Test {
protected:
    void ask(Instant at, std::string tag = "") {
        channel.request(at, wire::BrokerHeartbeatRequest{}, 1,
                        [this, tag](Instant, const Result<BytesView>& frame) {
                            outcomes.push_back(tag + (frame ? "answered" : frame.error().message));
                        });
    }
    /// "open 1", "send 1", "close 1" since the last call.
    std::vector<std::string> network() {
        std::vector<std::string> actions;
        for (const NetworkAction& action : outbox.take().network) {
            actions.push_back(std::visit(
                overloaded{[](const Open& open) {
                               return fmt::format("open {} {}:{}", open.conn, open.host, open.port);
                           },
                           [](const Send& send) { return fmt::format("send {}", send.conn); },
                           [](const Close& close) { return fmt::format("close {}", close.conn); }},
                action));
        }
        return actions;
    }

    using Actions = std::vector<std::string>;
    Outbox outbox;
    Channel channel{outbox, "1", "c100", 9, milliseconds(2000)};
    std::vector<std::string> outcomes;
    Instant now{1'000'000'000};
};

TEST_F(ChannelTest, OpensOnTheFirstRequestAndKeepsTheConnection) {
    ask(now);
    EXPECT_EQ(network(), (Actions{"open 1 c100:9"}));
    channel.connected(now, 1);
    EXPECT_EQ(network(), (Actions{"send 1"}));
    EXPECT_FALSE(channel.idle());
    channel.frame(now, 1, Bytes{1});
    EXPECT_TRUE(channel.idle());
    EXPECT_EQ(outcomes, (Actions{"answered"}));
    ask(now);
    EXPECT_EQ(network(), (Actions{"send 1"}));
}

TEST_F(ChannelTest, BackoffDoublesFrom50MsToASecondAndEndsWithAConnection) {
    std::vector<std::int64_t> waits;
    ConnId conn = 1;
    for (int attempt = 0; attempt < 7; ++attempt, conn += 2) {
        ask(now);
        if (attempt > 0) {
            EXPECT_EQ(network(), Actions{}) << "opened before the backoff was over";
            const Instant due = channel.deadline();
            waits.push_back((due - now) / milliseconds(1));
            now = due;
            channel.tick(now);
        }
        EXPECT_EQ(network(), (Actions{fmt::format("open {} c100:9", conn)}));
        EXPECT_TRUE(channel.disconnected(now, conn, "refused"));
    }
    EXPECT_EQ(waits, (std::vector<std::int64_t>{50, 100, 200, 400, 800, 1000}));
    EXPECT_EQ(outcomes.size(), 7U);

    now = now + seconds(1);
    ask(now);
    channel.connected(now, conn);
    network();
    channel.disconnected(now, conn, "reset");
    ask(now);
    EXPECT_EQ((channel.deadline() - now) / milliseconds(1), 50);
}

TEST_F(ChannelTest, ATimeoutClosesSoThatALateAnswerCannotBeMistaken) {
    ask(now);
    channel.connected(now, 1);
    network();
    EXPECT_EQ(channel.deadline(), now + milliseconds(2000));
    channel.tick(now + milliseconds(1999));
    EXPECT_TRUE(outcomes.empty());
    channel.tick(now + milliseconds(2000));
    EXPECT_EQ(outcomes, (Actions{"request timed out"}));
    EXPECT_EQ(network(), (Actions{"close 1"}));
    EXPECT_FALSE(channel.frame(now + milliseconds(2001), 1, Bytes{1}))
        << "the old connection is not this channel's any more";
}

TEST_F(ChannelTest, ARequestThatFindsNoConnectionTimesOutToo) {
    ask(now);
    channel.tick(now + milliseconds(2000));
    EXPECT_EQ(outcomes, (Actions{"request timed out"}));
    EXPECT_EQ(network(), (Actions{"open 1 c100:9", "close 1"}));
}

TEST_F(ChannelTest, AnAnswerThatNothingAskedForClosesTheConnection) {
    ask(now);
    channel.connected(now, 1);
    channel.frame(now, 1, Bytes{1});
    network();
    EXPECT_TRUE(channel.frame(now, 1, Bytes{2}));
    EXPECT_EQ(network(), (Actions{"close 1"}));
    EXPECT_EQ(outcomes.size(), 1U);
}

TEST_F(ChannelTest, OtherConnectionsAreNotItsOwn) {
    ask(now);
    EXPECT_FALSE(channel.connected(now, 3));
    EXPECT_FALSE(channel.frame(now, 3, Bytes{1}));
    EXPECT_FALSE(channel.disconnected(now, 3, "gone"));
    EXPECT_TRUE(outcomes.empty());
}

TEST_F(ChannelTest, TheCompletionMayAskAgain) {
    ask(now, "first ");
    channel.connected(now, 1);
    bool asked = false;
    channel.frame(now, 1, Bytes{1});
    channel.request(now, wire::BrokerHeartbeatRequest{}, 1, [&](Instant at, const Result<BytesView>&) {
        asked = true;
        ask(at, "second ");
    });
    channel.frame(now, 1, Bytes{1});
    EXPECT_TRUE(asked);
    EXPECT_FALSE(channel.idle());
    channel.frame(now, 1, Bytes{1});
    EXPECT_EQ(outcomes, (Actions{"first answered", "second answered"}));
}

}  // namespace
}  // namespace highwater::node
