// OffsetCommit (8): a group notes how far it has read.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct OffsetCommitRequest {
    static constexpr std::string_view kName = "OffsetCommitRequest";
    static constexpr Versions kVersions{2, 10};
    static constexpr std::int16_t kFlexibleSince = 8;
    static constexpr ApiKey kApiKey = ApiKey::OffsetCommit;
    struct OffsetCommitRequestTopic {
        struct OffsetCommitRequestPartition {
            std::int32_t partition_index = 0;
            std::int64_t committed_offset = 0;
            std::int32_t committed_leader_epoch = -1;
            std::optional<std::string> committed_metadata = "";
            friend bool operator==(const OffsetCommitRequestPartition&,
                                   const OffsetCommitRequestPartition&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("partitionIndex", &OffsetCommitRequestPartition::partition_index, since(0)),
                    field("committedOffset", &OffsetCommitRequestPartition::committed_offset, since(0)),
                    field("committedLeaderEpoch", &OffsetCommitRequestPartition::committed_leader_epoch,
                          since(6)),
                    field("committedMetadata", &OffsetCommitRequestPartition::committed_metadata, since(0))
                        .nullable(since(0))};
            }
        };
        std::string name;
        Uuid topic_id;
        std::vector<OffsetCommitRequestPartition> partitions;
        friend bool operator==(const OffsetCommitRequestTopic&, const OffsetCommitRequestTopic&) = default;

        static constexpr auto fields() {
            return std::tuple{field("name", &OffsetCommitRequestTopic::name, between(0, 9)),
                              field("topicId", &OffsetCommitRequestTopic::topic_id, since(10)),
                              field("partitions", &OffsetCommitRequestTopic::partitions, since(0))};
        }
    };
    std::string group_id;
    std::int32_t generation_id_or_member_epoch = -1;
    std::string member_id;
    std::optional<std::string> group_instance_id;
    std::int64_t retention_time_ms = -1;
    std::vector<OffsetCommitRequestTopic> topics;
    friend bool operator==(const OffsetCommitRequest&, const OffsetCommitRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("groupId", &OffsetCommitRequest::group_id, since(0)),
            field("generationIdOrMemberEpoch", &OffsetCommitRequest::generation_id_or_member_epoch, since(1)),
            field("memberId", &OffsetCommitRequest::member_id, since(1)),
            field("groupInstanceId", &OffsetCommitRequest::group_instance_id, since(7)).nullable(since(7)),
            field("retentionTimeMs", &OffsetCommitRequest::retention_time_ms, between(2, 4)),
            field("topics", &OffsetCommitRequest::topics, since(0))};
    }
};

struct OffsetCommitResponse {
    static constexpr std::string_view kName = "OffsetCommitResponse";
    static constexpr Versions kVersions{2, 10};
    static constexpr std::int16_t kFlexibleSince = 8;
    static constexpr ApiKey kApiKey = ApiKey::OffsetCommit;
    struct OffsetCommitResponseTopic {
        struct OffsetCommitResponsePartition {
            std::int32_t partition_index = 0;
            ErrorCode error_code = ErrorCode::None;
            friend bool operator==(const OffsetCommitResponsePartition&,
                                   const OffsetCommitResponsePartition&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("partitionIndex", &OffsetCommitResponsePartition::partition_index, since(0)),
                    field("errorCode", &OffsetCommitResponsePartition::error_code, since(0))};
            }
        };
        std::string name;
        Uuid topic_id;
        std::vector<OffsetCommitResponsePartition> partitions;
        friend bool operator==(const OffsetCommitResponseTopic&, const OffsetCommitResponseTopic&) = default;

        static constexpr auto fields() {
            return std::tuple{field("name", &OffsetCommitResponseTopic::name, between(0, 9)),
                              field("topicId", &OffsetCommitResponseTopic::topic_id, since(10)),
                              field("partitions", &OffsetCommitResponseTopic::partitions, since(0))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    std::vector<OffsetCommitResponseTopic> topics;
    friend bool operator==(const OffsetCommitResponse&, const OffsetCommitResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &OffsetCommitResponse::throttle_time_ms, since(3)),
                          field("topics", &OffsetCommitResponse::topics, since(0))};
    }
};
HW_WIRE_MESSAGE(OffsetCommitRequest)
HW_WIRE_MESSAGE(OffsetCommitResponse)

}  // namespace highwater::wire
