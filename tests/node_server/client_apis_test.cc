// The APIs of clients that are neither Produce nor Fetch: what a broker answers itself, and what it passes
// on.
#include <gtest/gtest.h>

#include "tests/node_server/cluster.h"
#include "tests/support/requests.h"
#include "wire/messages/delete_topics.h"
#include "wire/messages/describe_cluster.h"
#include "wire/messages/describe_configs.h"
#include "wire/messages/describe_log_dirs.h"
#include "wire/messages/elect_leaders.h"
#include "wire/messages/find_coordinator.h"
#include "wire/messages/incremental_alter_configs.h"
#include "wire/messages/init_producer_id.h"
#include "wire/messages/list_partition_reassignments.h"
#include "wire/messages/offset_for_leader_epoch.h"

namespace highwater::test {
namespace {

using wire::ErrorCode;

class ClientApis : public ::testing::Test {
protected:
    void SetUp() override {
        cluster.start_all();
        const auto created = cluster.ask<wire::CreateTopicsResponse>(
            1, create_topic_request("t", {{1, 2}}, {{"min.insync.replicas", "1"}}), kCreateTopicsVersion);
        ASSERT_TRUE(created) << created.error().message;
        ASSERT_TRUE(cluster.run_until([&] { return cluster.facts<node::RoleTaken>(2).size() == 1; }));
        ASSERT_TRUE(cluster.run_until([&] { return !cluster.facts<node::RoleTaken>(1).empty(); }));
    }
    void produce(std::uint64_t value, std::int64_t timestamp, BrokerId at = 1) {
        const auto answer = cluster.ask<wire::ProduceResponse>(
            at, produce_request("t", 0, -1, 1000, batch_of({value}, timestamp)), kProduceVersion);
        ASSERT_TRUE(answer);
        ASSERT_EQ(answer->responses.at(0).partition_responses.at(0).error_code, ErrorCode::None);
    }
    [[nodiscard]] node::Role role(BrokerId id) const {
        const auto roles = cluster.facts<node::RoleTaken>(id);
        return roles.empty() ? node::Role::None : roles.back().role;
    }
    auto list_at(std::int64_t timestamp, std::int16_t version = 7, LeaderEpoch epoch = kNoEpoch,
                 BrokerId at = 1) {
        wire::ListOffsetsRequest request;
        request.replica_id = -1;
        auto& topic = request.topics.emplace_back();
        topic.name = "t";
        topic.partitions.push_back({0, epoch, timestamp});
        const auto answer = cluster.ask<wire::ListOffsetsResponse>(at, request, version);
        EXPECT_TRUE(answer) << answer.error().message;
        return answer->topics.at(0).partitions.at(0);
    }
    auto epoch_end(BrokerId at, LeaderEpoch current, LeaderEpoch asked, const std::string& topic = "t",
                   std::int16_t version = 4) {
        wire::OffsetForLeaderEpochRequest request;
        request.topics.push_back({topic, {{0, current, asked}}});
        const auto answer = cluster.ask<wire::OffsetForLeaderEpochResponse>(at, request, version);
        EXPECT_TRUE(answer) << answer.error().message;
        return answer->topics.at(0).partitions.at(0);
    }
    wire::DescribeConfigsResponse::DescribeConfigsResult configs(std::int8_t type, const std::string& name,
                                                                 std::vector<std::string> keys = {}) {
        wire::DescribeConfigsRequest request;
        request.include_synonyms = true;
        request.resources.push_back({type, name, std::move(keys)});
        const auto answer = cluster.ask<wire::DescribeConfigsResponse>(1, request, 4);
        EXPECT_TRUE(answer) << answer.error().message;
        return answer->results.at(0);
    }
    ErrorCode alter(const std::string& key, std::optional<std::string> value, std::int8_t operation = 0) {
        wire::IncrementalAlterConfigsRequest request;
        request.resources.push_back({2, "t", {{key, operation, std::move(value)}}});
        const auto answer = cluster.ask<wire::IncrementalAlterConfigsResponse>(2, request, 1);
        EXPECT_TRUE(answer) << answer.error().message;
        return answer->responses.at(0).error_code;
    }
    wire::InitProducerIdResponse init(BrokerId at, wire::InitProducerIdRequest request = {}) {
        if (request.transactional_id == "") request.transactional_id.reset();
        const auto answer = cluster.ask<wire::InitProducerIdResponse>(at, request, 5);
        EXPECT_TRUE(answer) << answer.error().message;
        return *answer;
    }
    Cluster cluster{2, {{"unclean.leader.election.enable", "true"}}};
};

// -- offsets ------------------------------------------------------------------------------------------------

TEST_F(ClientApis, ListOffsetsByTimeFindsTheFirstRecordAtOrPastIt) {
    produce(1, 100);
    produce(2, 300);
    produce(3, 200);
    produce(4, 300);
    EXPECT_EQ(list_at(0).offset, 0);
    EXPECT_EQ(list_at(101).offset, 1);
    EXPECT_EQ(list_at(101).timestamp, 300);
    EXPECT_EQ(list_at(101).leader_epoch, 0);
    EXPECT_EQ(list_at(301).offset, -1);
    EXPECT_EQ(list_at(301).error_code, ErrorCode::None);
    EXPECT_EQ(list_at(-3).offset, 1) << "the first of the newest";
    EXPECT_EQ(list_at(-3).timestamp, 300);
    EXPECT_EQ(list_at(-1).offset, 4);
    EXPECT_EQ(list_at(-2).offset, 0);
    EXPECT_EQ(list_at(-4, 8).offset, 0);
    EXPECT_EQ(list_at(-5, 9).offset, -1);
    EXPECT_EQ(list_at(-7, 11).error_code, ErrorCode::InvalidRequest);
}

TEST_F(ClientApis, ListOffsetsIsFencedByTheLeaderEpoch) {
    produce(1, 100);
    for (const std::int64_t timestamp : {-1, -2, -3, 50}) {
        EXPECT_EQ(list_at(timestamp, 7, 0).error_code, ErrorCode::None);
        EXPECT_EQ(list_at(timestamp, 7, 5).error_code, ErrorCode::UnknownLeaderEpoch);
        EXPECT_EQ(list_at(timestamp, 7, kNoEpoch, 2).error_code, ErrorCode::NotLeaderOrFollower);
    }
    cluster.kill(1);
    ASSERT_TRUE(cluster.run_until([&] { return role(2) == node::Role::Leader; }));
    for (const std::int64_t timestamp : {-1, -2, -3, 50})
        EXPECT_EQ(list_at(timestamp, 7, 0, 2).error_code, ErrorCode::FencedLeaderEpoch);
}

TEST_F(ClientApis, ListOffsetsWaitsForTheHighWatermarkAfterAnElection) {
    // A successor that holds what it may not yet call committed: its own ISR is too small.
    ASSERT_EQ(alter("min.insync.replicas", "2"), ErrorCode::None);
    produce(1, 100);
    cluster.freeze(2);
    const ConnId producer = cluster.connect(1);
    cluster.send(producer, wire::encode_request(produce_request("t", 0, -1, 60'000, batch_of({2}, 200)),
                                                kProduceVersion, 7, "test"));
    cluster.settle();
    cluster.thaw(2);
    ASSERT_TRUE(cluster.run_until([&] {
        const auto appended = cluster.facts<node::Appended>(2);
        return !appended.empty() && appended.back().log_end_offset == 2;
    }));
    // Before 2 can hear that both have it.
    cluster.kill(1);
    ASSERT_TRUE(cluster.run_until([&] { return role(2) == node::Role::Leader; }));
    EXPECT_EQ(list_at(-1, 7, 1, 2).error_code, ErrorCode::OffsetNotAvailable);
    EXPECT_EQ(list_at(-1, 4, 1, 2).error_code, ErrorCode::LeaderNotAvailable) << "the older word for it";
    EXPECT_EQ(list_at(150, 7, 1, 2).error_code, ErrorCode::OffsetNotAvailable);
    EXPECT_EQ(list_at(50, 7, 1, 2).offset, 0) << "what is below the high watermark is known";
    EXPECT_EQ(list_at(-2, 7, 1, 2).offset, 0);
}

TEST_F(ClientApis, OffsetForLeaderEpochTellsWhereEachEpochEnded) {
    produce(1, 100);
    produce(2, 100);
    EXPECT_EQ(epoch_end(1, 0, 0).end_offset, 2);
    cluster.kill(1);
    ASSERT_TRUE(cluster.run_until([&] { return role(2) == node::Role::Leader; }));
    produce(3, 100, 2);
    for (const std::int16_t version : {std::int16_t{2}, std::int16_t{3}, std::int16_t{4}}) {
        const auto first = epoch_end(2, 1, 0, "t", version);
        EXPECT_EQ(std::pair(first.leader_epoch, first.end_offset), std::pair(0, Offset{2}));
        const auto latest = epoch_end(2, -1, 1, "t", version);
        EXPECT_EQ(std::pair(latest.leader_epoch, latest.end_offset), std::pair(1, Offset{3}));
    }
    const auto later = epoch_end(2, 1, 7);
    EXPECT_EQ(later.error_code, ErrorCode::None);
    EXPECT_EQ(std::pair(later.leader_epoch, later.end_offset), std::pair(-1, kUnknownOffset));
    EXPECT_EQ(epoch_end(2, 1, -1).end_offset, kUnknownOffset);
    EXPECT_EQ(epoch_end(2, 0, 0).error_code, ErrorCode::FencedLeaderEpoch);
    EXPECT_EQ(epoch_end(2, 9, 0).error_code, ErrorCode::UnknownLeaderEpoch);
    EXPECT_EQ(epoch_end(2, 1, 0, "u").error_code, ErrorCode::UnknownTopicOrPartition);
}

TEST_F(ClientApis, OffsetForLeaderEpochIsForLeaders) {
    EXPECT_EQ(epoch_end(2, 0, 0).error_code, ErrorCode::NotLeaderOrFollower);
}

// -- finding one's way --------------------------------------------------------------------------------------

TEST_F(ClientApis, MetadataByTopicId) {
    const auto by_name = cluster.ask<wire::MetadataResponse>(1, metadata_request("t"), 12);
    ASSERT_TRUE(by_name);
    wire::MetadataRequest request;
    request.topics.emplace();
    request.topics->push_back({by_name->topics.at(0).topic_id, std::nullopt});
    request.topics->push_back({{{1, 2, 3}}, std::nullopt});
    const auto by_id = cluster.ask<wire::MetadataResponse>(1, request, 13);
    ASSERT_TRUE(by_id) << by_id.error().message;
    EXPECT_EQ(by_id->topics.at(0).name, "t");
    EXPECT_EQ(by_id->topics.at(0).partitions.at(0).leader_id, 1);
    EXPECT_EQ(by_id->topics.at(1).error_code, ErrorCode::UnknownTopicId);
}

TEST_F(ClientApis, MetadataNeverCreatesTopics) {
    wire::MetadataRequest request = metadata_request("u");
    request.allow_auto_topic_creation = true;
    for (int i = 0; i < 2; ++i) {
        const auto answer = cluster.ask<wire::MetadataResponse>(1, request, 8);
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->topics.at(0).error_code, ErrorCode::UnknownTopicOrPartition);
        cluster.advance(seconds(1));
    }
}

TEST_F(ClientApis, ProduceAndFetchByTopicId) {
    const auto metadata = cluster.ask<wire::MetadataResponse>(1, metadata_request("t"), 12);
    ASSERT_TRUE(metadata);
    const Uuid id = metadata->topics.at(0).topic_id;
    wire::ProduceRequest produce = produce_request("", 0, -1, 1000, batch_of({7}, 0));
    produce.topic_data.at(0).topic_id = id;
    const auto produced = cluster.ask<wire::ProduceResponse>(1, produce, 13);
    ASSERT_TRUE(produced) << produced.error().message;
    EXPECT_EQ(produced->responses.at(0).topic_id, id);
    EXPECT_EQ(produced->responses.at(0).partition_responses.at(0).error_code, ErrorCode::None);
    wire::FetchRequest fetch = fetch_request("", 0, 0, 0);
    fetch.topics.at(0).topic_id = id;
    for (const std::int16_t version : {std::int16_t{13}, std::int16_t{15}, std::int16_t{17}}) {
        const auto fetched = cluster.ask<wire::FetchResponse>(1, fetch, version);
        ASSERT_TRUE(fetched) << fetched.error().message;
        EXPECT_EQ(fetched->responses.at(0).partitions.at(0).error_code, ErrorCode::None);
        EXPECT_EQ(records_of(*fetched->responses.at(0).partitions.at(0).records)->size(), 1U);
    }
    produce.topic_data.at(0).topic_id = {{9}};
    fetch.topics.at(0).topic_id = {{9}};
    EXPECT_EQ(cluster.ask<wire::ProduceResponse>(1, produce, 13)
                  ->responses.at(0)
                  .partition_responses.at(0)
                  .error_code,
              ErrorCode::UnknownTopicId);
    EXPECT_EQ(cluster.ask<wire::FetchResponse>(1, fetch, 17)->responses.at(0).partitions.at(0).error_code,
              ErrorCode::UnknownTopicId);
}

TEST_F(ClientApis, DescribeClusterListsTheBrokersOfTheListener) {
    wire::DescribeClusterRequest request;
    const auto answer = cluster.ask<wire::DescribeClusterResponse>(2, request, 2, "DIRECT");
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->cluster_id, "Yag0zed1TaqtJD_IdOE8Ag");
    EXPECT_EQ(answer->controller_id, 2);
    ASSERT_EQ(answer->brokers.size(), 2U);
    EXPECT_EQ(answer->brokers[0].host, "b1");
    EXPECT_EQ(answer->brokers[0].port, 3);

