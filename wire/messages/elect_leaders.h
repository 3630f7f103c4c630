// ElectLeaders (43): a preferred or an unclean election by request.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct ElectLeadersRequest {
    static constexpr std::string_view kName = "ElectLeadersRequest";
    static constexpr Versions kVersions{0, 2};
    static constexpr std::int16_t kFlexibleSince = 2;
    static constexpr ApiKey kApiKey = ApiKey::ElectLeaders;
    struct TopicPartitions {
        std::string topic;
        std::vector<std::int32_t> partitions;
        friend bool operator==(const TopicPartitions&, const TopicPartitions&) = default;

        static constexpr auto fields() {
            return std::tuple{field("topic", &TopicPartitions::topic, since(0)),
                              field("partitions", &TopicPartitions::partitions, since(0))};
        }
    };
    std::int8_t election_type = 0;
    std::optional<std::vector<TopicPartitions>> topic_partitions = std::vector<TopicPartitions>{};
    std::int32_t timeout_ms = 60000;
    friend bool operator==(const ElectLeadersRequest&, const ElectLeadersRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("electionType", &ElectLeadersRequest::election_type, since(1)),
            field("topicPartitions", &ElectLeadersRequest::topic_partitions, since(0)).nullable(since(0)),
            field("timeoutMs", &ElectLeadersRequest::timeout_ms, since(0))};
    }
};

struct ElectLeadersResponse {
    static constexpr std::string_view kName = "ElectLeadersResponse";
    static constexpr Versions kVersions{0, 2};
    static constexpr std::int16_t kFlexibleSince = 2;
    static constexpr ApiKey kApiKey = ApiKey::ElectLeaders;
    struct ReplicaElectionResult {
        struct PartitionResult {
            std::int32_t partition_id = 0;
            ErrorCode error_code = ErrorCode::None;
            std::optional<std::string> error_message = "";
            friend bool operator==(const PartitionResult&, const PartitionResult&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("partitionId", &PartitionResult::partition_id, since(0)),
                    field("errorCode", &PartitionResult::error_code, since(0)),
                    field("errorMessage", &PartitionResult::error_message, since(0)).nullable(since(0))};
            }
        };
        std::string topic;
        std::vector<PartitionResult> partition_result;
        friend bool operator==(const ReplicaElectionResult&, const ReplicaElectionResult&) = default;

        static constexpr auto fields() {
            return std::tuple{field("topic", &ReplicaElectionResult::topic, since(0)),
                              field("partitionResult", &ReplicaElectionResult::partition_result, since(0))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::None;
    std::vector<ReplicaElectionResult> replica_election_results;
    friend bool operator==(const ElectLeadersResponse&, const ElectLeadersResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("throttleTimeMs", &ElectLeadersResponse::throttle_time_ms, since(0)),
            field("errorCode", &ElectLeadersResponse::error_code, since(1)),
            field("replicaElectionResults", &ElectLeadersResponse::replica_election_results, since(0))};
    }
};
HW_WIRE_MESSAGE(ElectLeadersRequest)
HW_WIRE_MESSAGE(ElectLeadersResponse)

}  // namespace highwater::wire
