// Fetch (1): reads of consumers, followers and of the metadata log.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct FetchRequest {
    static constexpr std::string_view kName = "FetchRequest";
    static constexpr Versions kVersions{4, 18};
    static constexpr std::int16_t kFlexibleSince = 12;
    static constexpr ApiKey kApiKey = ApiKey::Fetch;
    struct ReplicaState {
        std::int32_t replica_id = -1;
        std::int64_t replica_epoch = -1;
        friend bool operator==(const ReplicaState&, const ReplicaState&) = default;

        static constexpr auto fields() {
            return std::tuple{field("replicaId", &ReplicaState::replica_id, since(15)),
                              field("replicaEpoch", &ReplicaState::replica_epoch, since(15))};
        }
    };
    struct FetchTopic {
        struct FetchPartition {
            std::int32_t partition = 0;
            std::int32_t current_leader_epoch = -1;
            std::int64_t fetch_offset = 0;
            std::int32_t last_fetched_epoch = -1;
            std::int64_t log_start_offset = -1;
            std::int32_t partition_max_bytes = 0;
            Uuid replica_directory_id;
            std::int64_t high_watermark = std::numeric_limits<std::int64_t>::max();
            friend bool operator==(const FetchPartition&, const FetchPartition&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("partition", &FetchPartition::partition, since(0)),
                    field("currentLeaderEpoch", &FetchPartition::current_leader_epoch, since(9)),
                    field("fetchOffset", &FetchPartition::fetch_offset, since(0)),
                    field("lastFetchedEpoch", &FetchPartition::last_fetched_epoch, since(12)),
                    field("logStartOffset", &FetchPartition::log_start_offset, since(5)),
                    field("partitionMaxBytes", &FetchPartition::partition_max_bytes, since(0)),
                    field("replicaDirectoryId", &FetchPartition::replica_directory_id, since(17))
                        .tagged(0, since(17)),
                    field("highWatermark", &FetchPartition::high_watermark, since(18)).tagged(1, since(18))};
            }
        };
        std::string topic;
        Uuid topic_id;
        std::vector<FetchPartition> partitions;
        friend bool operator==(const FetchTopic&, const FetchTopic&) = default;

        static constexpr auto fields() {
            return std::tuple{field("topic", &FetchTopic::topic, between(0, 12)),
                              field("topicId", &FetchTopic::topic_id, since(13)),
                              field("partitions", &FetchTopic::partitions, since(0))};
        }
    };
    struct ForgottenTopic {
        std::string topic;
        Uuid topic_id;
        std::vector<std::int32_t> partitions;
        friend bool operator==(const ForgottenTopic&, const ForgottenTopic&) = default;

        static constexpr auto fields() {
            return std::tuple{field("topic", &ForgottenTopic::topic, between(7, 12)),
                              field("topicId", &ForgottenTopic::topic_id, since(13)),
                              field("partitions", &ForgottenTopic::partitions, since(7))};
        }
    };
    std::optional<std::string> cluster_id;
    std::int32_t replica_id = -1;
    ReplicaState replica_state;
    std::int32_t max_wait_ms = 0;
    std::int32_t min_bytes = 0;
    std::int32_t max_bytes = 0x7fffffff;
    std::int8_t isolation_level = 0;
    std::int32_t session_id = 0;
    std::int32_t session_epoch = -1;
    std::vector<FetchTopic> topics;
    std::vector<ForgottenTopic> forgotten_topics_data;
    std::string rack_id;
    friend bool operator==(const FetchRequest&, const FetchRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("clusterId", &FetchRequest::cluster_id, since(12)).nullable(since(12)).tagged(0, since(12)),
            field("replicaId", &FetchRequest::replica_id, between(0, 14)),
            field("replicaState", &FetchRequest::replica_state, since(15)).tagged(1, since(15)),
            field("maxWaitMs", &FetchRequest::max_wait_ms, since(0)),
            field("minBytes", &FetchRequest::min_bytes, since(0)),
            field("maxBytes", &FetchRequest::max_bytes, since(3)),
            field("isolationLevel", &FetchRequest::isolation_level, since(4)),
            field("sessionId", &FetchRequest::session_id, since(7)),
            field("sessionEpoch", &FetchRequest::session_epoch, since(7)),
            field("topics", &FetchRequest::topics, since(0)),
            field("forgottenTopicsData", &FetchRequest::forgotten_topics_data, since(7)),
            field("rackId", &FetchRequest::rack_id, since(11))};
    }
};

struct FetchResponse {
    static constexpr std::string_view kName = "FetchResponse";
    static constexpr Versions kVersions{4, 18};
    static constexpr std::int16_t kFlexibleSince = 12;
    static constexpr ApiKey kApiKey = ApiKey::Fetch;
    struct FetchableTopicResponse {
        struct PartitionData {
            struct EpochEndOffset {
                std::int32_t epoch = -1;
                std::int64_t end_offset = -1;
                friend bool operator==(const EpochEndOffset&, const EpochEndOffset&) = default;

