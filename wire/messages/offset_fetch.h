// OffsetFetch (9): how far groups have read.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct OffsetFetchRequest {
    static constexpr std::string_view kName = "OffsetFetchRequest";
    static constexpr Versions kVersions{1, 10};
    static constexpr std::int16_t kFlexibleSince = 6;
    static constexpr ApiKey kApiKey = ApiKey::OffsetFetch;
    struct OffsetFetchRequestTopic {
        std::string name;
        std::vector<std::int32_t> partition_indexes;
        friend bool operator==(const OffsetFetchRequestTopic&, const OffsetFetchRequestTopic&) = default;

        static constexpr auto fields() {
            return std::tuple{
                field("name", &OffsetFetchRequestTopic::name, between(0, 7)),
                field("partitionIndexes", &OffsetFetchRequestTopic::partition_indexes, between(0, 7))};
        }
    };
    struct OffsetFetchRequestGroup {
        struct OffsetFetchRequestTopics {
            std::string name;
            Uuid topic_id;
            std::vector<std::int32_t> partition_indexes;
            friend bool operator==(const OffsetFetchRequestTopics&,
                                   const OffsetFetchRequestTopics&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("name", &OffsetFetchRequestTopics::name, between(8, 9)),
                    field("topicId", &OffsetFetchRequestTopics::topic_id, since(10)),
                    field("partitionIndexes", &OffsetFetchRequestTopics::partition_indexes, since(8))};
            }
        };
        std::string group_id;
        std::optional<std::string> member_id;
        std::int32_t member_epoch = -1;
        std::optional<std::vector<OffsetFetchRequestTopics>> topics = std::vector<OffsetFetchRequestTopics>{};
        friend bool operator==(const OffsetFetchRequestGroup&, const OffsetFetchRequestGroup&) = default;

        static constexpr auto fields() {
            return std::tuple{
                field("groupId", &OffsetFetchRequestGroup::group_id, since(8)),
                field("memberId", &OffsetFetchRequestGroup::member_id, since(9)).nullable(since(9)),
                field("memberEpoch", &OffsetFetchRequestGroup::member_epoch, since(9)),
                field("topics", &OffsetFetchRequestGroup::topics, since(8)).nullable(since(8))};
        }
    };
    std::string group_id;
    std::optional<std::vector<OffsetFetchRequestTopic>> topics = std::vector<OffsetFetchRequestTopic>{};
    std::vector<OffsetFetchRequestGroup> groups;
    bool require_stable = false;
    friend bool operator==(const OffsetFetchRequest&, const OffsetFetchRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{field("groupId", &OffsetFetchRequest::group_id, between(0, 7)),
                          field("topics", &OffsetFetchRequest::topics, between(0, 7)).nullable(between(2, 7)),
                          field("groups", &OffsetFetchRequest::groups, since(8)),
                          field("requireStable", &OffsetFetchRequest::require_stable, since(7))};
    }
};

struct OffsetFetchResponse {
    static constexpr std::string_view kName = "OffsetFetchResponse";
    static constexpr Versions kVersions{1, 10};
    static constexpr std::int16_t kFlexibleSince = 6;
    static constexpr ApiKey kApiKey = ApiKey::OffsetFetch;
    struct OffsetFetchResponseTopic {
        struct OffsetFetchResponsePartition {
            std::int32_t partition_index = 0;
            std::int64_t committed_offset = 0;
            std::int32_t committed_leader_epoch = -1;
            std::optional<std::string> metadata = "";
            ErrorCode error_code = ErrorCode::None;
            friend bool operator==(const OffsetFetchResponsePartition&,
                                   const OffsetFetchResponsePartition&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("partitionIndex", &OffsetFetchResponsePartition::partition_index, between(0, 7)),
                    field("committedOffset", &OffsetFetchResponsePartition::committed_offset, between(0, 7)),
                    field("committedLeaderEpoch", &OffsetFetchResponsePartition::committed_leader_epoch,
                          between(5, 7)),
                    field("metadata", &OffsetFetchResponsePartition::metadata, between(0, 7))
                        .nullable(between(0, 7)),
                    field("errorCode", &OffsetFetchResponsePartition::error_code, between(0, 7))};
            }
        };
        std::string name;
        std::vector<OffsetFetchResponsePartition> partitions;
        friend bool operator==(const OffsetFetchResponseTopic&, const OffsetFetchResponseTopic&) = default;

        static constexpr auto fields() {
            return std::tuple{field("name", &OffsetFetchResponseTopic::name, between(0, 7)),
                              field("partitions", &OffsetFetchResponseTopic::partitions, between(0, 7))};
        }
    };
    struct OffsetFetchResponseGroup {
        struct OffsetFetchResponseTopics {
            struct OffsetFetchResponsePartitions {
                std::int32_t partition_index = 0;
                std::int64_t committed_offset = 0;
                std::int32_t committed_leader_epoch = -1;
                std::optional<std::string> metadata = "";
                ErrorCode error_code = ErrorCode::None;
                friend bool operator==(const OffsetFetchResponsePartitions&,
                                       const OffsetFetchResponsePartitions&) = default;

                static constexpr auto fields() {
                    return std::tuple{
                        field("partitionIndex", &OffsetFetchResponsePartitions::partition_index, since(8)),
                        field("committedOffset", &OffsetFetchResponsePartitions::committed_offset, since(8)),
                        field("committedLeaderEpoch", &OffsetFetchResponsePartitions::committed_leader_epoch,
                              since(8)),
                        field("metadata", &OffsetFetchResponsePartitions::metadata, since(8))
                            .nullable(since(8)),
                        field("errorCode", &OffsetFetchResponsePartitions::error_code, since(8))};
                }
            };
            std::string name;
            Uuid topic_id;
            std::vector<OffsetFetchResponsePartitions> partitions;
            friend bool operator==(const OffsetFetchResponseTopics&,
                                   const OffsetFetchResponseTopics&) = default;

            static constexpr auto fields() {
                return std::tuple{field("name", &OffsetFetchResponseTopics::name, between(8, 9)),
                                  field("topicId", &OffsetFetchResponseTopics::topic_id, since(10)),
                                  field("partitions", &OffsetFetchResponseTopics::partitions, since(8))};
            }
        };
        std::string group_id;
        std::vector<OffsetFetchResponseTopics> topics;
        ErrorCode error_code = ErrorCode::None;
        friend bool operator==(const OffsetFetchResponseGroup&, const OffsetFetchResponseGroup&) = default;

        static constexpr auto fields() {
            return std::tuple{field("groupId", &OffsetFetchResponseGroup::group_id, since(8)),
                              field("topics", &OffsetFetchResponseGroup::topics, since(8)),
                              field("errorCode", &OffsetFetchResponseGroup::error_code, since(8))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    std::vector<OffsetFetchResponseTopic> topics;
    ErrorCode error_code = ErrorCode::None;
    std::vector<OffsetFetchResponseGroup> groups;
    friend bool operator==(const OffsetFetchResponse&, const OffsetFetchResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &OffsetFetchResponse::throttle_time_ms, since(3)),
                          field("topics", &OffsetFetchResponse::topics, between(0, 7)),
                          field("errorCode", &OffsetFetchResponse::error_code, between(2, 7)),
                          field("groups", &OffsetFetchResponse::groups, since(8))};
    }
};
HW_WIRE_MESSAGE(OffsetFetchRequest)
HW_WIRE_MESSAGE(OffsetFetchResponse)

}  // namespace highwater::wire