    cluster.kill(1);
    ASSERT_TRUE(cluster.run_until([&] { return role(2) == node::Role::Leader; }));
    EXPECT_EQ(cluster.ask<wire::DescribeClusterResponse>(2, request, 0)->brokers.size(), 1U);
    request.include_fenced_brokers = true;
    const auto all = cluster.ask<wire::DescribeClusterResponse>(2, request, 2);
    ASSERT_EQ(all->brokers.size(), 2U);
    EXPECT_TRUE(all->brokers[0].is_fenced);
    request.endpoint_type = 2;
    EXPECT_EQ(cluster.ask<wire::DescribeClusterResponse>(2, request, 1)->error_code,
              ErrorCode::MismatchedEndpointType);
}

TEST_F(ClientApis, FindCoordinatorSaysThatThereIsNone) {
    wire::FindCoordinatorRequest request;
    request.key = "group";
    for (const std::int16_t version : {std::int16_t{0}, std::int16_t{2}, std::int16_t{3}}) {
        const auto answer = cluster.ask<wire::FindCoordinatorResponse>(1, request, version);
        ASSERT_TRUE(answer) << answer.error().message;
        EXPECT_EQ(answer->error_code, ErrorCode::CoordinatorNotAvailable);
        EXPECT_EQ(answer->node_id, -1);
    }
    request.coordinator_keys = {"a", "b"};
    const auto several = cluster.ask<wire::FindCoordinatorResponse>(1, request, 6);
    ASSERT_TRUE(several) << several.error().message;
    ASSERT_EQ(several->coordinators.size(), 2U);
    EXPECT_EQ(several->coordinators[1].key, "b");
    EXPECT_EQ(several->coordinators[1].error_code, ErrorCode::CoordinatorNotAvailable);
}

TEST_F(ClientApis, DescribeLogDirsTellsTheSizeOfEachReplicaHere) {
    wire::DescribeLogDirsRequest request;
    request.topics.reset();
    const auto sizes = [&](BrokerId at, std::int16_t version) {
        const auto answer = cluster.ask<wire::DescribeLogDirsResponse>(at, request, version);
        EXPECT_TRUE(answer) << answer.error().message;
        EXPECT_EQ(answer->error_code, ErrorCode::None);
        std::map<std::string, std::int64_t> found;
        for (const auto& topic : answer->results.at(0).topics) {
            for (const auto& partition : topic.partitions) {
                EXPECT_EQ(partition.offset_lag, 0);
                found[topic.name + "-" + std::to_string(partition.partition_index)] =
                    partition.partition_size;
            }
        }
        return found;
    };
    EXPECT_EQ(sizes(1, 5), (std::map<std::string, std::int64_t>{{"t-0", 0}}));
    const Bytes batch = batch_of({1}, 100);
    produce(1, 100);
    const auto size = static_cast<std::int64_t>(batch.size());
    for (std::int16_t version = 1; version <= 5; ++version)
        EXPECT_EQ(sizes(1, version), (std::map<std::string, std::int64_t>{{"t-0", size}}));
    ASSERT_TRUE(cluster.run_until([&] { return sizes(2, 5).at("t-0") == size; }));
    request.topics.emplace();
    request.topics->push_back({"t", {1, 7}});
    EXPECT_TRUE(sizes(1, 5).empty()) << "only what was asked for";
    request.topics->push_back({"t", {0}});
    EXPECT_EQ(sizes(1, 5).size(), 1U);
}

TEST_F(ClientApis, NoPartitionIsBeingReassigned) {
    wire::ListPartitionReassignmentsRequest request;
    request.topics.emplace();
    request.topics->push_back({"t", {0}});
    const auto answer = cluster.ask<wire::ListPartitionReassignmentsResponse>(2, request, 0);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->error_code, ErrorCode::None);
    EXPECT_TRUE(answer->topics.empty());
}

