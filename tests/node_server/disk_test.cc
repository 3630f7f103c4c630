// Goal: a disk that fails takes one partition with it, not the broker; what a broker leaves on disk at a
// clean stop is what the next start believes, and nothing of it after any other end.
#include <gtest/gtest.h>

#include "node/log/checkpoint.h"
#include "tests/node_server/cluster.h"
#include "tests/support/requests.h"

namespace highwater::test {
namespace {

using wire::ErrorCode;

class Disk : public testing::Test {
protected:
    void start(std::int32_t partitions) {
        cluster.start_all();
        const auto created = cluster.ask<wire::CreateTopicsResponse>(
            1,
            create_topic_request(
                "t", std::vector<std::vector<BrokerId>>(static_cast<std::size_t>(partitions), {1}), {}),
            kCreateTopicsVersion);
        ASSERT_TRUE(created) << created.error().message;
        for (std::int32_t index = 0; index < partitions; ++index)
            ASSERT_TRUE(cluster.run_until([&] { return produce(index, 1) == ErrorCode::None; })) << index;
    }
    ErrorCode produce(std::int32_t partition, std::uint64_t value) {
        const auto answer = cluster.ask<wire::ProduceResponse>(
            1, produce_request("t", partition, -1, 5000, batch_of({value}, 0)), kProduceVersion);
        return answer ? answer->responses.at(0).partition_responses.at(0).error_code
                      : ErrorCode::UnknownServerError;
    }
    ErrorCode fetch(std::int32_t partition) {
        const auto answer =
            cluster.ask<wire::FetchResponse>(1, fetch_request("t", partition, 0, 0), kFetchVersion);
        return answer ? answer->responses.at(0).partitions.at(0).error_code : ErrorCode::UnknownServerError;
    }
    std::string file(const std::string& path) {
        const auto bytes = cluster.storage(1).read_file(path);
        return bytes && *bytes ? std::string(as_text(**bytes)) : "(none)";
    }
    void fail(const std::string& prefix, const std::string& error) {
        cluster.storage(1).fail_writes([=](const std::string& path) -> std::optional<std::string> {
            if (path.starts_with(prefix)) return error;
            return std::nullopt;
        });
    }
    BrokerEpoch registered_epoch() { return cluster.facts<node::ServerRegistered>(1).back().broker_epoch; }

    Cluster cluster{1};
};

TEST_F(Disk, OnePartitionsDiskFailsAndTheOthersGoOn) {
    start(2);
    fail("t-0/", "No space left on device");
    EXPECT_EQ(produce(0, 2), ErrorCode::KafkaStorageError);
    EXPECT_EQ(produce(1, 2), ErrorCode::None);
    const auto offline = cluster.facts<node::WentOffline>(1);
    ASSERT_EQ(offline.size(), 1U);
    EXPECT_EQ(offline[0].reason, "t-0/00000000000000000000.log: No space left on device");
    EXPECT_TRUE(
        cluster.logged(1, "ERROR t-0 goes offline: t-0/00000000000000000000.log: No space left on device"));
    fail("nothing", "");
    EXPECT_EQ(produce(0, 3), ErrorCode::KafkaStorageError) << "offline until the next start";
    EXPECT_EQ(fetch(0), ErrorCode::KafkaStorageError);
    EXPECT_EQ(fetch(1), ErrorCode::None);
    EXPECT_EQ(cluster.facts<node::WentOffline>(1).size(), 1U) << "told once";
    // Nothing of what was refused is there.
    cluster.kill(1);
    cluster.start(1);
    ASSERT_TRUE(cluster.run_until([&] { return produce(0, 4) == ErrorCode::None; }));
    const auto answer = cluster.ask<wire::FetchResponse>(1, fetch_request("t", 0, 0, 0), kFetchVersion);
    ASSERT_TRUE(answer) << answer.error().message;
    const auto records = records_of(answer->responses.at(0).partitions.at(0).records.value_or(Bytes{}));
    ASSERT_TRUE(records) << records.error().message;
    ASSERT_EQ(records->size(), 2U);
    EXPECT_EQ(value_of(records->at(1)), 4U);
}

TEST_F(Disk, ALogThatCannotBeOpenedIsAnOfflinePartition) {
    start(2);
    cluster.kill(1);
    ASSERT_TRUE(cluster.storage(1).replace_file("t-0/leader-epoch-checkpoint", as_bytes_view("nonsense\n"),
                                                node::Durability::Flushed));
    cluster.start(1);
    ASSERT_TRUE(cluster.run_until([&] { return produce(1, 2) == ErrorCode::None; }));
    EXPECT_EQ(produce(0, 2), ErrorCode::KafkaStorageError);
    EXPECT_EQ(fetch(0), ErrorCode::KafkaStorageError);
    ASSERT_EQ(cluster.facts<node::WentOffline>(1).size(), 1U);
    EXPECT_TRUE(
        cluster.logged(1, "ERROR t-0 goes offline: t-0/leader-epoch-checkpoint:1: version 'nonsense'"));
    // What was known of it is kept for when it can be read again, and its end was not a clean one.
    cluster.terminate(1);
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.running(1); }));
    EXPECT_EQ(file(".kafka_cleanshutdown"), "(none)");
    EXPECT_FALSE(cluster.facts<node::ServerStopped>(1).back().clean);
}

