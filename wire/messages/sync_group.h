// SyncGroup (14): the leader of a group tells, and every member learns, who reads what.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct SyncGroupRequest {
    static constexpr std::string_view kName = "SyncGroupRequest";
    static constexpr Versions kVersions{0, 5};
    static constexpr std::int16_t kFlexibleSince = 4;
    static constexpr ApiKey kApiKey = ApiKey::SyncGroup;
    struct SyncGroupRequestAssignment {
        std::string member_id;
        Bytes assignment;
        friend bool operator==(const SyncGroupRequestAssignment&,
                               const SyncGroupRequestAssignment&) = default;

        static constexpr auto fields() {
            return std::tuple{field("memberId", &SyncGroupRequestAssignment::member_id, since(0)),
                              field("assignment", &SyncGroupRequestAssignment::assignment, since(0))};
        }
    };
    std::string group_id;
    std::int32_t generation_id = 0;
    std::string member_id;
    std::optional<std::string> group_instance_id;
    std::optional<std::string> protocol_type;
    std::optional<std::string> protocol_name;
    std::vector<SyncGroupRequestAssignment> assignments;
    friend bool operator==(const SyncGroupRequest&, const SyncGroupRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("groupId", &SyncGroupRequest::group_id, since(0)),
            field("generationId", &SyncGroupRequest::generation_id, since(0)),
            field("memberId", &SyncGroupRequest::member_id, since(0)),
            field("groupInstanceId", &SyncGroupRequest::group_instance_id, since(3)).nullable(since(3)),
            field("protocolType", &SyncGroupRequest::protocol_type, since(5)).nullable(since(5)),
            field("protocolName", &SyncGroupRequest::protocol_name, since(5)).nullable(since(5)),
            field("assignments", &SyncGroupRequest::assignments, since(0))};
    }
};

struct SyncGroupResponse {
    static constexpr std::string_view kName = "SyncGroupResponse";
    static constexpr Versions kVersions{0, 5};
    static constexpr std::int16_t kFlexibleSince = 4;
    static constexpr ApiKey kApiKey = ApiKey::SyncGroup;
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::None;
    std::optional<std::string> protocol_type;
    std::optional<std::string> protocol_name;
    Bytes assignment;
    friend bool operator==(const SyncGroupResponse&, const SyncGroupResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("throttleTimeMs", &SyncGroupResponse::throttle_time_ms, since(1)),
            field("errorCode", &SyncGroupResponse::error_code, since(0)),
            field("protocolType", &SyncGroupResponse::protocol_type, since(5)).nullable(since(5)),
            field("protocolName", &SyncGroupResponse::protocol_name, since(5)).nullable(since(5)),
            field("assignment", &SyncGroupResponse::assignment, since(0))};
    }
};
HW_WIRE_MESSAGE(SyncGroupRequest)
HW_WIRE_MESSAGE(SyncGroupResponse)

}  // namespace highwater::wire
