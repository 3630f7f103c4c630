// Goal: who coordinates a group, what survives when another broker takes over, and what is answered
// meanwhile.
#include <gtest/gtest.h>

#include "tests/node_server/cluster.h"
#include "tests/support/requests.h"
#include "wire/messages/delete_groups.h"
#include "wire/messages/describe_groups.h"
#include "wire/messages/find_coordinator.h"
#include "wire/messages/heartbeat.h"
#include "wire/messages/join_group.h"
#include "wire/messages/leave_group.h"
#include "wire/messages/list_groups.h"
#include "wire/messages/offset_commit.h"
#include "wire/messages/offset_fetch.h"
#include "wire/messages/sync_group.h"

namespace highwater::test {
namespace {

using wire::ErrorCode;

constexpr const char* kOffsets = "__consumer_offsets";
constexpr Offset kNothing = -1;

class Groups : public ::testing::Test {
protected:
    void SetUp() override {
        cluster.start_all();
        const auto created =
            cluster.ask<wire::CreateTopicsResponse>(1, create_topic_request("t", {{1, 2}, {2, 1}}, {}), 7);
        ASSERT_TRUE(created) << created.error().message;
        topic_id = created->topics.at(0).topic_id;
    }
    wire::FindCoordinatorResponse::Coordinator find(const std::string& group, BrokerId at = 1,
                                                    std::int8_t type = 0) {
        wire::FindCoordinatorRequest request;
        request.key_type = type;
        request.coordinator_keys = {group};
        const auto answer = cluster.ask<wire::FindCoordinatorResponse>(at, request, 6);
        EXPECT_TRUE(answer) << answer.error().message;
        return answer->coordinators.at(0);
    }
    /// Until there is one that has loaded its groups.
    BrokerId coordinator(const std::string& group, BrokerId at = 1) {
        BrokerId id = kNoBroker;
        EXPECT_TRUE(cluster.run_until([&] {
            id = find(group, at).node_id;
            return id != kNoBroker && cluster.running(id) &&
                   describe(id, group).error_code != ErrorCode::CoordinatorLoadInProgress &&
                   describe(id, group).error_code != ErrorCode::NotCoordinator;
        }));
        return id;
    }
    wire::DescribeGroupsResponse::DescribedGroup describe(BrokerId at, const std::string& group,
                                                          std::int16_t version = 5) {
        wire::DescribeGroupsRequest request;
        request.groups = {group};
        const auto answer = cluster.ask<wire::DescribeGroupsResponse>(at, request, version);
        EXPECT_TRUE(answer) << answer.error().message;
        return answer->groups.at(0);
    }
    ErrorCode commit(BrokerId at, const std::string& group, Offset offset, std::int16_t version = 9,
                     std::int32_t index = 0, const std::string& topic = "t") {
        wire::OffsetCommitRequest request;
        request.group_id = group;
        auto& asked = request.topics.emplace_back();
        if (version < 10)
            asked.name = topic;
        else if (topic == "t")
            asked.topic_id = topic_id;
        asked.partitions.push_back({index, offset, 0, "why"});
        const auto answer = cluster.ask<wire::OffsetCommitResponse>(at, request, version);
        EXPECT_TRUE(answer) << answer.error().message;
        return answer->topics.at(0).partitions.at(0).error_code;
    }
    ConnId send_commit(BrokerId at, const std::string& group, Offset offset) {
        wire::OffsetCommitRequest request;
        request.group_id = group;
        request.topics.push_back({"t", {}, {{0, offset, 0, ""}}});
        const ConnId client = cluster.connect(at);
        cluster.send(client, wire::encode_request(request, 9, 7, "test"));
        return client;
    }
    struct Fetched {
        ErrorCode error = ErrorCode::None;
        Offset offset = kNothing;
    };
    Fetched fetch(BrokerId at, const std::string& group, std::int16_t version = 9) {
        wire::OffsetFetchRequest request;
        request.group_id = group;
        request.topics->push_back({"t", {0}});
        auto& asked = request.groups.emplace_back();
        asked.group_id = group;
        asked.topics->push_back({"t", topic_id, {0}});
        const auto answer = cluster.ask<wire::OffsetFetchResponse>(at, request, version);
        EXPECT_TRUE(answer) << answer.error().message;
        if (version < 8) {
            if (answer->topics.empty()) return {answer->error_code, kNothing};
            const auto& one = answer->topics.at(0).partitions.at(0);
            return {one.error_code, one.committed_offset};
        }
        const auto& of_group = answer->groups.at(0);
        if (of_group.topics.empty()) return {of_group.error_code, kNothing};
        const auto& one = of_group.topics.at(0).partitions.at(0);
        return {one.error_code, one.committed_offset};
    }
    wire::JoinGroupRequest join_request(const std::string& group, const std::string& member = "") {
        wire::JoinGroupRequest request;
        request.group_id = group;
        request.session_timeout_ms = 10'000;
        request.rebalance_timeout_ms = 30'000;
        request.member_id = member;
        request.protocol_type = "consumer";
        request.protocols.push_back({"range", {1}});
        return request;
    }
    Cluster cluster{2,
                    {{"offsets.topic.num.partitions", "4"},
                     {"offsets.topic.replication.factor", "2"},
                     {"group.initial.rebalance.delay.ms", "100"}}};
    Uuid topic_id;
};

TEST_F(Groups, TheFirstQuestionForACoordinatorMakesTheOffsetsTopic) {
    EXPECT_EQ(find("g").error_code, ErrorCode::CoordinatorNotAvailable);
    const BrokerId id = coordinator("g");
    wire::MetadataRequest request;
    request.topics.emplace();
    request.topics->emplace_back().name = kOffsets;
    const auto answer = cluster.ask<wire::MetadataResponse>(1, request, kMetadataVersion);
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_EQ(answer->topics.at(0).partitions.size(), 4U);
    EXPECT_TRUE(answer->topics.at(0).is_internal);
    EXPECT_EQ(answer->topics.at(0).partitions.at(0).replica_nodes.size(), 2U);
    // Java's "g".hashCode() is 103.
    for (const auto& partition : answer->topics.at(0).partitions) {
        if (partition.partition_index == 103 % 4) {
            EXPECT_EQ(partition.leader_id, id);
        }
    }
    EXPECT_EQ(find("tx", 1, 1).error_code, ErrorCode::CoordinatorNotAvailable) << "no transactions";
    wire::FindCoordinatorRequest old;
    old.key = "g";
    for (std::int16_t version = 0; version < 4; ++version)
        EXPECT_EQ(cluster.ask<wire::FindCoordinatorResponse>(2, old, version)->node_id, id);
}

TEST_F(Groups, AGroupsNameIsHashedAsJavaDoes) {
    // "grün" and a name outside the basic plane, with the hashes that Java says they have.
    coordinator("g");
    const auto leader_of = [&](std::int32_t index) {
        wire::MetadataRequest request;
        request.topics.emplace();
        request.topics->emplace_back().name = kOffsets;
        const auto answer = cluster.ask<wire::MetadataResponse>(1, request, kMetadataVersion);
        for (const auto& partition : answer->topics.at(0).partitions) {
            if (partition.partition_index == index) return partition.leader_id;
        }
        return kNoBroker;
    };
    EXPECT_EQ(find("gr\xC3\xBCn").node_id, leader_of(3185949 % 4));
    EXPECT_EQ(find("\xF0\x9F\x98\x80").node_id, leader_of(1772899 % 4));
    EXPECT_EQ(find("polygenelubricants").node_id, leader_of(0)) << "its hash has no absolute value";
}

TEST_F(Groups, OnlyTheCoordinatorAnswers) {
    const BrokerId id = coordinator("g");
    const BrokerId other = 3 - id;
    EXPECT_EQ(commit(other, "g", 5), ErrorCode::NotCoordinator);
    for (const std::int16_t version : {std::int16_t{1}, std::int16_t{2}, std::int16_t{8}, std::int16_t{10}})
        EXPECT_EQ(fetch(other, "g", version).error, ErrorCode::NotCoordinator) << version;
    EXPECT_EQ(describe(other, "g").error_code, ErrorCode::NotCoordinator);
    EXPECT_EQ(cluster.ask<wire::JoinGroupResponse>(other, join_request("g"), 5)->error_code,
              ErrorCode::NotCoordinator);
    EXPECT_EQ(
        cluster.ask<wire::HeartbeatResponse>(other, wire::HeartbeatRequest{"g", 1, "m", {}}, 4)->error_code,
        ErrorCode::NotCoordinator);
    EXPECT_EQ(cluster.ask<wire::JoinGroupResponse>(id, join_request(""), 5)->error_code,
              ErrorCode::InvalidGroupId);
}

TEST_F(Groups, OffsetsAreCommittedAndFetchedInEveryVersion) {
    const BrokerId id = coordinator("g");
    EXPECT_EQ(fetch(id, "g").offset, kNothing);
    for (std::int16_t version = 2; version <= 10; ++version) {
        EXPECT_EQ(commit(id, "g", 10 + version, version), ErrorCode::None) << version;
        for (std::int16_t read = 1; read <= 10; ++read)
            EXPECT_EQ(fetch(id, "g", read).offset, 10 + version) << version << " read by " << read;
    }
    EXPECT_EQ(commit(id, "g", 1, 9, 7), ErrorCode::UnknownTopicOrPartition);
    EXPECT_EQ(commit(id, "g", 1, 9, 0, "nosuch"), ErrorCode::UnknownTopicOrPartition);
    EXPECT_EQ(commit(id, "g", 1, 10, 0, "nosuch"), ErrorCode::UnknownTopicId);
    wire::OffsetFetchRequest all;
    all.groups.emplace_back().group_id = "g";
    all.groups[0].topics.reset();
    const auto answer = cluster.ask<wire::OffsetFetchResponse>(id, all, 10);
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_EQ(answer->groups.at(0).topics.size(), 1U);
    EXPECT_EQ(answer->groups[0].topics[0].topic_id, topic_id);
    EXPECT_EQ(answer->groups[0].topics[0].partitions.at(0).metadata, "why");
}

TEST_F(Groups, TheNextCoordinatorKnowsWhatWasCommitted) {
    const BrokerId id = coordinator("g");
    ASSERT_EQ(commit(id, "g", 42), ErrorCode::None);
    const BrokerId other = 3 - id;
    cluster.kill(id);
    ASSERT_TRUE(cluster.run_until([&] { return find("g", other).node_id == other; }));
    EXPECT_EQ(coordinator("g", other), other);
    EXPECT_EQ(fetch(other, "g").offset, 42);
    cluster.start(id);
    ASSERT_TRUE(cluster.run_until([&] { return commit(other, "g", 43) == ErrorCode::None; }));
}

TEST_F(Groups, AnOffsetCountsOnceItIsCommitted) {
    const BrokerId id = coordinator("g");
    ASSERT_EQ(commit(id, "g", 1), ErrorCode::None);
    cluster.freeze(3 - id);
    const ConnId client = send_commit(id, "g", 2);
    cluster.settle();
    EXPECT_TRUE(cluster.received(client).empty());
    EXPECT_EQ(fetch(id, "g").offset, 1);
    cluster.thaw(3 - id);
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.received(client).empty(); }));
    EXPECT_EQ(fetch(id, "g").offset, 2);
}

