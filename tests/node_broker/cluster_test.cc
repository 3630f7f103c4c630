// A cluster of real processes from start to stop: what a client is told through raw frames, across a kill -9
// and a clean stop, and what the traces say afterwards.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace highwater::test
