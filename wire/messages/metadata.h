// Metadata (3): brokers, and leader, replicas and ISR of partitions.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct MetadataRequest {
    static constexpr std::string_view kName = "MetadataRequest";
    static constexpr Versions kVersions{0, 13};
    static constexpr std::int16_t kFlexibleSince = 9;
    static constexpr ApiKey kApiKey = ApiKey::Metadata;
    struct MetadataRequestTopic {
        Uuid topic_id;
        std::optional<std::string> name = "";
        friend bool operator==(const MetadataRequestTopic&, const MetadataRequestTopic&) = default;

        static constexpr auto fields() {
            return std::tuple{field("topicId", &MetadataRequestTopic::topic_id, since(10)),
                              field("name", &MetadataRequestTopic::name, since(0)).nullable(since(10))};
        }
    };
    std::optional<std::vector<MetadataRequestTopic>> topics = std::vector<MetadataRequestTopic>{};
    bool allow_auto_topic_creation = true;
    bool include_cluster_authorized_operations = false;
    bool include_topic_authorized_operations = false;
    friend bool operator==(const MetadataRequest&, const MetadataRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("topics", &MetadataRequest::topics, since(0)).nullable(since(1)),
            field("allowAutoTopicCreation", &MetadataRequest::allow_auto_topic_creation, since(4)),
            field("includeClusterAuthorizedOperations",
                  &MetadataRequest::include_cluster_authorized_operations, between(8, 10)),
            field("includeTopicAuthorizedOperations", &MetadataRequest::include_topic_authorized_operations,
                  since(8))};
    }
};

struct MetadataResponse {
    static constexpr std::string_view kName = "MetadataResponse";
    static constexpr Versions kVersions{0, 13};
    static constexpr std::int16_t kFlexibleSince = 9;
    static constexpr ApiKey kApiKey = ApiKey::Metadata;
    struct MetadataResponseBroker {
        std::int32_t node_id = 0;
        std::string host;
        std::int32_t port = 0;
        std::optional<std::string> rack;
        friend bool operator==(const MetadataResponseBroker&, const MetadataResponseBroker&) = default;

        static constexpr auto fields() {
            return std::tuple{field("nodeId", &MetadataResponseBroker::node_id, since(0)),
                              field("host", &MetadataResponseBroker::host, since(0)),
                              field("port", &MetadataResponseBroker::port, since(0)),
                              field("rack", &MetadataResponseBroker::rack, since(1)).nullable(since(1))};
        }
    };
    struct MetadataResponseTopic {
        struct MetadataResponsePartition {
            ErrorCode error_code = ErrorCode::None;
            std::int32_t partition_index = 0;
            std::int32_t leader_id = 0;
            std::int32_t leader_epoch = -1;
            std::vector<std::int32_t> replica_nodes;
            std::vector<std::int32_t> isr_nodes;
            std::vector<std::int32_t> offline_replicas;
            friend bool operator==(const MetadataResponsePartition&,
                                   const MetadataResponsePartition&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("errorCode", &MetadataResponsePartition::error_code, since(0)),
                    field("partitionIndex", &MetadataResponsePartition::partition_index, since(0)),
                    field("leaderId", &MetadataResponsePartition::leader_id, since(0)),
                    field("leaderEpoch", &MetadataResponsePartition::leader_epoch, since(7)),
                    field("replicaNodes", &MetadataResponsePartition::replica_nodes, since(0)),
                    field("isrNodes", &MetadataResponsePartition::isr_nodes, since(0)),
                    field("offlineReplicas", &MetadataResponsePartition::offline_replicas, since(5))};
            }
        };
        ErrorCode error_code = ErrorCode::None;
        std::optional<std::string> name = "";
        Uuid topic_id;
        bool is_internal = false;
        std::vector<MetadataResponsePartition> partitions;
        std::int32_t topic_authorized_operations = -2147483648;
        friend bool operator==(const MetadataResponseTopic&, const MetadataResponseTopic&) = default;

        static constexpr auto fields() {
            return std::tuple{field("errorCode", &MetadataResponseTopic::error_code, since(0)),
                              field("name", &MetadataResponseTopic::name, since(0)).nullable(since(12)),
                              field("topicId", &MetadataResponseTopic::topic_id, since(10)),
                              field("isInternal", &MetadataResponseTopic::is_internal, since(1)),
                              field("partitions", &MetadataResponseTopic::partitions, since(0)),
                              field("topicAuthorizedOperations",
                                    &MetadataResponseTopic::topic_authorized_operations, since(8))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    std::vector<MetadataResponseBroker> brokers;
    std::optional<std::string> cluster_id;
    std::int32_t controller_id = -1;
    std::vector<MetadataResponseTopic> topics;
    std::int32_t cluster_authorized_operations = -2147483648;
    ErrorCode error_code = ErrorCode::None;
    friend bool operator==(const MetadataResponse&, const MetadataResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &MetadataResponse::throttle_time_ms, since(3)),
                          field("brokers", &MetadataResponse::brokers, since(0)),
                          field("clusterId", &MetadataResponse::cluster_id, since(2)).nullable(since(2)),
                          field("controllerId", &MetadataResponse::controller_id, since(1)),
                          field("topics", &MetadataResponse::topics, since(0)),
                          field("clusterAuthorizedOperations",
                                &MetadataResponse::cluster_authorized_operations, between(8, 10)),
                          field("errorCode", &MetadataResponse::error_code, since(13))};
    }
};
HW_WIRE_MESSAGE(MetadataRequest)
HW_WIRE_MESSAGE(MetadataResponse)

}  // namespace highwater::wire
