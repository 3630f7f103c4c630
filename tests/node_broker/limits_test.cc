// The limits of highwater-node's connections, on real processes: who is turned away, who waits, who is
// closed, and that nobody else notices.
#include <gtest/gtest.h>

#include "tests/node_broker/cluster_fixture.h"

namespace highwater::test {
namespace {

class LimitsTest : public ClusterTest {
protected:
    void start(const std::string& properties) {
        cluster_.emplace(properties);
        start_with_topic({{1, 2, 3}});
    }
    workloads::Socket connect(BrokerId to) {
        workloads::Socket socket;
        EXPECT_FALSE(socket.connect({cluster().plan().real_address(to), nemesis::kClientPort}, deadline_));
        return socket;
    }
    /// Whether one more request is answered; an end of the connection is "no".
    bool serves(workloads::Socket& socket) {
        const Bytes frame = wire::encode_request(metadata_request(kTopic), kMetadataVersion, 1, "limits");
        return !socket.send_frame(frame, deadline_) && socket.receive_frame(deadline_).has_value();
    }

    /// Forty connections that stay open, of which a limit lets some through and not all.
    std::vector<workloads::Socket> some_of_forty_served() {
        std::vector<workloads::Socket> sockets;
        int served = 0;
        for (int i = 0; i < 40; ++i) {
            sockets.push_back(connect(1));
            served += serves(sockets.back()) ? 1 : 0;
        }
        EXPECT_LT(served, 40);
        EXPECT_GT(served, 0);
        return sockets;
    }

    const Instant deadline_ = monotonic_now() + seconds(60);
};

TEST_F(LimitsTest, ConnectionsOfOneAddressAreCounted) {
    // The brokers' own connections have the brokers' addresses; everything this test opens comes from one.
    start("max.connections.per.ip=20\n");
    std::vector<workloads::Socket> sockets = some_of_forty_served();
    EXPECT_NE(cluster().output(1).find("max.connections.per.ip"), std::string::npos) << cluster().output(1);
    sockets.clear();
    EXPECT_EQ(produce(1, {1}), 0);
    EXPECT_EQ(view_of(2, 0).isr.size(), 3U);
}

TEST_F(LimitsTest, ClientsAreTurnedAwayBeforePeersAre) {
    start("max.connections=30\n");
    std::vector<workloads::Socket> sockets = some_of_forty_served();
    // A follower that comes back finds room though the clients hold everything.
    cluster().kill(3);
    cluster().launch(3);
    EXPECT_TRUE(eventually(seconds(20), [&] { return view_of(2, 0).isr.size() == 3; }))
        << cluster().output(1);
    sockets.clear();
    EXPECT_EQ(produce(1, {1}), 0);
}

TEST_F(LimitsTest, AnIdleConnectionIsClosedAndAWaitingOneIsNot) {
    start("connections.max.idle.ms=1500\n");
    workloads::Socket idle = connect(1);
    ASSERT_TRUE(serves(idle));
    workloads::Socket waiting = connect(1);
    const auto long_poll = fetch_request(kTopic, 0, 0, 4000);
    ASSERT_FALSE(waiting.send_frame(wire::encode_request(long_poll, kFetchVersion, 1, "limits"), deadline_));
    EXPECT_TRUE(waiting.receive_frame(deadline_)) << "it waited 4 s for its answer";
    const auto end = idle.receive_frame(deadline_);
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error(), workloads::SocketFailure::Lost);
    EXPECT_NE(cluster().output(1).find("connections.max.idle.ms"), std::string::npos) << cluster().output(1);
    EXPECT_EQ(view_of(2, 0).isr.size(), 3U) << "peers are never idle that long";
}

TEST_F(LimitsTest, FramesBeyondTheConfiguredLengthAreRefused) {
    start("socket.request.max.bytes=100000\n");
    workloads::Socket socket = connect(1);
    ASSERT_TRUE(serves(socket));
    static_cast<void>(socket.send_frame(Bytes(100001, 0), deadline_));
    EXPECT_FALSE(socket.receive_frame(deadline_));
    EXPECT_NE(cluster().output(1).find("a frame of 100001 bytes, the limit is 100000"), std::string::npos)
        << cluster().output(1);
}

TEST_F(LimitsTest, OnlyRecordsMayBeLong) {
    start("");
    workloads::Socket socket = connect(1);
    Bytes frame = wire::encode_request(metadata_request(kTopic), kMetadataVersion, 1, "limits");
    frame.resize(3U << 20U);
    ASSERT_FALSE(socket.send_frame(frame, deadline_));
    EXPECT_FALSE(socket.receive_frame(deadline_));
    EXPECT_NE(cluster().output(1).find("Metadata v8 of 3145728 bytes"), std::string::npos)
        << cluster().output(1);
}

TEST_F(LimitsTest, RequestsWaitingForAnswersAreBoundedAndAllAreAnswered) {
    // Each long poll occupies its connection; beyond four the connection is not read on, so that nothing of
    // the fifth is in the broker before the first is answered.
    start("highwater.max.pipelined.requests=4\nqueued.max.request.bytes=2000\n");
    std::vector<workloads::Socket> sockets;
    constexpr int kConnections = 20;
    constexpr int kRequests = 8;
    for (int i = 0; i < kConnections; ++i) {
        sockets.push_back(connect(1));
        for (int id = 0; id < kRequests; ++id) {
            const Bytes frame =
                wire::encode_request(fetch_request(kTopic, 0, 0, 50), kFetchVersion, id, "limits");
            ASSERT_FALSE(sockets.back().send_frame(frame, deadline_));
        }
    }
    for (workloads::Socket& socket : sockets) {
        for (int id = 0; id < kRequests; ++id) {
            const auto frame = socket.receive_frame(deadline_);
            ASSERT_TRUE(frame) << workloads::socket_failure_name(frame.error());
            EXPECT_TRUE(wire::decode_response<wire::FetchResponse>(*frame, kFetchVersion, id));
        }
    }
    // acks=all waits for fetches of the peers, which are not held back by what clients have queued.
    EXPECT_EQ(produce(1, {1}), 0);
}

/// One record so large that every fetch of it fills a response.
class SlowReaderTest : public LimitsTest {
protected:
    static constexpr std::size_t kRecordSize = 900'000;

