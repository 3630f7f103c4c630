// AlterPartition (56): a leader proposes a new ISR.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct AlterPartitionRequest {
    static constexpr std::string_view kName = "AlterPartitionRequest";
    static constexpr Versions kVersions{2, 3};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr ApiKey kApiKey = ApiKey::AlterPartition;
    struct TopicData {
        struct PartitionData {
            struct BrokerState {
                std::int32_t broker_id = 0;
                std::int64_t broker_epoch = -1;
                friend bool operator==(const BrokerState&, const BrokerState&) = default;

                static constexpr auto fields() {
                    return std::tuple{field("brokerId", &BrokerState::broker_id, since(3)),
                                      field("brokerEpoch", &BrokerState::broker_epoch, since(3))};
                }
            };
            std::int32_t partition_index = 0;
            std::int32_t leader_epoch = 0;
            std::vector<std::int32_t> new_isr;
            std::vector<BrokerState> new_isr_with_epochs;
            std::int8_t leader_recovery_state = 0;
            std::int32_t partition_epoch = 0;
            friend bool operator==(const PartitionData&, const PartitionData&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("partitionIndex", &PartitionData::partition_index, since(0)),
                    field("leaderEpoch", &PartitionData::leader_epoch, since(0)),
                    field("newIsr", &PartitionData::new_isr, between(0, 2)),
                    field("newIsrWithEpochs", &PartitionData::new_isr_with_epochs, since(3)),
                    field("leaderRecoveryState", &PartitionData::leader_recovery_state, since(1)),
                    field("partitionEpoch", &PartitionData::partition_epoch, since(0))};
            }
        };
        Uuid topic_id;
        std::vector<PartitionData> partitions;
        friend bool operator==(const TopicData&, const TopicData&) = default;

        static constexpr auto fields() {
            return std::tuple{field("topicId", &TopicData::topic_id, since(2)),
                              field("partitions", &TopicData::partitions, since(0))};
        }
    };
    std::int32_t broker_id = 0;
    std::int64_t broker_epoch = -1;
    std::vector<TopicData> topics;
    friend bool operator==(const AlterPartitionRequest&, const AlterPartitionRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{field("brokerId", &AlterPartitionRequest::broker_id, since(0)),
                          field("brokerEpoch", &AlterPartitionRequest::broker_epoch, since(0)),
                          field("topics", &AlterPartitionRequest::topics, since(0))};
    }
};

struct AlterPartitionResponse {
    static constexpr std::string_view kName = "AlterPartitionResponse";
    static constexpr Versions kVersions{2, 3};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr ApiKey kApiKey = ApiKey::AlterPartition;
    struct TopicData {
        struct PartitionData {
            std::int32_t partition_index = 0;
            ErrorCode error_code = ErrorCode::None;
            std::int32_t leader_id = 0;
            std::int32_t leader_epoch = 0;
            std::vector<std::int32_t> isr;
            std::int8_t leader_recovery_state = 0;
            std::int32_t partition_epoch = 0;
            friend bool operator==(const PartitionData&, const PartitionData&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("partitionIndex", &PartitionData::partition_index, since(0)),
                    field("errorCode", &PartitionData::error_code, since(0)),
                    field("leaderId", &PartitionData::leader_id, since(0)),
                    field("leaderEpoch", &PartitionData::leader_epoch, since(0)),
                    field("isr", &PartitionData::isr, since(0)),
                    field("leaderRecoveryState", &PartitionData::leader_recovery_state, since(1)),
                    field("partitionEpoch", &PartitionData::partition_epoch, since(0))};
            }
        };
        Uuid topic_id;
        std::vector<PartitionData> partitions;
        friend bool operator==(const TopicData&, const TopicData&) = default;

        static constexpr auto fields() {
            return std::tuple{field("topicId", &TopicData::topic_id, since(2)),
                              field("partitions", &TopicData::partitions, since(0))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::None;
    std::vector<TopicData> topics;
    friend bool operator==(const AlterPartitionResponse&, const AlterPartitionResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &AlterPartitionResponse::throttle_time_ms, since(0)),
                          field("errorCode", &AlterPartitionResponse::error_code, since(0)),
                          field("topics", &AlterPartitionResponse::topics, since(0))};
    }
};
HW_WIRE_MESSAGE(AlterPartitionRequest)
HW_WIRE_MESSAGE(AlterPartitionResponse)

}  // namespace highwater::wire
