// Produce (0): appends record batches.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct ProduceRequest {
    static constexpr std::string_view kName = "ProduceRequest";
    static constexpr Versions kVersions{3, 13};
    static constexpr std::int16_t kFlexibleSince = 9;
    static constexpr ApiKey kApiKey = ApiKey::Produce;
    struct TopicProduceData {
        struct PartitionProduceData {
            std::int32_t index = 0;
            std::optional<Bytes> records = Bytes{};
            friend bool operator==(const PartitionProduceData&, const PartitionProduceData&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("index", &PartitionProduceData::index, since(0)),
                    field("records", &PartitionProduceData::records, since(0)).nullable(since(0))};
            }
        };
        std::string name;
        Uuid topic_id;
        std::vector<PartitionProduceData> partition_data;
        friend bool operator==(const TopicProduceData&, const TopicProduceData&) = default;

        static constexpr auto fields() {
            return std::tuple{field("name", &TopicProduceData::name, between(0, 12)),
                              field("topicId", &TopicProduceData::topic_id, since(13)),
                              field("partitionData", &TopicProduceData::partition_data, since(0))};
        }
    };
    std::optional<std::string> transactional_id;
    std::int16_t acks = 0;
    std::int32_t timeout_ms = 0;
    std::vector<TopicProduceData> topic_data;
    friend bool operator==(const ProduceRequest&, const ProduceRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("transactionalId", &ProduceRequest::transactional_id, since(3)).nullable(since(3)),
            field("acks", &ProduceRequest::acks, since(0)),
            field("timeoutMs", &ProduceRequest::timeout_ms, since(0)),
            field("topicData", &ProduceRequest::topic_data, since(0))};
    }
};

struct ProduceResponse {
    static constexpr std::string_view kName = "ProduceResponse";
    static constexpr Versions kVersions{3, 13};
    static constexpr std::int16_t kFlexibleSince = 9;
    static constexpr ApiKey kApiKey = ApiKey::Produce;
    struct TopicProduceResponse {
        struct PartitionProduceResponse {
            struct BatchIndexAndErrorMessage {
                std::int32_t batch_index = 0;
                std::optional<std::string> batch_index_error_message;
                friend bool operator==(const BatchIndexAndErrorMessage&,
                                       const BatchIndexAndErrorMessage&) = default;

                static constexpr auto fields() {
                    return std::tuple{field("batchIndex", &BatchIndexAndErrorMessage::batch_index, since(8)),
                                      field("batchIndexErrorMessage",
                                            &BatchIndexAndErrorMessage::batch_index_error_message, since(8))
                                          .nullable(since(8))};
                }
            };
            struct LeaderIdAndEpoch {
                std::int32_t leader_id = -1;
                std::int32_t leader_epoch = -1;
                friend bool operator==(const LeaderIdAndEpoch&, const LeaderIdAndEpoch&) = default;

                static constexpr auto fields() {
                    return std::tuple{field("leaderId", &LeaderIdAndEpoch::leader_id, since(10)),
                                      field("leaderEpoch", &LeaderIdAndEpoch::leader_epoch, since(10))};
                }
            };
            std::int32_t index = 0;
            ErrorCode error_code = ErrorCode::None;
            std::int64_t base_offset = 0;
            std::int64_t log_append_time_ms = -1;
            std::int64_t log_start_offset = -1;
            std::vector<BatchIndexAndErrorMessage> record_errors;
            std::optional<std::string> error_message;
            LeaderIdAndEpoch current_leader;
            friend bool operator==(const PartitionProduceResponse&,
                                   const PartitionProduceResponse&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("index", &PartitionProduceResponse::index, since(0)),
                    field("errorCode", &PartitionProduceResponse::error_code, since(0)),
                    field("baseOffset", &PartitionProduceResponse::base_offset, since(0)),
                    field("logAppendTimeMs", &PartitionProduceResponse::log_append_time_ms, since(2)),
                    field("logStartOffset", &PartitionProduceResponse::log_start_offset, since(5)),
                    field("recordErrors", &PartitionProduceResponse::record_errors, since(8)),
                    field("errorMessage", &PartitionProduceResponse::error_message, since(8))
                        .nullable(since(8)),
                    field("currentLeader", &PartitionProduceResponse::current_leader, since(10))
                        .tagged(0, since(10))};
            }
        };
        std::string name;
        Uuid topic_id;
        std::vector<PartitionProduceResponse> partition_responses;
        friend bool operator==(const TopicProduceResponse&, const TopicProduceResponse&) = default;

        static constexpr auto fields() {
            return std::tuple{
                field("name", &TopicProduceResponse::name, between(0, 12)),
                field("topicId", &TopicProduceResponse::topic_id, since(13)),
                field("partitionResponses", &TopicProduceResponse::partition_responses, since(0))};
        }
    };
    struct NodeEndpoint {
        std::int32_t node_id = 0;
        std::string host;
        std::int32_t port = 0;
        std::optional<std::string> rack;
        friend bool operator==(const NodeEndpoint&, const NodeEndpoint&) = default;

        static constexpr auto fields() {
            return std::tuple{field("nodeId", &NodeEndpoint::node_id, since(10)),
                              field("host", &NodeEndpoint::host, since(10)),
                              field("port", &NodeEndpoint::port, since(10)),
                              field("rack", &NodeEndpoint::rack, since(10)).nullable(since(10))};
        }
    };
    std::vector<TopicProduceResponse> responses;
    std::int32_t throttle_time_ms = 0;
    std::vector<NodeEndpoint> node_endpoints;
    friend bool operator==(const ProduceResponse&, const ProduceResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("responses", &ProduceResponse::responses, since(0)),
            field("throttleTimeMs", &ProduceResponse::throttle_time_ms, since(1)),
            field("nodeEndpoints", &ProduceResponse::node_endpoints, since(10)).tagged(0, since(10))};
    }
};
HW_WIRE_MESSAGE(ProduceRequest)
HW_WIRE_MESSAGE(ProduceResponse)

}  // namespace highwater::wire