// -- configs ------------------------------------------------------------------------------------------------

TEST_F(ClientApis, DescribeConfigsOfATopicTellsWhereEachValueComesFrom) {
    const auto result = configs(2, "t");
    EXPECT_EQ(result.error_code, ErrorCode::None);
    std::map<std::string, std::string> texts;
    for (const auto& config : result.configs) {
        std::string text = *config.value + " from " + std::to_string(config.config_source);
        for (const auto& synonym : config.synonyms)
            text += ", " + synonym.name + "=" + *synonym.value + "/" + std::to_string(synonym.source);
        texts[config.name] = text;
    }
    EXPECT_EQ(texts.at("min.insync.replicas"),
              "1 from 1, min.insync.replicas=1/1, min.insync.replicas=1/3, min.insync.replicas=1/5");
    EXPECT_EQ(texts.at("max.message.bytes"), "1048588 from 5, message.max.bytes=1048588/5");
    EXPECT_EQ(texts.at("unclean.leader.election.enable"),
              "true from 4, unclean.leader.election.enable=true/4, unclean.leader.election.enable=false/5");
    EXPECT_EQ(configs(2, "t", {"min.insync.replicas"}).configs.size(), 1U);
    EXPECT_EQ(configs(2, "u").error_code, ErrorCode::UnknownTopicOrPartition);
}

