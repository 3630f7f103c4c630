// ListOffsets (2): earliest and latest offsets of a partition.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct ListOffsetsRequest {
    static constexpr std::string_view kName = "ListOffsetsRequest";
    static constexpr Versions kVersions{1, 11};
    static constexpr std::int16_t kFlexibleSince = 6;
    static constexpr ApiKey kApiKey = ApiKey::ListOffsets;
    struct ListOffsetsTopic {
        struct ListOffsetsPartition {
            std::int32_t partition_index = 0;
            std::int32_t current_leader_epoch = -1;
            std::int64_t timestamp = 0;
            friend bool operator==(const ListOffsetsPartition&, const ListOffsetsPartition&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("partitionIndex", &ListOffsetsPartition::partition_index, since(0)),
                    field("currentLeaderEpoch", &ListOffsetsPartition::current_leader_epoch, since(4)),
                    field("timestamp", &ListOffsetsPartition::timestamp, since(0))};
            }
        };
        std::string name;
        std::vector<ListOffsetsPartition> partitions;
        friend bool operator==(const ListOffsetsTopic&, const ListOffsetsTopic&) = default;

        static constexpr auto fields() {
            return std::tuple{field("name", &ListOffsetsTopic::name, since(0)),
                              field("partitions", &ListOffsetsTopic::partitions, since(0))};
        }
    };
    std::int32_t replica_id = 0;
    std::int8_t isolation_level = 0;
    std::vector<ListOffsetsTopic> topics;
    std::int32_t timeout_ms = 0;
    friend bool operator==(const ListOffsetsRequest&, const ListOffsetsRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{field("replicaId", &ListOffsetsRequest::replica_id, since(0)),
                          field("isolationLevel", &ListOffsetsRequest::isolation_level, since(2)),
                          field("topics", &ListOffsetsRequest::topics, since(0)),
                          field("timeoutMs", &ListOffsetsRequest::timeout_ms, since(10))};
    }
};

struct ListOffsetsResponse {
    static constexpr std::string_view kName = "ListOffsetsResponse";
    static constexpr Versions kVersions{1, 11};
    static constexpr std::int16_t kFlexibleSince = 6;
    static constexpr ApiKey kApiKey = ApiKey::ListOffsets;
    struct ListOffsetsTopicResponse {
        struct ListOffsetsPartitionResponse {
            std::int32_t partition_index = 0;
            ErrorCode error_code = ErrorCode::None;
            std::int64_t timestamp = -1;
            std::int64_t offset = -1;
            std::int32_t leader_epoch = -1;
            friend bool operator==(const ListOffsetsPartitionResponse&,
                                   const ListOffsetsPartitionResponse&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("partitionIndex", &ListOffsetsPartitionResponse::partition_index, since(0)),
                    field("errorCode", &ListOffsetsPartitionResponse::error_code, since(0)),
                    field("timestamp", &ListOffsetsPartitionResponse::timestamp, since(1)),
                    field("offset", &ListOffsetsPartitionResponse::offset, since(1)),
                    field("leaderEpoch", &ListOffsetsPartitionResponse::leader_epoch, since(4))};
            }
        };
        std::string name;
        std::vector<ListOffsetsPartitionResponse> partitions;
        friend bool operator==(const ListOffsetsTopicResponse&, const ListOffsetsTopicResponse&) = default;

        static constexpr auto fields() {
            return std::tuple{field("name", &ListOffsetsTopicResponse::name, since(0)),
                              field("partitions", &ListOffsetsTopicResponse::partitions, since(0))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    std::vector<ListOffsetsTopicResponse> topics;
    friend bool operator==(const ListOffsetsResponse&, const ListOffsetsResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &ListOffsetsResponse::throttle_time_ms, since(2)),
                          field("topics", &ListOffsetsResponse::topics, since(0))};
    }
};
HW_WIRE_MESSAGE(ListOffsetsRequest)
HW_WIRE_MESSAGE(ListOffsetsResponse)

}  // namespace highwater::wire
