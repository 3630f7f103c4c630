// CreateTopics (19).
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct CreateTopicsRequest {
    static constexpr std::string_view kName = "CreateTopicsRequest";
    static constexpr Versions kVersions{2, 7};
    static constexpr std::int16_t kFlexibleSince = 5;
    static constexpr ApiKey kApiKey = ApiKey::CreateTopics;
    struct CreatableTopic {
        struct CreatableReplicaAssignment {
            std::int32_t partition_index = 0;
            std::vector<std::int32_t> broker_ids;
            friend bool operator==(const CreatableReplicaAssignment&,
                                   const CreatableReplicaAssignment&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("partitionIndex", &CreatableReplicaAssignment::partition_index, since(0)),
                    field("brokerIds", &CreatableReplicaAssignment::broker_ids, since(0))};
            }
        };
        struct CreatableTopicConfig {
            std::string name;
            std::optional<std::string> value = "";
            friend bool operator==(const CreatableTopicConfig&, const CreatableTopicConfig&) = default;

            static constexpr auto fields() {
                return std::tuple{field("name", &CreatableTopicConfig::name, since(0)),
                                  field("value", &CreatableTopicConfig::value, since(0)).nullable(since(0))};
            }
        };
        std::string name;
        std::int32_t num_partitions = 0;
        std::int16_t replication_factor = 0;
        std::vector<CreatableReplicaAssignment> assignments;
        std::vector<CreatableTopicConfig> configs;
        friend bool operator==(const CreatableTopic&, const CreatableTopic&) = default;

        static constexpr auto fields() {
            return std::tuple{field("name", &CreatableTopic::name, since(0)),
                              field("numPartitions", &CreatableTopic::num_partitions, since(0)),
                              field("replicationFactor", &CreatableTopic::replication_factor, since(0)),
                              field("assignments", &CreatableTopic::assignments, since(0)),
                              field("configs", &CreatableTopic::configs, since(0))};
        }
    };
    std::vector<CreatableTopic> topics;
    std::int32_t timeout_ms = 60000;
    bool validate_only = false;
    friend bool operator==(const CreateTopicsRequest&, const CreateTopicsRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{field("topics", &CreateTopicsRequest::topics, since(0)),
                          field("timeoutMs", &CreateTopicsRequest::timeout_ms, since(0)),
                          field("validateOnly", &CreateTopicsRequest::validate_only, since(1))};
    }
};

struct CreateTopicsResponse {
    static constexpr std::string_view kName = "CreateTopicsResponse";
    static constexpr Versions kVersions{2, 7};
    static constexpr std::int16_t kFlexibleSince = 5;
    static constexpr ApiKey kApiKey = ApiKey::CreateTopics;
    struct CreatableTopicResult {
        struct CreatableTopicConfigs {
            std::string name;
            std::optional<std::string> value = "";
            bool read_only = false;
            std::int8_t config_source = -1;
            bool is_sensitive = false;
            friend bool operator==(const CreatableTopicConfigs&, const CreatableTopicConfigs&) = default;

            static constexpr auto fields() {
                return std::tuple{field("name", &CreatableTopicConfigs::name, since(5)),
                                  field("value", &CreatableTopicConfigs::value, since(5)).nullable(since(5)),
                                  field("readOnly", &CreatableTopicConfigs::read_only, since(5)),
                                  field("configSource", &CreatableTopicConfigs::config_source, since(5)),
                                  field("isSensitive", &CreatableTopicConfigs::is_sensitive, since(5))};
            }
        };
        std::string name;
        Uuid topic_id;
        ErrorCode error_code = ErrorCode::None;
        std::optional<std::string> error_message = "";
        ErrorCode topic_config_error_code = ErrorCode::None;
        std::int32_t num_partitions = -1;
        std::int16_t replication_factor = -1;
        std::optional<std::vector<CreatableTopicConfigs>> configs = std::vector<CreatableTopicConfigs>{};
        friend bool operator==(const CreatableTopicResult&, const CreatableTopicResult&) = default;

        static constexpr auto fields() {
            return std::tuple{
                field("name", &CreatableTopicResult::name, since(0)),
                field("topicId", &CreatableTopicResult::topic_id, since(7)),
                field("errorCode", &CreatableTopicResult::error_code, since(0)),
                field("errorMessage", &CreatableTopicResult::error_message, since(1)).nullable(since(0)),
                field("topicConfigErrorCode", &CreatableTopicResult::topic_config_error_code, since(5))
                    .tagged(0, since(5)),
                field("numPartitions", &CreatableTopicResult::num_partitions, since(5)),
                field("replicationFactor", &CreatableTopicResult::replication_factor, since(5)),
                field("configs", &CreatableTopicResult::configs, since(5)).nullable(since(5))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    std::vector<CreatableTopicResult> topics;
    friend bool operator==(const CreateTopicsResponse&, const CreateTopicsResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &CreateTopicsResponse::throttle_time_ms, since(2)),
                          field("topics", &CreateTopicsResponse::topics, since(0))};
    }
};
HW_WIRE_MESSAGE(CreateTopicsRequest)
HW_WIRE_MESSAGE(CreateTopicsResponse)

}  // namespace highwater::wire