class CautiousGroups : public Groups {
protected:
    CautiousGroups() {
        cluster = Cluster(2, {{"offsets.topic.num.partitions", "1"},
                              {"offsets.topic.replication.factor", "2"},
                              {"min.insync.replicas", "2"}});
    }
};

TEST_F(CautiousGroups, NobodyIsToldOfOffsetsThatMayStillBeLost) {
    const BrokerId id = coordinator("g");
    const BrokerId other = 3 - id;
    ASSERT_EQ(commit(id, "g", 1), ErrorCode::None);
    const auto end_at = [&](BrokerId at) {
        Offset end = 0;
        for (const auto& appended : cluster.facts<node::Appended>(at))
            end = std::max(end, appended.log_end_offset);
        return end;
    };
    cluster.freeze(other);
    send_commit(id, "g", 2);
    cluster.settle();
    cluster.thaw(other);
    ASSERT_TRUE(cluster.run_until([&] { return end_at(other) == 2; }));
    // Before it can hear that both have it.
    cluster.kill(id);
    ASSERT_TRUE(cluster.run_until([&] { return find("g", other).node_id == other; }));
    EXPECT_EQ(fetch(other, "g").error, ErrorCode::CoordinatorLoadInProgress);
    EXPECT_EQ(commit(other, "g", 3), ErrorCode::CoordinatorLoadInProgress);
    cluster.start(id);
    ASSERT_TRUE(cluster.run_until([&] { return fetch(other, "g").error == ErrorCode::None; }));
    EXPECT_EQ(fetch(other, "g").offset, 2);
}

