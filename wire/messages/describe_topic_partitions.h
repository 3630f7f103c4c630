// DescribeTopicPartitions (75): leader, replicas, ISR, ELR and offline replicas of partitions, page by page.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct DescribeTopicPartitionsRequest {
    static constexpr std::string_view kName = "DescribeTopicPartitionsRequest";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr ApiKey kApiKey = ApiKey::DescribeTopicPartitions;
    struct TopicRequest {
        std::string name;
        friend bool operator==(const TopicRequest&, const TopicRequest&) = default;

        static constexpr auto fields() { return std::tuple{field("name", &TopicRequest::name, since(0))}; }
    };
    struct Cursor {
        std::string topic_name;
        std::int32_t partition_index = 0;
        friend bool operator==(const Cursor&, const Cursor&) = default;

        static constexpr auto fields() {
            return std::tuple{field("topicName", &Cursor::topic_name, since(0)),
                              field("partitionIndex", &Cursor::partition_index, since(0))};
        }
    };
    std::vector<TopicRequest> topics;
    std::int32_t response_partition_limit = 2000;
    std::optional<Cursor> cursor;
    friend bool operator==(const DescribeTopicPartitionsRequest&,
                           const DescribeTopicPartitionsRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("topics", &DescribeTopicPartitionsRequest::topics, since(0)),
            field("responsePartitionLimit", &DescribeTopicPartitionsRequest::response_partition_limit,
                  since(0)),
            field("cursor", &DescribeTopicPartitionsRequest::cursor, since(0)).nullable(since(0))};
    }
};

struct DescribeTopicPartitionsResponse {
    static constexpr std::string_view kName = "DescribeTopicPartitionsResponse";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr ApiKey kApiKey = ApiKey::DescribeTopicPartitions;
    struct DescribeTopicPartitionsResponseTopic {
        struct DescribeTopicPartitionsResponsePartition {
            ErrorCode error_code = ErrorCode::None;
            std::int32_t partition_index = 0;
            std::int32_t leader_id = 0;
            std::int32_t leader_epoch = -1;
            std::vector<std::int32_t> replica_nodes;
            std::vector<std::int32_t> isr_nodes;
            std::optional<std::vector<std::int32_t>> eligible_leader_replicas;
            std::optional<std::vector<std::int32_t>> last_known_elr;
            std::vector<std::int32_t> offline_replicas;
            friend bool operator==(const DescribeTopicPartitionsResponsePartition&,
                                   const DescribeTopicPartitionsResponsePartition&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("errorCode", &DescribeTopicPartitionsResponsePartition::error_code, since(0)),
                    field("partitionIndex", &DescribeTopicPartitionsResponsePartition::partition_index,
                          since(0)),
                    field("leaderId", &DescribeTopicPartitionsResponsePartition::leader_id, since(0)),
                    field("leaderEpoch", &DescribeTopicPartitionsResponsePartition::leader_epoch, since(0)),
                    field("replicaNodes", &DescribeTopicPartitionsResponsePartition::replica_nodes, since(0)),
                    field("isrNodes", &DescribeTopicPartitionsResponsePartition::isr_nodes, since(0)),
                    field("eligibleLeaderReplicas",
                          &DescribeTopicPartitionsResponsePartition::eligible_leader_replicas, since(0))
                        .nullable(since(0)),
                    field("lastKnownElr", &DescribeTopicPartitionsResponsePartition::last_known_elr, since(0))
                        .nullable(since(0)),
                    field("offlineReplicas", &DescribeTopicPartitionsResponsePartition::offline_replicas,
                          since(0))};
            }
        };
        ErrorCode error_code = ErrorCode::None;
        std::optional<std::string> name = "";
        Uuid topic_id;
        bool is_internal = false;
        std::vector<DescribeTopicPartitionsResponsePartition> partitions;
        std::int32_t topic_authorized_operations = -2147483648;
        friend bool operator==(const DescribeTopicPartitionsResponseTopic&,
                               const DescribeTopicPartitionsResponseTopic&) = default;

        static constexpr auto fields() {
            return std::tuple{
                field("errorCode", &DescribeTopicPartitionsResponseTopic::error_code, since(0)),
                field("name", &DescribeTopicPartitionsResponseTopic::name, since(0)).nullable(since(0)),
                field("topicId", &DescribeTopicPartitionsResponseTopic::topic_id, since(0)),
                field("isInternal", &DescribeTopicPartitionsResponseTopic::is_internal, since(0)),
                field("partitions", &DescribeTopicPartitionsResponseTopic::partitions, since(0)),
                field("topicAuthorizedOperations",
                      &DescribeTopicPartitionsResponseTopic::topic_authorized_operations, since(0))};
        }
    };
    struct Cursor {
        std::string topic_name;
        std::int32_t partition_index = 0;
        friend bool operator==(const Cursor&, const Cursor&) = default;

        static constexpr auto fields() {
            return std::tuple{field("topicName", &Cursor::topic_name, since(0)),
                              field("partitionIndex", &Cursor::partition_index, since(0))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    std::vector<DescribeTopicPartitionsResponseTopic> topics;
    std::optional<Cursor> next_cursor;
    friend bool operator==(const DescribeTopicPartitionsResponse&,
                           const DescribeTopicPartitionsResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("throttleTimeMs", &DescribeTopicPartitionsResponse::throttle_time_ms, since(0)),
            field("topics", &DescribeTopicPartitionsResponse::topics, since(0)),
            field("nextCursor", &DescribeTopicPartitionsResponse::next_cursor, since(0)).nullable(since(0))};
    }
};
HW_WIRE_MESSAGE(DescribeTopicPartitionsRequest)
HW_WIRE_MESSAGE(DescribeTopicPartitionsResponse)

}  // namespace highwater::wire
