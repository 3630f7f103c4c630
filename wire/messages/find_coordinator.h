// FindCoordinator (10): who coordinates a group or transaction.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct FindCoordinatorRequest {
    static constexpr std::string_view kName = "FindCoordinatorRequest";
    static constexpr Versions kVersions{0, 6};
    static constexpr std::int16_t kFlexibleSince = 3;
    static constexpr ApiKey kApiKey = ApiKey::FindCoordinator;
    std::string key;
    std::int8_t key_type = 0;
    std::vector<std::string> coordinator_keys;
    friend bool operator==(const FindCoordinatorRequest&, const FindCoordinatorRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{field("key", &FindCoordinatorRequest::key, between(0, 3)),
                          field("keyType", &FindCoordinatorRequest::key_type, since(1)),
                          field("coordinatorKeys", &FindCoordinatorRequest::coordinator_keys, since(4))};
    }
};

struct FindCoordinatorResponse {
    static constexpr std::string_view kName = "FindCoordinatorResponse";
    static constexpr Versions kVersions{0, 6};
    static constexpr std::int16_t kFlexibleSince = 3;
    static constexpr ApiKey kApiKey = ApiKey::FindCoordinator;
    struct Coordinator {
        std::string key;
        std::int32_t node_id = 0;
        std::string host;
        std::int32_t port = 0;
        ErrorCode error_code = ErrorCode::None;
        std::optional<std::string> error_message = "";
        friend bool operator==(const Coordinator&, const Coordinator&) = default;

        static constexpr auto fields() {
            return std::tuple{
                field("key", &Coordinator::key, since(4)),
                field("nodeId", &Coordinator::node_id, since(4)),
                field("host", &Coordinator::host, since(4)),
                field("port", &Coordinator::port, since(4)),
                field("errorCode", &Coordinator::error_code, since(4)),
                field("errorMessage", &Coordinator::error_message, since(4)).nullable(since(4))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::None;
    std::optional<std::string> error_message = "";
    std::int32_t node_id = 0;
    std::string host;
    std::int32_t port = 0;
    std::vector<Coordinator> coordinators;
    friend bool operator==(const FindCoordinatorResponse&, const FindCoordinatorResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &FindCoordinatorResponse::throttle_time_ms, since(1)),
                          field("errorCode", &FindCoordinatorResponse::error_code, between(0, 3)),
                          field("errorMessage", &FindCoordinatorResponse::error_message, between(1, 3))
                              .nullable(between(1, 3)),
                          field("nodeId", &FindCoordinatorResponse::node_id, between(0, 3)),
                          field("host", &FindCoordinatorResponse::host, between(0, 3)),
                          field("port", &FindCoordinatorResponse::port, between(0, 3)),
                          field("coordinators", &FindCoordinatorResponse::coordinators, since(4))};
    }
};
HW_WIRE_MESSAGE(FindCoordinatorRequest)
HW_WIRE_MESSAGE(FindCoordinatorResponse)

}  // namespace highwater::wire
