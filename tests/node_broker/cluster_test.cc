// A cluster of real processes from start to stop: what a client is told through raw frames, across a kill -9
// and a clean stop, and what the traces say afterwards.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "model/trace.h"
#include "tests/node_broker/process_cluster.h"

namespace highwater::test {
namespace {

using wire::ErrorCode;

const std::string kTopic = "orders";

struct PartitionView {
    ErrorCode error = ErrorCode::UnknownServerError;
    BrokerId leader = kNoBroker;
    std::vector<BrokerId> isr;
};

class ClusterTest : public testing::Test {
protected:
    void start_with_topic(const std::vector<std::vector<BrokerId>>& assignment) {
        cluster_.launch_all();
        ASSERT_TRUE(eventually(seconds(20), [&] { return brokers_known_to(1) == 3; })) << cluster_.output(1);
        const auto created = cluster_.client(1).call<wire::CreateTopicsResponse>(
            create_topic_request(kTopic, assignment, {{"min.insync.replicas", "2"}}), kCreateTopicsVersion);
        ASSERT_TRUE(created) << created.error().message;
        ASSERT_EQ(created->topics.at(0).error_code, ErrorCode::None)
            << created->topics.at(0).error_message.value_or("");
        ASSERT_TRUE(eventually(seconds(20), [&] {
            const PartitionView view = view_of(1, 0);
            return view.leader == assignment[0][0] && view.isr.size() == assignment[0].size();
        }));
    }

    std::size_t brokers_known_to(BrokerId id) {
        const auto answer =
            cluster_.client(id).call<wire::MetadataResponse>(metadata_request(kTopic), kMetadataVersion);
        return answer ? answer->brokers.size() : 0;
    }

    PartitionView view_of(BrokerId asked, std::int32_t partition) {
        const auto answer =
            cluster_.client(asked).call<wire::MetadataResponse>(metadata_request(kTopic), kMetadataVersion);
        if (!answer || answer->topics.empty()) return {};
        for (const auto& found : answer->topics[0].partitions) {
            if (found.partition_index == partition)
                return {found.error_code, found.leader_id, found.isr_nodes};
        }
        return {};
    }

    /// The base offset if the broker leads and accepts now; nullopt if it refused before the append.
    std::optional<Offset> try_produce(BrokerId leader, const std::vector<std::uint64_t>& values) {
        const auto answer = cluster_.client(leader).call<wire::ProduceResponse>(
            produce_request(kTopic, 0, -1, 5000, batch_of(values, 1)), kProduceVersion);
        if (!answer) return std::nullopt;
        const auto& partition = answer->responses.at(0).partition_responses.at(0);
        // Anything but a refusal before the append would append twice when asked again.
        if (partition.error_code == ErrorCode::NotLeaderOrFollower ||
            partition.error_code == ErrorCode::NotEnoughReplicas ||
            partition.error_code == ErrorCode::UnknownTopicOrPartition) {
            return std::nullopt;
        }
        EXPECT_EQ(partition.error_code, ErrorCode::None);
        return partition.base_offset;
    }

    /// The base offset of one batch, once `leader`, asked anew before each attempt, accepts it.
    Offset produce(const std::function<BrokerId()>& leader, const std::vector<std::uint64_t>& values) {
        std::optional<Offset> base;
        EXPECT_TRUE(eventually(seconds(20), [&] {
            const BrokerId now = leader();
            if (now != kNoBroker) base = try_produce(now, values);
            return base.has_value();
        })) << cluster_.output(ProcessCluster::kController);
        return base.value_or(kUnknownOffset);
    }
    Offset produce(BrokerId leader, const std::vector<std::uint64_t>& values) {
        return produce([leader] { return leader; }, values);
    }

    std::vector<std::uint64_t> read_all(BrokerId from) {
        WireClient client = cluster_.client(from);
        std::vector<std::uint64_t> values;
        while (true) {
            const auto answer = client.call<wire::FetchResponse>(
                fetch_request(kTopic, 0, static_cast<Offset>(values.size()), 0), kFetchVersion);
            if (!answer) return values;
            const auto& partition = answer->responses.at(0).partitions.at(0);
            if (partition.error_code != ErrorCode::None) return values;
            const auto records = records_of(partition.records.value_or(Bytes{}));
            if (!records || records->empty()) return values;
            for (const wire::Record& record : *records) {
                if (record.offset == static_cast<Offset>(values.size())) values.push_back(value_of(record));
            }
        }
    }

