// OffsetForLeaderEpoch (23): where the log of a leader epoch ends.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct OffsetForLeaderEpochRequest {
    static constexpr std::string_view kName = "OffsetForLeaderEpochRequest";
    static constexpr Versions kVersions{2, 4};
    static constexpr std::int16_t kFlexibleSince = 4;
    static constexpr ApiKey kApiKey = ApiKey::OffsetForLeaderEpoch;
    struct OffsetForLeaderTopic {
        struct OffsetForLeaderPartition {
            std::int32_t partition = 0;
            std::int32_t current_leader_epoch = -1;
            std::int32_t leader_epoch = 0;
            friend bool operator==(const OffsetForLeaderPartition&,
                                   const OffsetForLeaderPartition&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("partition", &OffsetForLeaderPartition::partition, since(0)),
                    field("currentLeaderEpoch", &OffsetForLeaderPartition::current_leader_epoch, since(2)),
                    field("leaderEpoch", &OffsetForLeaderPartition::leader_epoch, since(0))};
            }
        };
        std::string topic;
        std::vector<OffsetForLeaderPartition> partitions;
        friend bool operator==(const OffsetForLeaderTopic&, const OffsetForLeaderTopic&) = default;

        static constexpr auto fields() {
            return std::tuple{field("topic", &OffsetForLeaderTopic::topic, since(0)),
                              field("partitions", &OffsetForLeaderTopic::partitions, since(0))};
        }
    };
    std::int32_t replica_id = -2;
    std::vector<OffsetForLeaderTopic> topics;
    friend bool operator==(const OffsetForLeaderEpochRequest&, const OffsetForLeaderEpochRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{field("replicaId", &OffsetForLeaderEpochRequest::replica_id, since(3)),
                          field("topics", &OffsetForLeaderEpochRequest::topics, since(0))};
    }
};

struct OffsetForLeaderEpochResponse {
    static constexpr std::string_view kName = "OffsetForLeaderEpochResponse";
    static constexpr Versions kVersions{2, 4};
    static constexpr std::int16_t kFlexibleSince = 4;
    static constexpr ApiKey kApiKey = ApiKey::OffsetForLeaderEpoch;
    struct OffsetForLeaderTopicResult {
        struct EpochEndOffset {
            ErrorCode error_code = ErrorCode::None;
            std::int32_t partition = 0;
            std::int32_t leader_epoch = -1;
            std::int64_t end_offset = -1;
            friend bool operator==(const EpochEndOffset&, const EpochEndOffset&) = default;

            static constexpr auto fields() {
                return std::tuple{field("errorCode", &EpochEndOffset::error_code, since(0)),
                                  field("partition", &EpochEndOffset::partition, since(0)),
                                  field("leaderEpoch", &EpochEndOffset::leader_epoch, since(1)),
                                  field("endOffset", &EpochEndOffset::end_offset, since(0))};
            }
        };
        std::string topic;
        std::vector<EpochEndOffset> partitions;
        friend bool operator==(const OffsetForLeaderTopicResult&,
                               const OffsetForLeaderTopicResult&) = default;

        static constexpr auto fields() {
            return std::tuple{field("topic", &OffsetForLeaderTopicResult::topic, since(0)),
                              field("partitions", &OffsetForLeaderTopicResult::partitions, since(0))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    std::vector<OffsetForLeaderTopicResult> topics;
    friend bool operator==(const OffsetForLeaderEpochResponse&,
                           const OffsetForLeaderEpochResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &OffsetForLeaderEpochResponse::throttle_time_ms, since(2)),
                          field("topics", &OffsetForLeaderEpochResponse::topics, since(0))};
    }
};
HW_WIRE_MESSAGE(OffsetForLeaderEpochRequest)
HW_WIRE_MESSAGE(OffsetForLeaderEpochResponse)

}  // namespace highwater::wire
