// A deleted topic is gone from every broker, for whoever waits for it and for whoever was away.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "node/log/checkpoint.h"
#include "node/log/file_storage.h"
#include "tests/node_server/cluster.h"
#include "tests/support/requests.h"
#include "wire/messages/delete_topics.h"

namespace highwater::test {
namespace {

using wire::ErrorCode;

class TopicDeletion : public ::testing::Test {
protected:
    void SetUp() override {
        cluster.start_all();
        create("t", {{1, 2}, {2, 1}});
        create("kept", {{1, 2}});
    }
    void create(const std::string& topic, const std::vector<std::vector<BrokerId>>& assignments) {
        const auto created = cluster.ask<wire::CreateTopicsResponse>(
            1, create_topic_request(topic, assignments, {}), kCreateTopicsVersion);
        ASSERT_TRUE(created) << created.error().message;
        ASSERT_EQ(created->topics.at(0).error_code, ErrorCode::None);
        ASSERT_TRUE(cluster.run_until([&] { return produced(topic) == ErrorCode::None; }));
    }
    void remove(const std::string& topic) {
        wire::DeleteTopicsRequest request;
        request.topic_names = {topic};
        const auto answer = cluster.ask<wire::DeleteTopicsResponse>(1, request, 5);
        ASSERT_TRUE(answer) << answer.error().message;
        ASSERT_EQ(answer->responses.at(0).error_code, ErrorCode::None);
    }
    ErrorCode produced(const std::string& topic, BrokerId at = 1) {
        const auto answer = cluster.ask<wire::ProduceResponse>(
            at, produce_request(topic, 0, -1, 5000, batch_of({1}, 0)), kProduceVersion);
        if (!answer) return ErrorCode::UnknownServerError;
        return answer->responses.at(0).partition_responses.at(0).error_code;
    }
    /// The high watermark of partition 0 in the broker's checkpoint file; -1 if it says nothing of it.
    Offset checkpointed(BrokerId id, const std::string& topic) {
        const auto text = cluster.storage(id).read_file(node::kReplicationOffsetCheckpoint);
        if (!text || !text->has_value()) return -1;
        const auto offsets =
            node::parse_offset_checkpoint(as_text(**text), node::kReplicationOffsetCheckpoint);
        EXPECT_TRUE(offsets) << offsets.error().message;
        return offsets && offsets->contains({topic, 0}) ? offsets->at({topic, 0}) : -1;
    }
    /// Partition directories of this broker.
    std::vector<std::string> directories(BrokerId id) {
        std::vector<std::string> found;
        const auto names = cluster.storage(id).list("");
        EXPECT_TRUE(names);
        for (const std::string& name : names.value_or(std::vector<std::string>{})) {
            if (name.starts_with("t-") || name.starts_with("kept-")) found.push_back(name);
        }
        return found;
    }
    Cluster cluster{2};
};

using Directories = std::vector<std::string>;

TEST_F(TopicDeletion, RemovesTheFilesOfEveryReplica) {
    ASSERT_EQ(directories(2), (Directories{"kept-0", "t-0", "t-1"}));
    remove("t");
    ASSERT_TRUE(cluster.run_until(
        [&] { return directories(1) == Directories{"kept-0"} && directories(2) == Directories{"kept-0"}; }));
    EXPECT_EQ(produced("t"), ErrorCode::UnknownTopicOrPartition);
    EXPECT_EQ(produced("kept"), ErrorCode::None);
    const auto deleted = cluster.facts<node::TopicDeleted>(kController);
    ASSERT_EQ(deleted.size(), 1U);
    EXPECT_EQ(deleted[0].topic, "t");
}

TEST_F(TopicDeletion, AnswersWhoWaits) {
    const ConnId consumer = cluster.connect(1);
    cluster.send(consumer, wire::encode_request(fetch_request("t", 0, 1, 60'000), kFetchVersion, 7, "test"));
    cluster.freeze(2);
    const ConnId producer = cluster.connect(1);
    cluster.send(producer, wire::encode_request(produce_request("t", 0, -1, 60'000, batch_of({2}, 0)),
                                                kProduceVersion, 7, "test"));
    cluster.settle();
    ASSERT_TRUE(cluster.received(consumer).empty());
    ASSERT_TRUE(cluster.received(producer).empty());
    remove("t");
    ASSERT_TRUE(cluster.run_until(
        [&] { return !cluster.received(consumer).empty() && !cluster.received(producer).empty(); },
        seconds(2)));
    const auto fetched =
        wire::decode_response<wire::FetchResponse>(cluster.received(consumer).at(0), kFetchVersion, 7);
    EXPECT_EQ(fetched->responses.at(0).partitions.at(0).error_code, ErrorCode::UnknownTopicOrPartition);
    const auto answered =
        wire::decode_response<wire::ProduceResponse>(cluster.received(producer).at(0), kProduceVersion, 7);
    EXPECT_EQ(answered->responses.at(0).partition_responses.at(0).error_code,
              ErrorCode::UnknownTopicOrPartition);
}

TEST_F(TopicDeletion, AStrayDirectoryOfWhoWasAwayDoesNotComeBack) {
    cluster.kill(2);
    remove("t");
    cluster.start(2);
    ASSERT_TRUE(cluster.run_until([&] { return directories(2) == Directories{"kept-0"}; }));
    EXPECT_TRUE(cluster.logged(2, "was deleted meanwhile"));
}

TEST_F(TopicDeletion, ANewTopicOfThatNameStartsEmpty) {
    cluster.kill(2);
    remove("t");
    const auto created = cluster.ask<wire::CreateTopicsResponse>(
        1, create_topic_request("t", {{1, 2}}, {{"min.insync.replicas", "1"}}), kCreateTopicsVersion);
    ASSERT_TRUE(created) << created.error().message;
    ASSERT_EQ(created->topics.at(0).error_code, ErrorCode::None);
    cluster.start(2);
    ASSERT_TRUE(cluster.run_until(
        [&] { return cluster.facts<node::PartitionChanged>(kController).back().isr.size() == 2; }));
    ASSERT_EQ(produced("t"), ErrorCode::None);
    for (const BrokerId at : {1, 2}) {
        wire::ListOffsetsRequest request;
        request.replica_id = -2;
        auto& topic = request.topics.emplace_back();
        topic.name = "t";
        topic.partitions.push_back({0, -1, -1});
        ASSERT_TRUE(cluster.run_until([&] {
            const auto answer = cluster.ask<wire::ListOffsetsResponse>(at, request, kListOffsetsVersion);
            return answer && answer->topics.at(0).partitions.at(0).offset == 1;
        })) << at;
    }
}

TEST_F(TopicDeletion, ANewTopicOfThatNameMeetsNoCheckpointOfTheOldOne) {
    for (int i = 0; i < 5; ++i) ASSERT_EQ(produced("t"), ErrorCode::None);
    ASSERT_TRUE(cluster.run_until([&] { return checkpointed(1, "t") == 6 && checkpointed(2, "t") == 6; }));
    remove("t");
    ASSERT_TRUE(cluster.run_until([&] { return directories(2) == Directories{"kept-0"}; }));
    // The file is written again only some seconds later: broker 2 does not live to see it.
    ASSERT_EQ(checkpointed(2, "t"), 6);
    cluster.kill(2);
    ASSERT_TRUE(cluster.run_until([&] { return checkpointed(1, "t") == -1; }));
    cluster.start(2);
    create("t", {{1, 2}});
    for (const BrokerId id : {1, 2}) {
        ASSERT_TRUE(cluster.run_until([&] { return checkpointed(id, "t") == 1; })) << id;
        EXPECT_FALSE(cluster.logged(id, "t-0: log end offset 0, checkpointed high watermark 6")) << id;
    }
}

TEST(TopicDeletionOnDisk, AnEmptyDirectoryIsRemovedLikeAFile) {
    const std::filesystem::path root =
        std::filesystem::path(testing::TempDir()) / ("topic-deletion-" + std::to_string(::getpid()));
    std::filesystem::create_directories(root / "t-0");
    node::FileStorage storage(root.string());
    ASSERT_TRUE(
        storage.replace_file("t-0/partition.metadata", as_bytes_view("x"), node::Durability::Flushed));
    EXPECT_FALSE(storage.remove_file("t-0")) << "there is something in it";
    EXPECT_TRUE(storage.remove_file("t-0/partition.metadata"));
    EXPECT_TRUE(storage.remove_file("t-0"));
    EXPECT_FALSE(std::filesystem::exists(root / "t-0"));
    EXPECT_TRUE(storage.remove_file("t-0")) << "none there is no error";
    std::filesystem::remove_all(root);
}

TEST_F(TopicDeletion, SurvivesARestartOfEverybody) {
    remove("t");
    ASSERT_TRUE(cluster.run_until([&] { return directories(2) == Directories{"kept-0"}; }));
    for (const BrokerId id : {1, 2, kController}) cluster.kill(id);
    cluster.start_all();
    ASSERT_TRUE(cluster.run_until(
        [&] { return produced("kept", 1) == ErrorCode::None || produced("kept", 2) == ErrorCode::None; }));
    EXPECT_EQ(produced("t"), ErrorCode::UnknownTopicOrPartition);
    EXPECT_EQ(directories(1), (Directories{"kept-0"}));
}

}  // namespace
}  // namespace highwater::test
