// DeleteTopics (20).
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct DeleteTopicsRequest {
    static constexpr std::string_view kName = "DeleteTopicsRequest";
    static constexpr Versions kVersions{1, 6};
    static constexpr std::int16_t kFlexibleSince = 4;
    static constexpr ApiKey kApiKey = ApiKey::DeleteTopics;
    struct DeleteTopicState {
        std::optional<std::string> name;
        Uuid topic_id;
        friend bool operator==(const DeleteTopicState&, const DeleteTopicState&) = default;

        static constexpr auto fields() {
            return std::tuple{field("name", &DeleteTopicState::name, since(6)).nullable(since(6)),
                              field("topicId", &DeleteTopicState::topic_id, since(6))};
        }
    };
    std::vector<DeleteTopicState> topics;
    std::vector<std::string> topic_names;
    std::int32_t timeout_ms = 0;
    friend bool operator==(const DeleteTopicsRequest&, const DeleteTopicsRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{field("topics", &DeleteTopicsRequest::topics, since(6)),
                          field("topicNames", &DeleteTopicsRequest::topic_names, between(0, 5)),
                          field("timeoutMs", &DeleteTopicsRequest::timeout_ms, since(0))};
    }
};

struct DeleteTopicsResponse {
    static constexpr std::string_view kName = "DeleteTopicsResponse";
    static constexpr Versions kVersions{1, 6};
    static constexpr std::int16_t kFlexibleSince = 4;
    static constexpr ApiKey kApiKey = ApiKey::DeleteTopics;
    struct DeletableTopicResult {
        std::optional<std::string> name = "";
        Uuid topic_id;
        ErrorCode error_code = ErrorCode::None;
        std::optional<std::string> error_message;
        friend bool operator==(const DeletableTopicResult&, const DeletableTopicResult&) = default;

        static constexpr auto fields() {
            return std::tuple{
                field("name", &DeletableTopicResult::name, since(0)).nullable(since(6)),
                field("topicId", &DeletableTopicResult::topic_id, since(6)),
                field("errorCode", &DeletableTopicResult::error_code, since(0)),
                field("errorMessage", &DeletableTopicResult::error_message, since(5)).nullable(since(5))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    std::vector<DeletableTopicResult> responses;
    friend bool operator==(const DeleteTopicsResponse&, const DeleteTopicsResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &DeleteTopicsResponse::throttle_time_ms, since(1)),
                          field("responses", &DeleteTopicsResponse::responses, since(0))};
    }
};
HW_WIRE_MESSAGE(DeleteTopicsRequest)
HW_WIRE_MESSAGE(DeleteTopicsResponse)

}  // namespace highwater::wire