    ProcessCluster cluster_;
};

TEST_F(ClusterTest, AcknowledgedRecordsSurviveAKillAndACleanStop) {
    start_with_topic({{1, 2, 3}});
    EXPECT_EQ(produce(1, {10, 11, 12}), 0);
    EXPECT_EQ(produce(1, {13}), 3);
    EXPECT_EQ(read_all(1), (std::vector<std::uint64_t>{10, 11, 12, 13}));
    // Followers learn the high watermark one fetch later.
    EXPECT_TRUE(eventually(seconds(10), [&] { return read_all(3).size() == 4; }));

    cluster_.kill(1);
    EXPECT_EQ(produce(2, {14, 15}), 4);
    EXPECT_EQ(view_of(2, 0).leader, 2);
    cluster_.launch(1);
    EXPECT_TRUE(eventually(seconds(20), [&] { return view_of(2, 0).isr.size() == 3; })) << cluster_.output(1);
    EXPECT_TRUE(eventually(seconds(10), [&] { return read_all(1).size() == 6; }));
    EXPECT_EQ(read_all(1), (std::vector<std::uint64_t>{10, 11, 12, 13, 14, 15}));

    // A clean stop moves leadership first: no session has to run out.
    const harness::ExitStatus status = cluster_.terminate(2);
    EXPECT_EQ(status.code, 143) << status.to_string() << "\n" << cluster_.output(2);
    EXPECT_EQ(view_of(3, 0).leader, 1);
    EXPECT_EQ(produce(1, {16}), 6);
    cluster_.launch(2);
    EXPECT_TRUE(eventually(seconds(20), [&] { return view_of(1, 0).isr.size() == 3; })) << cluster_.output(2);
    for (const BrokerId id : {1, 2, 3}) {
        EXPECT_TRUE(eventually(seconds(10), [&] { return read_all(id).size() == 7; })) << "broker " << id;
    }

    for (const BrokerId id : {1, 2, 3, ProcessCluster::kController}) {
        EXPECT_EQ(cluster_.terminate(id).code, 143) << cluster_.output(id);
    }
    std::vector<std::string> traces;
    for (const BrokerId id : {1, 2, 3, ProcessCluster::kController})
        traces.push_back(cluster_.directory(id) + "/trace.jsonl");
    const Result<Trace> trace = read_trace(traces);
    ASSERT_TRUE(trace) << trace.error().message;
    const auto count = [&](BrokerId node, TraceKind kind) {
        return std::count_if(trace->events.begin(), trace->events.end(), [&](const TraceEvent& event) {
            return event.node == node && event.kind == kind;
        });
    };
    EXPECT_EQ(count(1, TraceKind::Start), 2);
    EXPECT_EQ(count(1, TraceKind::Stop), 1) << "the first incarnation was killed";
    EXPECT_EQ(count(2, TraceKind::Stop), 2);
    EXPECT_GE(count(2, TraceKind::Ack), 1);
    EXPECT_GE(count(ProcessCluster::kController, TraceKind::Fence), 1);
}

TEST_F(ClusterTest, TheWholeClusterRestarts) {
    start_with_topic({{2, 3, 1}});
    EXPECT_EQ(produce(2, {7, 8}), 0);
    for (const BrokerId id : {1, 2, 3, ProcessCluster::kController}) cluster_.kill(id);
    cluster_.launch_all();
    // What a broker says at first is what the metadata log said before the kill, so the leader is asked again
    // and again.
    EXPECT_EQ(produce([this] { return view_of(1, 0).leader; }, {9}), 2);
    for (const BrokerId id : {1, 2, 3}) {
        EXPECT_TRUE(eventually(seconds(10), [&] { return read_all(id).size() == 3; })) << "broker " << id;
    }
}

TEST_F(ClusterTest, HostileBytesCostOnlyTheirConnection) {
    start_with_topic({{1, 2, 3}});
    const workloads::SocketAddress address{cluster_.plan().real_address(1), nemesis::kClientPort};
    const Instant deadline = monotonic_now() + seconds(20);
    const std::vector<Bytes> hostile = {
        {}, {1}, {0, 99, 0, 0, 0, 0, 0, 1, 0, 0}, Bytes(100, 0xFF), {0, 1, 0, 11, 0, 0, 0, 1, 0xFF, 0xFF}};
    for (const Bytes& frame : hostile) {
        workloads::Socket socket;
        ASSERT_FALSE(socket.connect(address, deadline));
        ASSERT_FALSE(socket.send_frame(frame, deadline));
        EXPECT_FALSE(socket.receive_frame(deadline)) << to_hex(frame);
    }
    EXPECT_EQ(produce(1, {1}), 0);
}

TEST_F(ClusterTest, AFrameThatIsTooLongIsRefusedAtItsLength) {
    cluster_.launch_all();
    ASSERT_TRUE(eventually(seconds(20), [&] { return brokers_known_to(1) == 3; })) << cluster_.output(1);
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_GE(fd, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(nemesis::kClientPort);
    ASSERT_EQ(::inet_pton(AF_INET, cluster_.plan().real_address(1).c_str(), &address.sin_addr), 1);
    ASSERT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    const Bytes prefix = {0x7F, 0xFF, 0xFF, 0xFF};
    ASSERT_EQ(::send(fd, prefix.data(), prefix.size(), 0), 4);
    std::uint8_t byte = 0;
    EXPECT_LE(::recv(fd, &byte, 1, 0), 0) << "the broker waits for 2 GiB";
    ::close(fd);
    EXPECT_NE(cluster_.output(1).find("a frame of 2147483647 bytes"), std::string::npos)
        << cluster_.output(1);
}

/// One record so large that every fetch of it fills a response.
class SlowReaderTest : public ClusterTest {
protected:
    static constexpr std::size_t kRecordSize = 900'000;

    void start() {
        start_with_topic({{1, 2, 3}});
        wire::Record record;
        record.value = Bytes(kRecordSize, 0x5A);
        wire::BatchSpec spec;
        spec.records.push_back(std::move(record));
        const auto answer = cluster_.client(1).call<wire::ProduceResponse>(
            produce_request(kTopic, 0, -1, 5000, wire::encode_batch(spec)), kProduceVersion);
        ASSERT_TRUE(answer) << answer.error().message;
        ASSERT_EQ(answer->responses.at(0).partition_responses.at(0).error_code, ErrorCode::None);
        ASSERT_FALSE(slow_.connect({cluster_.plan().real_address(1), nemesis::kClientPort}, deadline_));
    }
    void ask(int times) {
        for (int i = 1; i <= times; ++i) {
            const Bytes frame =
                wire::encode_request(fetch_request(kTopic, 0, 0, 0), kFetchVersion, i, "slow");
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

    const Instant deadline_ = monotonic_now() + seconds(60);
    workloads::Socket slow_;
};

TEST_F(SlowReaderTest, WaitsForItsOwnAnswersAndForNobodyElse) {
    start();
    ask(40);
    // Far more than the kernel buffers is owed to the slow reader; others are answered all the same.
    EXPECT_EQ(produce(1, {1}), 1);
    EXPECT_EQ(view_of(1, 0).isr.size(), 3U);
    EXPECT_EQ(read(40), 40);
}

TEST_F(SlowReaderTest, IsCutOffWhenTooMuchIsOwedToIt) {
    start();
    // Sent while the broker stands still, the requests arrive all at once, before it can stop reading.
    cluster_.signal(1, SIGSTOP);
    ask(200);
    cluster_.signal(1, SIGCONT);
    EXPECT_LT(read(200), 200);
    EXPECT_NE(cluster_.output(1).find("wait for a peer that does not read"), std::string::npos)
        << cluster_.output(1);
    EXPECT_EQ(produce(1, {1}), 1);
}

}  // namespace
}  // namespace highwater::test
