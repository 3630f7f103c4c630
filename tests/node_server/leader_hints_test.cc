// KIP-951: a client that asked the wrong broker is told the right one, at the address of the listener that it
// uses, in the versions that have room for it, and nothing otherwise.
#include <gtest/gtest.h>

#include "tests/node_server/cluster.h"
#include "tests/support/requests.h"

namespace highwater::test {
namespace {

using wire::ErrorCode;

constexpr std::int16_t kProduceHints = 10;
constexpr std::int16_t kFetchHints = 16;
constexpr std::int16_t kMetadataWithIds = 12;

class LeaderHints : public ::testing::Test {
protected:
    void SetUp() override {
        cluster.start_all();
        ASSERT_TRUE(cluster.ask<wire::CreateTopicsResponse>(1, create_topic_request("t", {{1, 2}}, {}),
                                                            kCreateTopicsVersion));
        for (const BrokerId broker : {1, 2})
            ASSERT_TRUE(cluster.run_until([&] { return !cluster.facts<node::RoleTaken>(broker).empty(); }));
        const auto metadata = cluster.ask<wire::MetadataResponse>(1, metadata_request("t"), kMetadataWithIds);
        ASSERT_TRUE(metadata);
        ASSERT_EQ(metadata->topics.at(0).error_code, ErrorCode::None);
        id = metadata->topics.at(0).topic_id;
        ASSERT_NE(id, Uuid{});
    }
    wire::ProduceResponse produce(BrokerId at, std::int16_t version, const std::string& listener = "CLIENT") {
        wire::ProduceRequest request = produce_request("t", 0, 1, 1000, batch_of({1}, 0));
        request.topic_data.at(0).topic_id = id;
        const auto answer = cluster.ask<wire::ProduceResponse>(at, request, version, listener);
        EXPECT_TRUE(answer);
        return *answer;
    }
    /// With an epoch that the leader has never had.
    wire::FetchResponse fetch(BrokerId at, std::int16_t version, LeaderEpoch epoch) {
        wire::FetchRequest request = fetch_request("t", 0, 0, 0);
        request.topics.at(0).topic_id = id;
        request.topics.at(0).partitions.at(0).current_leader_epoch = epoch;
        const auto answer = cluster.ask<wire::FetchResponse>(at, request, version);
        EXPECT_TRUE(answer);
        return *answer;
    }
    Cluster cluster{2};
    Uuid id;
};

TEST_F(LeaderHints, AProduceToAFollowerIsToldTheLeader) {
    for (const std::int16_t version : {kProduceHints, std::int16_t{12}, std::int16_t{13}}) {
        const wire::ProduceResponse response = produce(2, version);
        const auto& answer = response.responses.at(0).partition_responses.at(0);
        EXPECT_EQ(answer.error_code, ErrorCode::NotLeaderOrFollower);
        EXPECT_EQ(answer.current_leader.leader_id, 1) << version;
        EXPECT_EQ(answer.current_leader.leader_epoch, 0) << version;
        ASSERT_EQ(response.node_endpoints.size(), 1U) << version;
        EXPECT_EQ(response.node_endpoints[0].node_id, 1);
        EXPECT_EQ(response.node_endpoints[0].host, "b1");
        EXPECT_EQ(response.node_endpoints[0].port, 2);
    }
    EXPECT_EQ(produce(2, kProduceHints, "DIRECT").node_endpoints.at(0).port, 3);
}

TEST_F(LeaderHints, NothingWhereThereIsNoRoomOrNoError) {
    EXPECT_TRUE(produce(2, kProduceHints - 1).node_endpoints.empty());
    const wire::ProduceResponse fine = produce(1, kProduceHints);
    EXPECT_EQ(fine.responses.at(0).partition_responses.at(0).error_code, ErrorCode::None);
    EXPECT_EQ(fine.responses.at(0).partition_responses.at(0).current_leader.leader_id, kNoBroker);
    EXPECT_TRUE(fine.node_endpoints.empty());
}

TEST_F(LeaderHints, AFetchOfAnOldEpochIsToldTheNewOne) {
    cluster.kill(1);
    const auto leads = [&] { return cluster.facts<node::RoleTaken>(2).back().role == node::Role::Leader; };
    ASSERT_TRUE(cluster.run_until(leads));
    for (const std::int16_t version : {kFetchHints, std::int16_t{18}}) {
        const wire::FetchResponse response = fetch(2, version, 0);
        const auto& answer = response.responses.at(0).partitions.at(0);
        EXPECT_EQ(answer.error_code, ErrorCode::FencedLeaderEpoch);
        EXPECT_EQ(answer.current_leader.leader_id, 2);
        EXPECT_EQ(answer.current_leader.leader_epoch, 1);
        ASSERT_EQ(response.node_endpoints.size(), 1U);
        EXPECT_EQ(response.node_endpoints[0].host, "b2");
    }
    EXPECT_TRUE(fetch(2, kFetchHints - 1, 0).node_endpoints.empty());
}

}  // namespace
}  // namespace highwater::test