TEST_F(ClientApis, DescribeConfigsOfABroker) {
    const auto result = configs(4, "1", {"broker.session.timeout.ms", "node.id", "num.partitions"});
    ASSERT_EQ(result.configs.size(), 3U);
    EXPECT_EQ(result.configs[0].value, "3000");
    EXPECT_EQ(result.configs[0].config_source, 4);
    EXPECT_EQ(result.configs[0].synonyms.at(1).value, "9000");
    EXPECT_EQ(result.configs[1].value, "1");
    EXPECT_EQ(result.configs[2].value, "1");
    EXPECT_EQ(result.configs[2].config_source, 5);
    EXPECT_TRUE(result.configs[2].read_only);
    EXPECT_EQ(configs(4, "2").error_code, ErrorCode::InvalidRequest);
    EXPECT_EQ(configs(4, "").error_code, ErrorCode::None);
    EXPECT_TRUE(configs(4, "").configs.empty());
    EXPECT_EQ(configs(8, "1").error_code, ErrorCode::InvalidRequest);
}

TEST_F(ClientApis, AlteredMinInsyncReplicasHoldsAtOnce) {
    cluster.kill(2);
    ASSERT_TRUE(cluster.run_until([&] {
        const auto changes = cluster.facts<node::PartitionChanged>(kController);
        return changes.back().isr == std::vector<BrokerId>{1};
    }));
    cluster.start(2);  // somebody to ask; it is not in the ISR before it has caught up
    produce(1, 0);
    wire::IncrementalAlterConfigsRequest request;
    request.resources.push_back({2, "t", {{"min.insync.replicas", 0, "2"}}});
    cluster.kill(2);
    const auto altered = cluster.ask<wire::IncrementalAlterConfigsResponse>(1, request, 0);
    ASSERT_TRUE(altered) << altered.error().message;
    ASSERT_EQ(altered->responses.at(0).error_code, ErrorCode::None);
    const auto refused = [&] {
        const auto answer = cluster.ask<wire::ProduceResponse>(
            1, produce_request("t", 0, -1, 1000, batch_of({2}, 0)), kProduceVersion);
        return answer &&
               answer->responses.at(0).partition_responses.at(0).error_code == ErrorCode::NotEnoughReplicas;
    };
    EXPECT_TRUE(cluster.run_until(refused));
}

