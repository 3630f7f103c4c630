// The controller's side of the metadata log: what a broker's raft fetch gets.
#include <gtest/gtest.h>

#include "node/server/cluster_metadata.h"
#include "tests/node_server/cluster.h"
#include "tests/support/requests.h"

namespace highwater::test {
namespace {

using node::kClusterMetadataTopicId;
using node::kInternalFetchVersion;
using wire::ErrorCode;

class MetadataLog : public ::testing::Test {
protected:
    void SetUp() override { cluster.start(kController); }
    static wire::FetchRequest fetch(Offset from, LeaderEpoch epoch = kNoEpoch, std::int32_t wait_ms = 0) {
        wire::FetchRequest request;
        request.replica_state.replica_id = 1;
        request.max_wait_ms = wait_ms;
        request.min_bytes = 1;
        auto& topic = request.topics.emplace_back();
        topic.topic_id = kClusterMetadataTopicId;
        auto& partition = topic.partitions.emplace_back();
        partition.fetch_offset = from;
        partition.current_leader_epoch = epoch;
        partition.last_fetched_epoch = epoch;
        partition.partition_max_bytes = 1 << 20;
        return request;
    }
    wire::FetchResponse::FetchableTopicResponse::PartitionData ask(const wire::FetchRequest& request) {
        const auto answer =
            cluster.ask<wire::FetchResponse>(kController, request, kInternalFetchVersion, "CONTROLLER");
        EXPECT_TRUE(answer);
        if (!answer) return {};
        return answer->responses.at(0).partitions.at(0);
    }
    Cluster cluster{1};
};

TEST_F(MetadataLog, IsCommittedAsFarAsItIsWritten) {
    const auto answer = ask(fetch(0));
    EXPECT_EQ(answer.error_code, ErrorCode::None);
    const auto batches = wire::split_batches(*answer.records);
    ASSERT_TRUE(batches);
    ASSERT_FALSE(batches->empty());
    EXPECT_EQ(batches->back().header.next_offset(), answer.high_watermark);
}

TEST_F(MetadataLog, EpochsAndOffsetsAreChecked) {
    const Offset end = ask(fetch(0)).high_watermark;
    EXPECT_EQ(ask(fetch(0, 1)).error_code, ErrorCode::None);
    EXPECT_EQ(ask(fetch(0, 2)).error_code, ErrorCode::UnknownLeaderEpoch);
    EXPECT_EQ(ask(fetch(end + 1)).error_code, ErrorCode::OffsetOutOfRange);
    EXPECT_EQ(ask(fetch(-1)).error_code, ErrorCode::OffsetOutOfRange);
    cluster.kill(kController);
    cluster.start(kController);
    EXPECT_EQ(ask(fetch(end, 1)).error_code, ErrorCode::FencedLeaderEpoch);
    EXPECT_EQ(ask(fetch(end, 2)).error_code, ErrorCode::None);
}

TEST_F(MetadataLog, WhatFollowsNoEpochOfItsOwnDiverges) {
    const Offset end = ask(fetch(0)).high_watermark;
    cluster.kill(kController);
    cluster.start(kController);
    auto request = fetch(end + 1, 2);
    request.topics[0].partitions[0].last_fetched_epoch = 1;
    const auto answer = ask(request);
    EXPECT_EQ(answer.error_code, ErrorCode::None);
    EXPECT_EQ(answer.diverging_epoch.epoch, 1);
    EXPECT_EQ(answer.diverging_epoch.end_offset, end);
    EXPECT_TRUE(answer.records->empty());
    request.topics[0].partitions[0].fetch_offset = end;
    EXPECT_EQ(ask(request).diverging_epoch.end_offset, kUnknownOffset);
}

TEST_F(MetadataLog, AnotherTopicIsUnknown) {
    auto request = fetch(0);
    request.topics[0].topic_id = Uuid{};
    EXPECT_EQ(ask(request).error_code, ErrorCode::UnknownTopicOrPartition);
}

TEST_F(MetadataLog, ALongPollEndsWithARecordOrWithMaxWait) {
    const Offset end = ask(fetch(0)).high_watermark;
    const ConnId first = cluster.connect(kController, "CONTROLLER");
    const Instant begun = cluster.now();
    cluster.send(first, wire::encode_request(fetch(end, kNoEpoch, 800), kInternalFetchVersion, 7, "test"));
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.received(first).empty(); }));
    EXPECT_EQ(cluster.now() - begun, Duration(milliseconds(800)));

    const ConnId second = cluster.connect(kController, "CONTROLLER");
    cluster.send(second, wire::encode_request(fetch(end, kNoEpoch, 800), kInternalFetchVersion, 7, "test"));
    EXPECT_TRUE(cluster.received(second).empty());
    cluster.start(1);
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.received(second).empty(); }, milliseconds(100)));
    const auto answer =
        wire::decode_response<wire::FetchResponse>(cluster.received(second)[0], kInternalFetchVersion, 7);
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->responses[0].partitions[0].records->empty());
}

TEST_F(MetadataLog, ADiskThatFailsStopsTheController) {
    cluster.storage(kController).fail_writes([](const std::string&) -> std::optional<std::string> {
        return "input/output error";
    });
    cluster.start(1);
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.running(kController); }));
    ASSERT_EQ(cluster.facts<node::ServerStopped>(kController).size(), 1U);
    EXPECT_FALSE(cluster.facts<node::ServerStopped>(kController)[0].clean);
    EXPECT_TRUE(cluster.logged(kController, "input/output error"));
}

}  // namespace
}  // namespace highwater::test
