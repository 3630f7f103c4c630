// Eligible leader replicas over whole servers: which stops are clean is what the broker says of itself, and
// DescribeTopicPartitions tells who is eligible.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/node_server/cluster.h"
#include "tests/support/requests.h"
#include "wire/messages/describe_topic_partitions.h"

namespace highwater::test {
namespace {

using wire::ErrorCode;
using Ids = std::vector<BrokerId>;
using Topic = wire::DescribeTopicPartitionsResponse::DescribeTopicPartitionsResponseTopic;

class Elr : public ::testing::Test {
protected:
    void SetUp() override {
        cluster.start_all();
        create("t", {{1, 2}});
    }
    void create(const std::string& topic, const std::vector<Ids>& assignment) {
        const auto created = cluster.ask<wire::CreateTopicsResponse>(
            1, create_topic_request(topic, assignment, {}), kCreateTopicsVersion);
        ASSERT_TRUE(created) << created.error().message;
        ASSERT_EQ(created->topics.at(0).error_code, ErrorCode::None);
    }
    [[nodiscard]] node::PartitionChanged last_change() const {
        return cluster.facts<node::PartitionChanged>(kController).back();
    }
    bool until(const std::function<bool(const node::PartitionChanged&)>& condition) {
        return cluster.run_until([&] { return condition(last_change()); });
    }
    wire::DescribeTopicPartitionsResponse describe(const wire::DescribeTopicPartitionsRequest& request,
                                                   BrokerId at = 3) {
        auto answer = cluster.ask<wire::DescribeTopicPartitionsResponse>(at, request, 0);
        EXPECT_TRUE(answer) << answer.error().message;
        return answer ? *answer : wire::DescribeTopicPartitionsResponse{};
    }
    static wire::DescribeTopicPartitionsRequest asking(const std::vector<std::string>& topics) {
        wire::DescribeTopicPartitionsRequest request;
        for (const std::string& name : topics) request.topics.push_back({name});
        return request;
    }

    Cluster cluster{3, {{"min.insync.replicas", "2"}}};
};

TEST_F(Elr, AStoppedFollowerStaysEligibleAndAKilledOneOnlyUntilItRegisters) {
    cluster.terminate(2);
    ASSERT_TRUE(until([](const auto& now) { return now.isr == Ids{1} && now.elr == Ids{2}; }));
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.running(2); }));
    cluster.start(2);
    ASSERT_TRUE(until([](const auto& now) { return now.isr.size() == 2 && now.elr.empty(); }));
    EXPECT_TRUE(cluster.facts<node::BrokerRegistered>(kController).back().clean);

    cluster.kill(2);
    ASSERT_TRUE(until([](const auto& now) { return now.isr == Ids{1} && now.elr == Ids{2}; }));
    cluster.start(2);
    ASSERT_TRUE(until([](const auto& now) { return now.isr == Ids{1} && now.elr.empty(); }));
    EXPECT_FALSE(cluster.facts<node::BrokerRegistered>(kController).back().clean);
    EXPECT_TRUE(until([](const auto& now) { return now.isr.size() == 2; }));
}

TEST_F(Elr, WithNobodyInTheIsrACleanlyStoppedReplicaLeads) {
    cluster.terminate(2);
    ASSERT_TRUE(until([](const auto& now) { return now.elr == Ids{2}; }));
    cluster.kill(1);
    ASSERT_TRUE(until([](const auto& now) { return now.leader == kNoBroker; }));
    EXPECT_EQ(last_change().elr, (Ids{1, 2}));
    EXPECT_EQ(last_change().last_known_elr, Ids{1});
    cluster.start(2);
    ASSERT_TRUE(until([](const auto& now) { return now.leader == 2; }));
    EXPECT_FALSE(last_change().unclean);
    EXPECT_EQ(last_change().isr, Ids{2});
    EXPECT_EQ(last_change().elr, Ids{1});
    // And it is there: the other one follows it.
    cluster.start(1);
    EXPECT_TRUE(until([](const auto& now) { return now.isr.size() == 2 && now.leader == 2; }));
}

TEST_F(Elr, AfterUncleanStopsOfAllTheLastKnownLeaderLeads) {
    cluster.kill(2);
    ASSERT_TRUE(until([](const auto& now) { return now.elr == Ids{2}; }));
    cluster.kill(1);
    ASSERT_TRUE(until([](const auto& now) { return now.leader == kNoBroker; }));
    cluster.start(2);
    ASSERT_TRUE(until([](const auto& now) { return now.elr == Ids{1}; }));
    cluster.start(1);
    ASSERT_TRUE(until([](const auto& now) { return now.leader == 1; }));
    const auto changes = cluster.facts<node::PartitionChanged>(kController);
    EXPECT_TRUE(std::any_of(changes.begin(), changes.end(), [](const node::PartitionChanged& change) {
        return change.last_known_leader && change.leader == 1 && change.isr == Ids{1};
    }));
    // Which it could not propose before it has recovered.
    EXPECT_TRUE(until([](const auto& now) { return now.isr.size() == 2; }));
}