TEST_F(ClientApis, AlteredMaxMessageBytesHoldsAtOnce) {
    ASSERT_EQ(alter("max.message.bytes", "10"), ErrorCode::None);
    const auto too_large = [&] {
        const auto answer = cluster.ask<wire::ProduceResponse>(
            1, produce_request("t", 0, -1, 1000, batch_of({2}, 0)), kProduceVersion);
        return answer &&
               answer->responses.at(0).partition_responses.at(0).error_code == ErrorCode::MessageTooLarge;
    };
    EXPECT_TRUE(cluster.run_until(too_large));
    ASSERT_EQ(alter("max.message.bytes", std::nullopt, 1), ErrorCode::None);
    EXPECT_TRUE(cluster.run_until([&] { return !too_large(); }));
    EXPECT_EQ(alter("colour", "blue"), ErrorCode::InvalidConfig);
}

TEST_F(ClientApis, ElectLeadersBringsThePreferredLeaderBack) {
    cluster.kill(1);
    ASSERT_TRUE(cluster.run_until([&] { return role(2) == node::Role::Leader; }));
    wire::ElectLeadersRequest request;
    request.topic_partitions->push_back({"t", {0}});
    EXPECT_EQ(cluster.ask<wire::ElectLeadersResponse>(2, request, 2)
                  ->replica_election_results.at(0)
                  .partition_result.at(0)
                  .error_code,
              ErrorCode::PreferredLeaderNotAvailable);
    cluster.start(1);
    ASSERT_TRUE(cluster.run_until(
        [&] { return cluster.facts<node::PartitionChanged>(kController).back().isr.size() == 2; }));
    const auto elected = cluster.ask<wire::ElectLeadersResponse>(2, request, 0);
    ASSERT_TRUE(elected) << elected.error().message;
    EXPECT_EQ(elected->replica_election_results.at(0).partition_result.at(0).error_code, ErrorCode::None);
    EXPECT_EQ(cluster.facts<node::PartitionChanged>(kController).back().cause, "preferred");
    ASSERT_TRUE(cluster.run_until([&] { return role(1) == node::Role::Leader; }));
    produce(1, 0);
}

