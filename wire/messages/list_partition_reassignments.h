// ListPartitionReassignments (46): partitions whose replicas are being changed.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct ListPartitionReassignmentsRequest {
    static constexpr std::string_view kName = "ListPartitionReassignmentsRequest";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr ApiKey kApiKey = ApiKey::ListPartitionReassignments;
    struct ListPartitionReassignmentsTopics {
        std::string name;
        std::vector<std::int32_t> partition_indexes;
        friend bool operator==(const ListPartitionReassignmentsTopics&,
                               const ListPartitionReassignmentsTopics&) = default;

        static constexpr auto fields() {
            return std::tuple{
                field("name", &ListPartitionReassignmentsTopics::name, since(0)),
                field("partitionIndexes", &ListPartitionReassignmentsTopics::partition_indexes, since(0))};
        }
    };
    std::int32_t timeout_ms = 60000;
    std::optional<std::vector<ListPartitionReassignmentsTopics>> topics;
    friend bool operator==(const ListPartitionReassignmentsRequest&,
                           const ListPartitionReassignmentsRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("timeoutMs", &ListPartitionReassignmentsRequest::timeout_ms, since(0)),
            field("topics", &ListPartitionReassignmentsRequest::topics, since(0)).nullable(since(0))};
    }
};

struct ListPartitionReassignmentsResponse {
    static constexpr std::string_view kName = "ListPartitionReassignmentsResponse";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr ApiKey kApiKey = ApiKey::ListPartitionReassignments;
    struct OngoingTopicReassignment {
        struct OngoingPartitionReassignment {
            std::int32_t partition_index = 0;
            std::vector<std::int32_t> replicas;
            std::vector<std::int32_t> adding_replicas;
            std::vector<std::int32_t> removing_replicas;
            friend bool operator==(const OngoingPartitionReassignment&,
                                   const OngoingPartitionReassignment&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("partitionIndex", &OngoingPartitionReassignment::partition_index, since(0)),
                    field("replicas", &OngoingPartitionReassignment::replicas, since(0)),
                    field("addingReplicas", &OngoingPartitionReassignment::adding_replicas, since(0)),
                    field("removingReplicas", &OngoingPartitionReassignment::removing_replicas, since(0))};
            }
        };
        std::string name;
        std::vector<OngoingPartitionReassignment> partitions;
        friend bool operator==(const OngoingTopicReassignment&, const OngoingTopicReassignment&) = default;

        static constexpr auto fields() {
            return std::tuple{field("name", &OngoingTopicReassignment::name, since(0)),
                              field("partitions", &OngoingTopicReassignment::partitions, since(0))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::None;
    std::optional<std::string> error_message = "";
    std::vector<OngoingTopicReassignment> topics;
    friend bool operator==(const ListPartitionReassignmentsResponse&,
                           const ListPartitionReassignmentsResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("throttleTimeMs", &ListPartitionReassignmentsResponse::throttle_time_ms, since(0)),
            field("errorCode", &ListPartitionReassignmentsResponse::error_code, since(0)),
            field("errorMessage", &ListPartitionReassignmentsResponse::error_message, since(0))
                .nullable(since(0)),
            field("topics", &ListPartitionReassignmentsResponse::topics, since(0))};
    }
};
HW_WIRE_MESSAGE(ListPartitionReassignmentsRequest)
HW_WIRE_MESSAGE(ListPartitionReassignmentsResponse)

}  // namespace highwater::wire
