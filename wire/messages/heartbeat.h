// Heartbeat (12): a member is alive and learns of rebalances.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct HeartbeatRequest {
    static constexpr std::string_view kName = "HeartbeatRequest";
    static constexpr Versions kVersions{0, 4};
    static constexpr std::int16_t kFlexibleSince = 4;
    static constexpr ApiKey kApiKey = ApiKey::Heartbeat;
    std::string group_id;
    std::int32_t generation_id = 0;
    std::string member_id;
    std::optional<std::string> group_instance_id;
    friend bool operator==(const HeartbeatRequest&, const HeartbeatRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("groupId", &HeartbeatRequest::group_id, since(0)),
            field("generationId", &HeartbeatRequest::generation_id, since(0)),
            field("memberId", &HeartbeatRequest::member_id, since(0)),
            field("groupInstanceId", &HeartbeatRequest::group_instance_id, since(3)).nullable(since(3))};
    }
};

struct HeartbeatResponse {
    static constexpr std::string_view kName = "HeartbeatResponse";
    static constexpr Versions kVersions{0, 4};
    static constexpr std::int16_t kFlexibleSince = 4;
    static constexpr ApiKey kApiKey = ApiKey::Heartbeat;
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::None;
    friend bool operator==(const HeartbeatResponse&, const HeartbeatResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &HeartbeatResponse::throttle_time_ms, since(1)),
                          field("errorCode", &HeartbeatResponse::error_code, since(0))};
    }
};
HW_WIRE_MESSAGE(HeartbeatRequest)
HW_WIRE_MESSAGE(HeartbeatResponse)

}  // namespace highwater::wire