// -- producer ids -------------------------------------------------------------------------------------------

TEST_F(ClientApis, InitProducerIdGivesEachProducerAnIdOfItsOwn) {
    EXPECT_EQ(init(1).producer_id, 0);
    const auto second = init(1);
    EXPECT_EQ(second.producer_id, 1);
    EXPECT_EQ(second.producer_epoch, 0);
    EXPECT_EQ(init(2).producer_id, 1000) << "another broker, another block";
    for (int i = 2; i < 1000; ++i) ASSERT_EQ(init(1).producer_id, i);
    EXPECT_EQ(init(1).producer_id, 2000) << "the block was used up";
    cluster.kill(2);
    cluster.start(2);
    EXPECT_EQ(init(2).producer_id, 3000) << "what was left of a block is lost with the process";
}

TEST_F(ClientApis, InitProducerIdWithoutAControllerIsAskedAgain) {
    cluster.kill(kController);
    wire::InitProducerIdRequest request;
    request.transactional_id.reset();
    const auto answer = cluster.ask<wire::InitProducerIdResponse>(1, request, 1, "CLIENT", seconds(60));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->error_code, ErrorCode::CoordinatorLoadInProgress);
}

TEST_F(ClientApis, TransactionsHaveNoCoordinator) {
    wire::InitProducerIdRequest request;
    request.transactional_id = "tx";
    EXPECT_EQ(init(1, request).error_code, ErrorCode::NotCoordinator);
    request.transactional_id.reset();
    request.producer_id = 7;
    EXPECT_EQ(init(1, request).error_code, ErrorCode::InvalidRequest);
    request.producer_epoch = 0;
    EXPECT_EQ(init(1, request).producer_id, 0) << "a new one, whatever it names";
}