    void start_with_slow_reader(const std::string& properties) {
        start(properties);
        slow_ = connect(1);
    }
    void produce_large(BrokerId leader) {
        wire::Record record;
        record.value = Bytes(kRecordSize, 0x5A);
        wire::BatchSpec spec;
        spec.records.push_back(std::move(record));
        const auto answer = cluster().client(leader).call<wire::ProduceResponse>(
            produce_request(kTopic, 0, -1, 5000, wire::encode_batch(spec)), kProduceVersion);
        ASSERT_TRUE(answer) << answer.error().message;
        ASSERT_EQ(answer->responses.at(0).partition_responses.at(0).error_code, wire::ErrorCode::None);
    }
    void ask(int times, std::int32_t max_wait_ms) {
        for (int i = 1; i <= times; ++i) {
            const Bytes frame =
                wire::encode_request(fetch_request(kTopic, 0, 0, max_wait_ms), kFetchVersion, i, "slow");
            ASSERT_FALSE(slow_.send_frame(frame, deadline_));
        }
    }
    /// Answers until the connection ends or `at_most` have come.
    int read(int at_most) {
        int answers = 0;
        while (answers < at_most) {
            const auto frame = slow_.receive_frame(deadline_);
            if (!frame) return answers;
            EXPECT_GT(frame->size(), kRecordSize);
            ++answers;
        }
        return answers;
    }

    workloads::Socket slow_;
};

TEST_F(SlowReaderTest, WaitsForItsOwnAnswersAndForNobodyElse) {
    start_with_slow_reader("");
    produce_large(1);
    const std::int64_t before = resident_bytes(cluster().pid(1));
    // Sent while the broker stands still, the requests arrive all at once.
    cluster().signal(1, SIGSTOP);
    ask(200, 0);
    cluster().signal(1, SIGCONT);
    // Far more than the kernel buffers is owed to the slow reader; others are answered all the same.
    EXPECT_EQ(produce([this] { return view_of(1, 0).leader; }, {1}), 1);
    EXPECT_EQ(view_of(1, 0).isr.size(), 3U);
    EXPECT_LT(resident_bytes(cluster().pid(1)) - before, 64 << 20) << "180 MB of answers are owed";
    EXPECT_EQ(read(200), 200);
}

TEST_F(SlowReaderTest, IsCutOffWhenTooMuchIsOwedToItAtOnce) {
    // All of its fetches wait for one record: no reading on can be stopped any more when it comes.
    start_with_slow_reader("highwater.max.queued.response.bytes=8000000\n");
    ask(60, 20000);
    ASSERT_TRUE(eventually(seconds(20), [&] {
        // The last request has arrived when one behind it on another connection is answered, which happens
        // as long as the leader is up; what counts is that some of the 60 wait.
        return view_of(1, 0).leader == 1;
    }));
    produce_large(1);
    EXPECT_LT(read(60), 60);
    EXPECT_NE(cluster().output(1).find("wait for a peer that does not read"), std::string::npos)
        << cluster().output(1);
    EXPECT_EQ(produce(1, {1}), 1);
}

}  // namespace
}  // namespace highwater::test