                static constexpr auto fields() {
                    return std::tuple{field("epoch", &EpochEndOffset::epoch, since(12)),
                                      field("endOffset", &EpochEndOffset::end_offset, since(12))};
                }
            };
            struct LeaderIdAndEpoch {
                std::int32_t leader_id = -1;
                std::int32_t leader_epoch = -1;
                friend bool operator==(const LeaderIdAndEpoch&, const LeaderIdAndEpoch&) = default;

                static constexpr auto fields() {
                    return std::tuple{field("leaderId", &LeaderIdAndEpoch::leader_id, since(12)),
                                      field("leaderEpoch", &LeaderIdAndEpoch::leader_epoch, since(12))};
                }
            };
            struct SnapshotId {
                std::int64_t end_offset = -1;
                std::int32_t epoch = -1;
                friend bool operator==(const SnapshotId&, const SnapshotId&) = default;

                static constexpr auto fields() {
                    return std::tuple{field("endOffset", &SnapshotId::end_offset, since(0)),
                                      field("epoch", &SnapshotId::epoch, since(0))};
                }
            };
            struct AbortedTransaction {
                std::int64_t producer_id = 0;
                std::int64_t first_offset = 0;
                friend bool operator==(const AbortedTransaction&, const AbortedTransaction&) = default;

                static constexpr auto fields() {
                    return std::tuple{field("producerId", &AbortedTransaction::producer_id, since(4)),
                                      field("firstOffset", &AbortedTransaction::first_offset, since(4))};
                }
            };
            std::int32_t partition_index = 0;
            ErrorCode error_code = ErrorCode::None;
            std::int64_t high_watermark = 0;
            std::int64_t last_stable_offset = -1;
            std::int64_t log_start_offset = -1;
            EpochEndOffset diverging_epoch;
            LeaderIdAndEpoch current_leader;
            SnapshotId snapshot_id;
            std::optional<std::vector<AbortedTransaction>> aborted_transactions =
                std::vector<AbortedTransaction>{};
            std::int32_t preferred_read_replica = -1;
            std::optional<Bytes> records = Bytes{};
            friend bool operator==(const PartitionData&, const PartitionData&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("partitionIndex", &PartitionData::partition_index, since(0)),
                    field("errorCode", &PartitionData::error_code, since(0)),
                    field("highWatermark", &PartitionData::high_watermark, since(0)),
                    field("lastStableOffset", &PartitionData::last_stable_offset, since(4)),
                    field("logStartOffset", &PartitionData::log_start_offset, since(5)),
                    field("divergingEpoch", &PartitionData::diverging_epoch, since(12)).tagged(0, since(12)),
                    field("currentLeader", &PartitionData::current_leader, since(12)).tagged(1, since(12)),
                    field("snapshotId", &PartitionData::snapshot_id, since(12)).tagged(2, since(12)),
                    field("abortedTransactions", &PartitionData::aborted_transactions, since(4))
                        .nullable(since(4)),
                    field("preferredReadReplica", &PartitionData::preferred_read_replica, since(11)),
                    field("records", &PartitionData::records, since(0)).nullable(since(0))};
            }
        };
        std::string topic;
        Uuid topic_id;
        std::vector<PartitionData> partitions;
        friend bool operator==(const FetchableTopicResponse&, const FetchableTopicResponse&) = default;

        static constexpr auto fields() {
            return std::tuple{field("topic", &FetchableTopicResponse::topic, between(0, 12)),
                              field("topicId", &FetchableTopicResponse::topic_id, since(13)),
                              field("partitions", &FetchableTopicResponse::partitions, since(0))};
        }
    };
    struct NodeEndpoint {
        std::int32_t node_id = 0;
        std::string host;
        std::int32_t port = 0;
        std::optional<std::string> rack;
        friend bool operator==(const NodeEndpoint&, const NodeEndpoint&) = default;

        static constexpr auto fields() {
            return std::tuple{field("nodeId", &NodeEndpoint::node_id, since(16)),
                              field("host", &NodeEndpoint::host, since(16)),
                              field("port", &NodeEndpoint::port, since(16)),
                              field("rack", &NodeEndpoint::rack, since(16)).nullable(since(16))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::None;
    std::int32_t session_id = 0;
    std::vector<FetchableTopicResponse> responses;
    std::vector<NodeEndpoint> node_endpoints;
    friend bool operator==(const FetchResponse&, const FetchResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("throttleTimeMs", &FetchResponse::throttle_time_ms, since(1)),
            field("errorCode", &FetchResponse::error_code, since(7)),
            field("sessionId", &FetchResponse::session_id, since(7)),
            field("responses", &FetchResponse::responses, since(0)),
            field("nodeEndpoints", &FetchResponse::node_endpoints, since(16)).tagged(0, since(16))};
    }
};
HW_WIRE_MESSAGE(FetchRequest)
HW_WIRE_MESSAGE(FetchResponse)

}  // namespace highwater::wire