TEST_F(ClientApis, TransactionalBatchesAreRefused) {
    wire::BatchSpec spec;
    spec.transactional = true;
    spec.producer_id = 5;
    spec.producer_epoch = 0;
    spec.base_sequence = 0;
    spec.records.emplace_back();
    const auto answer = cluster.ask<wire::ProduceResponse>(
        1, produce_request("t", 0, -1, 1000, wire::encode_batch(spec)), kProduceVersion);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->responses.at(0).partition_responses.at(0).error_code, ErrorCode::InvalidTxnState);
}

TEST_F(ClientApis, ThereAreNoFetchSessions) {
    wire::FetchRequest request = fetch_request("t", 0, 0, 0);
    request.session_epoch = 0;
    const auto opened = cluster.ask<wire::FetchResponse>(1, request, kFetchVersion);
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->session_id, 0);
    EXPECT_EQ(opened->error_code, ErrorCode::None);
    request.session_id = 7;
    EXPECT_EQ(cluster.ask<wire::FetchResponse>(1, request, kFetchVersion)->error_code,
              ErrorCode::FetchSessionIdNotFound);
}

// -- passing on ---------------------------------------------------------------------------------------------

TEST_F(ClientApis, WhatOnlyTheControllerCanDoTimesOutWithoutIt) {
    cluster.kill(kController);
    wire::DeleteTopicsRequest remove;
    remove.topic_names = {"t"};
    const auto removed = cluster.ask<wire::DeleteTopicsResponse>(1, remove, 3, "CLIENT", seconds(60));
    ASSERT_TRUE(removed);
    EXPECT_EQ(removed->responses.at(0).error_code, ErrorCode::RequestTimedOut);
    wire::IncrementalAlterConfigsRequest alter;
    alter.resources.push_back({2, "t", {}});
    const auto altered =
        cluster.ask<wire::IncrementalAlterConfigsResponse>(1, alter, 1, "CLIENT", seconds(60));
    ASSERT_TRUE(altered);
    EXPECT_EQ(altered->responses.at(0).error_code, ErrorCode::RequestTimedOut);
    wire::ElectLeadersRequest elect;
    elect.topic_partitions->push_back({"t", {0}});
    const auto elected = cluster.ask<wire::ElectLeadersResponse>(1, elect, 0, "CLIENT", seconds(60));
    ASSERT_TRUE(elected);
    EXPECT_EQ(elected->replica_election_results.at(0).partition_result.at(0).error_code,
              ErrorCode::RequestTimedOut);
}

TEST_F(ClientApis, CreateTopicsTellsIdAndConfigsInItsLaterVersions) {
    const auto created = cluster.ask<wire::CreateTopicsResponse>(
        2, create_topic_request("u", {{1, 2}}, {{"min.insync.replicas", "2"}}), 7);
    ASSERT_TRUE(created) << created.error().message;
    const auto& topic = created->topics.at(0);
    EXPECT_EQ(topic.num_partitions, 1);
    EXPECT_EQ(topic.replication_factor, 2);
    ASSERT_TRUE(topic.configs);
    std::map<std::string, std::string> values;
    for (const auto& config : *topic.configs) values[config.name] = config.value.value_or("");
    EXPECT_EQ(values.at("min.insync.replicas"), "2");
    const auto known = [&] {
        const auto metadata = cluster.ask<wire::MetadataResponse>(1, metadata_request("u"), 12);
        return metadata && metadata->topics.at(0).topic_id == topic.topic_id;
    };
    EXPECT_TRUE(cluster.run_until(known));
}

TEST_F(ClientApis, ForwardedRequestsOfManyConnectionsAreAllAnswered) {
    std::vector<ConnId> clients;
    for (int i = 0; i < 5; ++i) {
        clients.push_back(cluster.connect(2));
        cluster.send(
            clients.back(),
            wire::encode_request(create_topic_request("t" + std::to_string(i), {{1, 2}}, {}), 7, 7, "test"));
    }
    cluster.disconnect(clients[2]);
    const auto all = [&] {
        for (const std::size_t i : {0U, 1U, 3U, 4U}) {
            if (cluster.received(clients[i]).empty()) return false;
        }
        return true;
    };
    EXPECT_TRUE(cluster.run_until(all));
}

}  // namespace
}  // namespace highwater::test