TEST_F(Groups, ACommitThatReplicasDoNotConfirmIsAnsweredInTime) {
    const BrokerId id = coordinator("g");
    cluster.freeze(3 - id);
    const Instant before = cluster.now();
    // Within replica.lag.time.max.ms the frozen one still counts.
    const ErrorCode error = commit(id, "g", 5);
    const bool late = error == ErrorCode::CoordinatorNotAvailable && cluster.now() - before == seconds(5);
    const bool alone = error == ErrorCode::None && cluster.now() - before < seconds(5);
    EXPECT_TRUE(late || alone) << wire::error_name(error) << " after " << to_seconds(cluster.now() - before);
}

TEST_F(Groups, AMemberJoinsIsAssignedAndLeaves) {
    const BrokerId id = coordinator("g");
    const auto first = cluster.ask<wire::JoinGroupResponse>(id, join_request("g"), 9);
    ASSERT_TRUE(first);
    ASSERT_EQ(first->error_code, ErrorCode::MemberIdRequired);
    const std::string member = first->member_id;
    EXPECT_TRUE(member.starts_with("test-")) << member;
    const auto joined = cluster.ask<wire::JoinGroupResponse>(id, join_request("g", member), 9);
    ASSERT_TRUE(joined);
    ASSERT_EQ(joined->error_code, ErrorCode::None);
    EXPECT_EQ(joined->leader, member);
    wire::SyncGroupRequest sync;
    sync.group_id = "g";
    sync.generation_id = joined->generation_id;
    sync.member_id = member;
    sync.assignments.push_back({member, {7}});
    const auto synced = cluster.ask<wire::SyncGroupResponse>(id, sync, 5);
    ASSERT_TRUE(synced);
    EXPECT_EQ(synced->error_code, ErrorCode::None);
    EXPECT_EQ(synced->assignment, Bytes{7});
    const auto described = describe(id, "g");
    EXPECT_EQ(described.group_state, "Stable");
    EXPECT_EQ(described.members.at(0).client_id, "test");
    EXPECT_EQ(
        cluster.ask<wire::ListGroupsResponse>(id, wire::ListGroupsRequest{}, 5)->groups.at(0).group_state,
        "Stable");
    wire::DeleteGroupsRequest remove;
    remove.groups_names = {"g", "nosuch"};
    EXPECT_EQ(cluster.ask<wire::DeleteGroupsResponse>(id, remove, 2)->results.at(0).error_code,
              ErrorCode::NonEmptyGroup);
    wire::LeaveGroupRequest leave;
    leave.group_id = "g";
    leave.member_id = member;
    EXPECT_EQ(cluster.ask<wire::LeaveGroupResponse>(id, leave, 2)->error_code, ErrorCode::None);
    EXPECT_EQ(cluster.ask<wire::LeaveGroupResponse>(id, leave, 2)->error_code, ErrorCode::UnknownMemberId);
    EXPECT_EQ(cluster.ask<wire::DeleteGroupsResponse>(id, remove, 2)->results.at(0).error_code,
              ErrorCode::None);
    EXPECT_EQ(describe(id, "g", 6).error_code, ErrorCode::GroupIdNotFound);
}

