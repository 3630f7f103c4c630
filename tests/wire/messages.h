// Every message and metadata record the room implements, to run one test over all of them.
#pragma once

#include <tuple>

#include "wire/messages/allocate_producer_ids.h"
#include "wire/messages/alter_partition.h"
#include "wire/messages/api_versions.h"
#include "wire/messages/broker_heartbeat.h"
#include "wire/messages/broker_registration.h"
#include "wire/messages/create_topics.h"
#include "wire/messages/delete_groups.h"
#include "wire/messages/delete_topics.h"
#include "wire/messages/describe_cluster.h"
#include "wire/messages/describe_configs.h"
#include "wire/messages/describe_groups.h"
#include "wire/messages/describe_log_dirs.h"
#include "wire/messages/describe_topic_partitions.h"
#include "wire/messages/elect_leaders.h"
#include "wire/messages/fetch.h"
#include "wire/messages/find_coordinator.h"
#include "wire/messages/group_records.h"
#include "wire/messages/heartbeat.h"
#include "wire/messages/incremental_alter_configs.h"
#include "wire/messages/init_producer_id.h"
#include "wire/messages/join_group.h"
#include "wire/messages/leave_group.h"
#include "wire/messages/list_groups.h"
#include "wire/messages/list_offsets.h"
#include "wire/messages/list_partition_reassignments.h"
#include "wire/messages/metadata.h"
#include "wire/messages/offset_commit.h"
#include "wire/messages/offset_fetch.h"
#include "wire/messages/offset_for_leader_epoch.h"
#include "wire/messages/produce.h"
#include "wire/messages/sync_group.h"
#include "wire/metadata_record.h"

namespace highwater::test {

template <class... Messages>
struct MessageList {};

using ApiMessages = MessageList<
    wire::ProduceRequest, wire::ProduceResponse, wire::FetchRequest, wire::FetchResponse,
    wire::ListOffsetsRequest, wire::ListOffsetsResponse, wire::MetadataRequest, wire::MetadataResponse,
    wire::ApiVersionsRequest, wire::ApiVersionsResponse, wire::CreateTopicsRequest,
    wire::CreateTopicsResponse, wire::AlterPartitionRequest, wire::AlterPartitionResponse,
    wire::BrokerRegistrationRequest, wire::BrokerRegistrationResponse, wire::BrokerHeartbeatRequest,
    wire::BrokerHeartbeatResponse, wire::AllocateProducerIdsRequest, wire::AllocateProducerIdsResponse,
    wire::DeleteTopicsRequest, wire::DeleteTopicsResponse, wire::DescribeClusterRequest,
    wire::DescribeClusterResponse, wire::DescribeConfigsRequest, wire::DescribeConfigsResponse,
    wire::ElectLeadersRequest, wire::ElectLeadersResponse, wire::FindCoordinatorRequest,
    wire::FindCoordinatorResponse, wire::IncrementalAlterConfigsRequest,
    wire::IncrementalAlterConfigsResponse, wire::InitProducerIdRequest, wire::InitProducerIdResponse,
    wire::OffsetForLeaderEpochRequest, wire::OffsetForLeaderEpochResponse, wire::DescribeLogDirsRequest,
    wire::DescribeLogDirsResponse, wire::ListPartitionReassignmentsRequest,
    wire::ListPartitionReassignmentsResponse, wire::DeleteGroupsRequest, wire::DeleteGroupsResponse,
    wire::DescribeGroupsRequest, wire::DescribeGroupsResponse, wire::HeartbeatRequest,
    wire::HeartbeatResponse, wire::JoinGroupRequest, wire::JoinGroupResponse, wire::LeaveGroupRequest,
    wire::LeaveGroupResponse, wire::ListGroupsRequest, wire::ListGroupsResponse, wire::OffsetCommitRequest,
    wire::OffsetCommitResponse, wire::OffsetFetchRequest, wire::OffsetFetchResponse, wire::SyncGroupRequest,
    wire::SyncGroupResponse, wire::DescribeTopicPartitionsRequest, wire::DescribeTopicPartitionsResponse>;

/// Keys and values of __consumer_offsets.
using GroupRecords = MessageList<wire::OffsetCommitKey, wire::OffsetCommitValue, wire::GroupMetadataKey,
                                 wire::GroupMetadataValue>;

/// f.template operator()<Message>() for each.
template <class F, class... Messages>
void for_each_message(MessageList<Messages...>, F&& f) {
    (f.template operator()<Messages>(), ...);
}

template <class Variant>
struct AlternativesOf;
template <class... Records>
struct AlternativesOf<std::variant<Records...>> {
    using List = MessageList<Records...>;
};

/// The API messages, the records of groups and all alternatives of MetadataRecord.
template <class F>
void for_each_message(F&& f) {
    for_each_message(ApiMessages{}, f);
    for_each_message(GroupRecords{}, f);
    for_each_message(AlternativesOf<wire::MetadataRecord>::List{}, f);
}

}  // namespace highwater::test