TEST_F(Elr, ThePartitionsMinIsrIsTheClustersNotTheBrokersOwn) {
    cluster.kill(2);
    cluster.configure(2, "min.insync.replicas", "1");
    ASSERT_TRUE(until([](const auto& now) { return now.isr == Ids{1}; }));
    cluster.start(2);
    ASSERT_TRUE(until([](const auto& now) { return now.isr.size() == 2; }));
    cluster.kill(1);
    ASSERT_TRUE(until([](const auto& now) { return now.leader == 2 && now.elr == Ids{1}; }));
    const auto answer = cluster.ask<wire::ProduceResponse>(
        2, produce_request("t", 0, -1, 1000, batch_of({1}, 0)), kProduceVersion);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->responses.at(0).partition_responses.at(0).error_code, ErrorCode::NotEnoughReplicas);
}

// -- DescribeTopicPartitions
// --------------------------------------------------------------------------------------

TEST_F(Elr, DescribeTopicPartitionsTellsWhoIsEligibleAndWhoIsOffline) {
    cluster.kill(2);
    ASSERT_TRUE(until([](const auto& now) { return now.elr == Ids{2}; }));
    cluster.kill(1);
    ASSERT_TRUE(until([](const auto& now) { return now.leader == kNoBroker; }));
    const auto knows = [&] {
        return !describe(asking({"t"})).topics.at(0).partitions.at(0).last_known_elr->empty();
    };
    ASSERT_TRUE(cluster.run_until(knows));
    const Topic topic = describe(asking({"t"})).topics.at(0);
    EXPECT_EQ(topic.error_code, ErrorCode::None);
    EXPECT_EQ(topic.name, "t");
    EXPECT_NE(topic.topic_id, Uuid{});
    const auto& partition = topic.partitions.at(0);
    EXPECT_EQ(partition.error_code, ErrorCode::LeaderNotAvailable);
    EXPECT_EQ(partition.leader_id, -1);
    EXPECT_EQ(partition.leader_epoch, 1);
    EXPECT_EQ(partition.replica_nodes, (Ids{1, 2}));
    EXPECT_EQ(partition.isr_nodes, Ids{});
    EXPECT_EQ(partition.eligible_leader_replicas, (Ids{1, 2}));
    EXPECT_EQ(partition.last_known_elr, Ids{1});
    EXPECT_EQ(partition.offline_replicas, (Ids{1, 2}));
    EXPECT_EQ(describe(asking({"u"})).topics.at(0).error_code, ErrorCode::UnknownTopicOrPartition);
}

TEST_F(Elr, DescribeTopicPartitionsGoesOnWhereTheLastPageEnded) {
    create("many", {{1, 2}, {2, 3}, {3, 1}, {1, 2}, {2, 3}});
    wire::DescribeTopicPartitionsRequest request;  // all topics
    request.response_partition_limit = 3;
    auto page = describe(request, 1);
    ASSERT_EQ(page.topics.size(), 1U);
    EXPECT_EQ(page.topics[0].name, "many");
    EXPECT_EQ(page.topics[0].partitions.size(), 3U);
    ASSERT_TRUE(page.next_cursor.has_value());
    EXPECT_EQ(page.next_cursor->topic_name, "many");
    EXPECT_EQ(page.next_cursor->partition_index, 3);

    request.cursor = {page.next_cursor->topic_name, page.next_cursor->partition_index};
    page = describe(request, 1);
    ASSERT_EQ(page.topics.size(), 2U);
    EXPECT_EQ(page.topics[0].partitions.size(), 2U);
    EXPECT_EQ(page.topics[0].partitions[0].partition_index, 3);
    EXPECT_EQ(page.topics[1].name, "t");
    EXPECT_FALSE(page.next_cursor.has_value());

    // A page that ends with a topic goes on with the next.
    request.response_partition_limit = 2;
    page = describe(request, 1);
    ASSERT_TRUE(page.next_cursor.has_value());
    EXPECT_EQ(page.next_cursor->topic_name, "t");
    EXPECT_EQ(page.next_cursor->partition_index, 0);

    // A cursor must point at something that is asked for.
    auto contradicting = asking({"many"});
    contradicting.cursor = {"t", 0};
    EXPECT_EQ(describe(contradicting, 1).topics.at(0).error_code, ErrorCode::InvalidRequest);
    contradicting.cursor = {"many", -1};
    EXPECT_EQ(describe(contradicting, 1).topics.at(0).error_code, ErrorCode::InvalidRequest);
}

}  // namespace
}  // namespace highwater::test