TEST_F(Groups, AWaitingMemberIsSentOnWhenItsCoordinatorIsReplaced) {
    const BrokerId id = coordinator("g");
    const auto first = cluster.ask<wire::JoinGroupResponse>(id, join_request("g"), 9);
    const ConnId client = cluster.connect(id);
    // A second one that never joins keeps the first waiting.
    ASSERT_TRUE(cluster.ask<wire::JoinGroupResponse>(id, join_request("g"), 9));
    cluster.send(client, wire::encode_request(join_request("g", first->member_id), 9, 7, "test"));
    cluster.settle();
    EXPECT_TRUE(cluster.received(client).empty());
    cluster.terminate(id);
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.received(client).empty(); }));
    const auto answer = wire::decode_response<wire::JoinGroupResponse>(cluster.received(client).at(0), 9, 7);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->error_code, ErrorCode::NotCoordinator);
}

TEST_F(Groups, ClientsDoNotWriteToTheOffsetsTopic) {
    coordinator("g");
    const auto produce = [&](const std::string& client_id) {
        const ConnId client = cluster.connect(1);
        cluster.send(client, wire::encode_request(produce_request(kOffsets, 0, 1, 1000, batch_of({1}, 0)),
                                                  kProduceVersion, 7, client_id));
        EXPECT_TRUE(cluster.run_until([&] { return !cluster.received(client).empty(); }));
        const auto answer =
            wire::decode_response<wire::ProduceResponse>(cluster.received(client).at(0), kProduceVersion, 7);
        EXPECT_TRUE(answer);
        return answer->responses.at(0).partition_responses.at(0).error_code;
    };
    EXPECT_EQ(produce("anybody"), ErrorCode::InvalidTopicException);
    EXPECT_NE(produce("__admin_client"), ErrorCode::InvalidTopicException);
}

}  // namespace
}  // namespace highwater::test