TEST_F(Disk, ACleanStopWritesItsCheckpointsAndTheMarker) {
    start(2);
    ASSERT_EQ(produce(1, 2), ErrorCode::None);
    EXPECT_EQ(file(".kafka_cleanshutdown"), "(none)");
    const BrokerEpoch epoch = registered_epoch();
    cluster.terminate(1);
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.running(1); }));
    EXPECT_EQ(file("replication-offset-checkpoint"), "0\n2\nt 0 1\nt 1 2\n");
    EXPECT_EQ(file("recovery-point-offset-checkpoint"), "0\n2\nt 0 1\nt 1 2\n");
    EXPECT_EQ(file("log-start-offset-checkpoint"), "0\n0\n");
    EXPECT_EQ(file(".kafka_cleanshutdown"), fmt::format("{{\"version\":0,\"brokerEpoch\":{}}}", epoch));
    // Everything is durable by then.
    cluster.storage(1).lose_unflushed();
    cluster.start(1);
    EXPECT_EQ(file(".kafka_cleanshutdown"), "(none)") << "gone before anything else happens";
    ASSERT_TRUE(cluster.run_until([&] { return produce(1, 3) == ErrorCode::None; }));
    EXPECT_EQ(fetch(0), ErrorCode::None);
}

TEST_F(Disk, AStopBeforeTheLogsWereOpenedKeepsWhatTheLifeBeforeSaid) {
    start(1);
    cluster.terminate(1);
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.running(1); }));
    const std::string marker = file(".kafka_cleanshutdown");
    cluster.kill(kController);
    cluster.start(1);
    cluster.terminate(1);
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.running(1); }, seconds(60)));
    EXPECT_EQ(file(".kafka_cleanshutdown"), marker) << "nothing was touched since";
    cluster.start(1);
    cluster.kill(1);
    cluster.start(1);
    cluster.terminate(1);
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.running(1); }, seconds(60)));
    EXPECT_EQ(file(".kafka_cleanshutdown"), "(none)") << "a log that nobody opened since the kill";
    EXPECT_EQ(file("recovery-point-offset-checkpoint"), "0\n1\nt 0 1\n");
}

TEST(DiskCheckpoints, RecoveryPointsAreWrittenInTime) {
    Cluster cluster(1, {{"log.flush.offset.checkpoint.interval.ms", "1000"},
                        {"log.flush.start.offset.checkpoint.interval.ms", "1000"},
                        {"log.flush.interval.messages", "2"}});
    cluster.start_all();
    const auto created = cluster.ask<wire::CreateTopicsResponse>(1, create_topic_request("t", {{1}}, {}),
                                                                 kCreateTopicsVersion);
    ASSERT_TRUE(created) << created.error().message;
    Offset end = 0;
    const auto produce = [&] {
        const auto answer = cluster.ask<wire::ProduceResponse>(
            1, produce_request("t", 0, -1, 5000, batch_of({1}, 0)), kProduceVersion);
        return answer && answer->responses.at(0).partition_responses.at(0).error_code == ErrorCode::None;
    };
    ASSERT_TRUE(cluster.run_until(produce));
    for (end = 1; end < 3; ++end) ASSERT_TRUE(produce());
    cluster.advance(milliseconds(1000));
    const auto text = [&](const char* path) {
        return std::string(as_text(*cluster.storage(1).read_file(path).value()));
    };
    EXPECT_EQ(text("recovery-point-offset-checkpoint"), "0\n1\nt 0 2\n")
        << "three records, two of them flushed";
    EXPECT_EQ(text("log-start-offset-checkpoint"), "0\n0\n");
}

}  // namespace
}  // namespace highwater::test
