// Relays without rules, delays, holds.
#include <numeric>

#include "nemesis/tcp_table.h"
#include "tests/nemesis/network_fixture.h"

namespace highwater::nemesis {
namespace {

std::vector<std::int32_t> numbers(std::int32_t from, std::int32_t to) {
    std::vector<std::int32_t> result(static_cast<std::size_t>(to - from));
    std::iota(result.begin(), result.end(), from);
    return result;
}

TEST_F(NetworkTest, RelaysAndCountsByPathAndApi) {
    const Instant before = monotonic_now();
    FrameClient client = open(2, 1);
    ASSERT_TRUE(client.round_trip({wire::ApiKey::Fetch, 1, 100}));
    ASSERT_TRUE(client.round_trip({wire::ApiKey::Metadata, 2, 0}));
    EXPECT_EQ(one_->received(), (std::vector<std::int32_t>{1, 2}));
    EXPECT_EQ(one_->peer(), plan().relay_source(2));
    EXPECT_TRUE(eventually([&] { return network_->stats(1, 2).frames == 2; }));
    EXPECT_EQ(network_->stats(2, 1).frames, 2U);
    EXPECT_EQ(network_->stats(2, 1).bytes, 12U + 100 + 12);
    EXPECT_EQ(network_->stats(1, 2).bytes, 8U + 100 + 8);
    EXPECT_EQ(network_->passed(2, 1, kFetch), 1U);
    EXPECT_EQ(network_->passed(1, 2, kFetch), 1U);
    EXPECT_EQ(network_->passed(1, 2, kMetadata), 1U);
    EXPECT_EQ(network_->frames_since(2, 1, before), 2U);
    EXPECT_EQ(network_->frames_since(2, 1, monotonic_now()), 0U);
    EXPECT_TRUE(network_->round_trip_since(2, 1, before));
    EXPECT_FALSE(network_->round_trip_since(2, 1, monotonic_now()));
    EXPECT_FALSE(network_->round_trip_since(1, 2, before));
    EXPECT_EQ(network_->connections(2, 1), 1U);
    client.close();
    EXPECT_TRUE(eventually([&] { return network_->connections(2, 1) == 0 && one_->ended() == 1; }));
}

TEST_F(NetworkTest, CallsTheHookForEveryFrame) {
    std::mutex mutex;
    std::vector<PassedFrame> frames;
    NetworkOptions options;
    options.on_frame = [&](const PassedFrame& frame) {
        const std::lock_guard lock(mutex);
        frames.push_back(frame);
    };
    start(std::move(options));
    FrameClient client = open(2, 100);
    ASSERT_TRUE(client.round_trip({wire::ApiKey::Fetch, 1, 0}));
    ASSERT_TRUE(eventually([&] { return network_->stats(100, 2).frames == 1; }));
    const std::lock_guard lock(mutex);
    ASSERT_EQ(frames.size(), 2U);
    EXPECT_EQ(frames[0].source, 2);
    EXPECT_EQ(frames[0].destination, 100);
    EXPECT_EQ(frames[0].part, FramePart::Request);
    EXPECT_EQ(frames[1].source, 100);
    EXPECT_EQ(frames[1].part, FramePart::Response);
    EXPECT_EQ(frames[1].api_key, kFetch);
}

TEST_F(NetworkTest, PassesLargeFramesThroughASmallQueue) {
    NetworkOptions options;
    options.max_queued_bytes = 256 * 1024;
    start(std::move(options));
    FrameClient client = open(2, 1);
    ASSERT_TRUE(client.send({wire::ApiKey::Produce, 1, 20 << 20}));
    EXPECT_EQ(client.receive(), 1);
}

TEST_F(NetworkTest, PassesWhatIsNoKafkaFrame) {
    FrameClient client = open(2, 1);
    const std::string text = "GET / HTTP/1.1\r\n\r\n";
    ASSERT_TRUE(client.send_raw(Bytes(text.begin(), text.end())));
    EXPECT_EQ(as_text(client.receive_raw(text.size())), text);
    EXPECT_EQ(network_->stats(2, 1).unframed_bytes, text.size());
    EXPECT_EQ(network_->stats(2, 1).frames, 0U);
}

TEST_F(NetworkTest, ResetsTheClientWhenNobodyListens) {
    FrameClient client = open(150, 2);  // no CLIENT listener there
    EXPECT_EQ(client.wait_end(), ECONNRESET);
    EXPECT_TRUE(eventually([&] { return network_->connections(150, 2) == 0; }));
}

TEST_F(NetworkTest, DelayKeepsOrder) {
    add({.id = "slow",
         .source = 2,
         .destination = 1,
         .kind = FaultKind::Delay,
         .delay = milliseconds(30),
         .jitter = milliseconds(25)});
    FrameClient client = open(2, 1);
    const Instant sent = monotonic_now();
    for (std::int32_t i = 0; i < 100; ++i) ASSERT_TRUE(client.send({wire::ApiKey::Fetch, i, 10}));
    for (std::int32_t i = 0; i < 100; ++i) ASSERT_EQ(client.receive(), i);
    EXPECT_GE(monotonic_now() - sent, milliseconds(5));
    EXPECT_EQ(one_->received(), numbers(0, 100));
    const Lateness lateness = network_->lateness();
    EXPECT_GT(lateness.count, 0U);
    EXPECT_LE(lateness.p50, lateness.p99);
    EXPECT_LE(lateness.p99, lateness.max);
}

TEST_F(NetworkTest, DelayOfAPathConcernsRequestsOneWayAndResponsesTheOther) {
    constexpr Duration kDelay = milliseconds(60);
    add({.id = "slow", .source = 1, .destination = 2, .kind = FaultKind::Delay, .delay = kDelay});
    FrameClient answered_late = open(2, 1);
    Instant sent = monotonic_now();
    ASSERT_TRUE(answered_late.round_trip({wire::ApiKey::Fetch, 1, 0}));
    EXPECT_GE(monotonic_now() - sent, kDelay);
    FrameClient asks_late = open(1, 2);
    sent = monotonic_now();
    ASSERT_TRUE(asks_late.round_trip({wire::ApiKey::Fetch, 2, 0}));
    EXPECT_GE(monotonic_now() - sent, kDelay);

    remove("slow");
    add({.id = "slow requests",
         .source = 1,
         .destination = 2,
         .kind = FaultKind::Delay,
         .delay = seconds(600),
         .part = FramePart::Request});
    EXPECT_TRUE(answered_late.round_trip({wire::ApiKey::Fetch, 3, 0}));
}

TEST_F(NetworkTest, RemovingADelayFreesWhatWaits) {
    add({.id = "slow", .source = 2, .destination = 1, .kind = FaultKind::Delay, .delay = seconds(600)});
    FrameClient client = open(2, 1);
    for (std::int32_t i = 0; i < 5; ++i) ASSERT_TRUE(client.send({wire::ApiKey::Fetch, i, 0}));
    ASSERT_TRUE(eventually([&] { return network_->queued_bytes(2, 1) == 5 * 12; }));
    EXPECT_TRUE(one_->received().empty());
    remove("slow");
    for (std::int32_t i = 0; i < 5; ++i) EXPECT_EQ(client.receive(), i);
}

TEST_F(NetworkTest, HoldOfOneApiWaitsAtItsFirstFrame) {
    add({.id = "hold",
         .source = 1,
         .destination = 2,
         .kind = FaultKind::Hold,
         .api = "Fetch",
         .part = FramePart::Response});
    FrameClient client = open(2, 1);
    ASSERT_TRUE(client.round_trip({wire::ApiKey::Metadata, 1, 0}));
    ASSERT_TRUE(client.send({wire::ApiKey::Fetch, 2, 0}));
    ASSERT_TRUE(client.send({wire::ApiKey::Metadata, 3, 0}));
    // Both answers are at the relay: the Fetch, and the Metadata behind it.
    ASSERT_TRUE(eventually([&] { return network_->queued_bytes(1, 2) == 16; }));
    EXPECT_EQ(one_->received(), (std::vector<std::int32_t>{1, 2, 3}));
    // Other connections flow, in both directions.
    FrameClient other = open(2, 1);
    ASSERT_TRUE(other.round_trip({wire::ApiKey::Metadata, 4, 0}));
    FrameClient back = open(1, 2);
    ASSERT_TRUE(back.round_trip({wire::ApiKey::Fetch, 5, 0}));
    EXPECT_EQ(client.receive(milliseconds(1)), std::nullopt);
    EXPECT_EQ(network_->passed(1, 2, kMetadata), 2U);
    remove("hold");
    EXPECT_EQ(client.receive(), 2);
    EXPECT_EQ(client.receive(), 3);
}

TEST_F(NetworkTest, ReleaseDeliversInOrder) {
    FrameClient client = open(2, 1);
    ASSERT_TRUE(client.round_trip({wire::ApiKey::Fetch, 0, 0}));
    add({.id = "hold", .source = 2, .destination = 1, .kind = FaultKind::Hold});
    for (std::int32_t i = 1; i < 200; ++i) ASSERT_TRUE(client.send({wire::ApiKey::Fetch, i, 50}));
    ASSERT_TRUE(eventually([&] { return network_->queued_bytes(2, 1) == 199 * 62; }));
    EXPECT_EQ(one_->received(), numbers(0, 1));
    const Instant released = monotonic_now();
    const FaultEffect effect = network_->heal();
    ASSERT_TRUE(effect.ok) << effect.detail;
    for (std::int32_t i = 1; i < 200; ++i) ASSERT_EQ(client.receive(), i);
    EXPECT_EQ(one_->received(), numbers(0, 200));
    EXPECT_EQ(network_->frames_since(2, 1, released), 199U);
    // What was asked before the release proves nothing about the time after it.
    EXPECT_FALSE(network_->round_trip_since(2, 1, released));
    ASSERT_TRUE(client.round_trip({wire::ApiKey::Fetch, 200, 0}));
    EXPECT_TRUE(network_->round_trip_since(2, 1, released));
}

TEST_F(NetworkTest, TwoHoldsReleaseOnlyWhenBothAreGone) {
    add({.id = "a", .source = 2, .destination = 1, .kind = FaultKind::Hold});
    add({.id = "b", .source = 2, .destination = 1, .kind = FaultKind::Hold, .api = "Fetch"});
    FrameClient client = open(2, 1);
    ASSERT_TRUE(client.send({wire::ApiKey::Fetch, 1, 0}));
    ASSERT_TRUE(eventually([&] { return network_->queued_bytes(2, 1) == 12; }));
    remove("a");
    EXPECT_TRUE(eventually([&] { return one_->accepted() == 1; }));
    EXPECT_EQ(network_->queued_bytes(2, 1), 12U);
    EXPECT_TRUE(one_->received().empty());
    remove("b");
    EXPECT_EQ(client.receive(), 1);
}

TEST_F(NetworkTest, NewConnectionsAreHeldToo) {
    add({.id = "hold", .source = 2, .destination = 1, .kind = FaultKind::Hold});
    FrameClient client = open(2, 1);
    ASSERT_TRUE(client.send({wire::ApiKey::Fetch, 1, 0}));
    ASSERT_TRUE(eventually([&] { return network_->queued_bytes(2, 1) == 12; }));
    const auto sockets = read_tcp_table();
    ASSERT_TRUE(sockets);
    const std::string real = plan().real_address(1) + ":" + std::to_string(kInternalPort);
    for (const TcpSocket& socket : *sockets) {
        EXPECT_FALSE(socket.local.to_string() == real && socket.state == TcpState::Established);
    }
    remove("hold");
    EXPECT_EQ(client.receive(), 1);
}

TEST_F(NetworkTest, HeldResponsesKeepAFailureFromTheClient) {
    add({.id = "hold", .source = 2, .destination = 150, .kind = FaultKind::Hold});
    FrameClient client = open(150, 2);  // nobody listens: the refusal travels 2->150
    ASSERT_TRUE(client.send({wire::ApiKey::Fetch, 1, 0}));
    ASSERT_TRUE(open(2, 1).round_trip({wire::ApiKey::Fetch, 2, 0}));
    EXPECT_EQ(client.receive(milliseconds(20)), std::nullopt);
    EXPECT_EQ(network_->connections(150, 2), 1U);
    remove("hold");
    EXPECT_EQ(client.wait_end(), ECONNRESET);
}

TEST_F(NetworkTest, HeldBytesOfAClosedSenderAreDeliveredLate) {
    FrameClient client = open(2, 1);
    ASSERT_TRUE(client.round_trip({wire::ApiKey::Fetch, 1, 0}));
    add({.id = "hold", .source = 2, .destination = 1, .kind = FaultKind::Hold});
    ASSERT_TRUE(client.send({wire::ApiKey::Fetch, 2, 0}));
    ASSERT_TRUE(client.send({wire::ApiKey::Fetch, 3, 0}));
    client.close();
    FrameClient fresh = open(2, 1);
    ASSERT_TRUE(fresh.send({wire::ApiKey::Fetch, 4, 0}));
    fresh.close();
    ASSERT_TRUE(eventually([&] { return network_->queued_bytes(2, 1) == 3 * 12; }));
    // The end of the connection waits behind the bytes.
    EXPECT_EQ(one_->ended(), 0U);
    EXPECT_EQ(network_->connections(2, 1), 2U);
    remove("hold");
    EXPECT_TRUE(eventually([&] { return one_->received().size() == 4 && one_->ended() == 2; }));
    EXPECT_TRUE(eventually([&] { return network_->connections(2, 1) == 0; }));
    EXPECT_EQ(network_->stats(2, 1).frames_delivered_late, 3U);
    EXPECT_EQ(network_->stats(2, 1).frames_discarded, 0U);
}

TEST_F(NetworkTest, HeldBytesOfAClosedSenderAreDiscardedIfAsked) {
    FrameClient closed = open(2, 1);
    ASSERT_TRUE(closed.round_trip({wire::ApiKey::Fetch, 1, 0}));
    FrameClient stays = open(2, 1);
    ASSERT_TRUE(stays.round_trip({wire::ApiKey::Fetch, 2, 0}));
    add({.id = "hold", .source = 2, .destination = 1, .kind = FaultKind::Hold, .discard_if_closed = true});
    ASSERT_TRUE(closed.send({wire::ApiKey::Fetch, 3, 0}));
    ASSERT_TRUE(stays.send({wire::ApiKey::Fetch, 4, 0}));
    closed.close();
    FrameClient fresh = open(2, 1);
    ASSERT_TRUE(fresh.send({wire::ApiKey::Fetch, 5, 0}));
    fresh.close();
    ASSERT_TRUE(eventually([&] { return network_->queued_bytes(2, 1) == 3 * 12; }));
    // The relay reads in order of readiness: a later answer on another link shows that it has seen both ends.
    ASSERT_TRUE(open(2, 100).round_trip({wire::ApiKey::Fetch, 6, 0}));
    remove("hold");
    EXPECT_EQ(stays.receive(), 4);
    EXPECT_TRUE(eventually([&] { return network_->connections(2, 1) == 1; }));
    EXPECT_EQ(one_->received(), (std::vector<std::int32_t>{1, 2, 4}));
    EXPECT_EQ(one_->accepted(), 2U);
    EXPECT_EQ(network_->stats(2, 1).frames_discarded, 2U);
    EXPECT_EQ(network_->stats(2, 1).frames_delivered_late, 0U);
}

TEST_F(NetworkTest, AHeldPathTakesABoundedAmount) {
    constexpr std::size_t kBound = 128 * 1024;
    constexpr std::size_t kTotal = 32U << 20U;
    NetworkOptions options;
    options.max_queued_bytes = kBound;
    start(std::move(options));
    add({.id = "hold", .source = 2, .destination = 1, .kind = FaultKind::Hold});
    FrameClient client = open(2, 1);
    const Bytes frame = encode({wire::ApiKey::Produce, 1, kTotal - 12});
    BytesView left = frame;
    // Until the kernel and the relay take nothing more.
    ASSERT_TRUE(eventually([&] {
        const auto taken = client.send_some(left);
        left = left.subspan(taken.value_or(0));
        return taken == std::size_t{0} && network_->queued_bytes(2, 1) >= kBound;
    }));
    EXPECT_LE(network_->queued_bytes(2, 1), kBound + 64 * 1024);
    EXPECT_GT(left.size(), 0U);
    remove("hold");
    ASSERT_TRUE(client.send_raw(Bytes(left.begin(), left.end())));
    EXPECT_TRUE(eventually([&] { return one_->received_bytes() == kTotal; }));
    EXPECT_EQ(client.receive(), 1);
}

TEST_F(NetworkTest, AReceiverThatReadsNothingIsNotOverrun) {
    NetworkOptions options;
    options.max_queued_bytes = 128 * 1024;
    start(std::move(options));
    one_->stop_reading();
    FrameClient client = open(2, 1);
    const Bytes frame = encode({wire::ApiKey::Produce, 1, 64U << 20U});
    BytesView left = frame;
    ASSERT_TRUE(eventually([&] {
        const auto taken = client.send_some(left);
        left = left.subspan(taken.value_or(0));
        return taken == std::size_t{0} && network_->queued_bytes(2, 1) >= 128 * 1024;
    }));
    // A rule holds also what the receiver has not taken yet.
    add({.id = "hold", .source = 2, .destination = 1, .kind = FaultKind::Hold});
    const std::uint64_t passed = network_->stats(2, 1).bytes;
    one_->read_again();
    ASSERT_TRUE(eventually([&] { return one_->received_bytes() == passed; }));
    EXPECT_EQ(network_->stats(2, 1).bytes, passed);
}

TEST_F(NetworkTest, EndsWithBytesStillHeld) {
    add({.id = "hold", .source = 2, .destination = 1, .kind = FaultKind::Hold, .api = "Fetch"});
    FrameClient client = open(2, 1);
    ASSERT_TRUE(client.send({wire::ApiKey::Fetch, 1, 0}));
    ASSERT_TRUE(eventually([&] { return network_->queued_bytes(2, 1) == 12; }));
    network_.reset();
    EXPECT_TRUE(client.wait_end().has_value());
}

}  // namespace
}  // namespace highwater::nemesis
