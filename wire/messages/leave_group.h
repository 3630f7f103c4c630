// LeaveGroup (13): members leave their group.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct LeaveGroupRequest {
    static constexpr std::string_view kName = "LeaveGroupRequest";
    static constexpr Versions kVersions{0, 5};
    static constexpr std::int16_t kFlexibleSince = 4;
    static constexpr ApiKey kApiKey = ApiKey::LeaveGroup;
    struct MemberIdentity {
        std::string member_id;
        std::optional<std::string> group_instance_id;
        std::optional<std::string> reason;
        friend bool operator==(const MemberIdentity&, const MemberIdentity&) = default;

        static constexpr auto fields() {
            return std::tuple{
                field("memberId", &MemberIdentity::member_id, since(3)),
                field("groupInstanceId", &MemberIdentity::group_instance_id, since(3)).nullable(since(3)),
                field("reason", &MemberIdentity::reason, since(5)).nullable(since(5))};
        }
    };
    std::string group_id;
    std::string member_id;
    std::vector<MemberIdentity> members;
    friend bool operator==(const LeaveGroupRequest&, const LeaveGroupRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{field("groupId", &LeaveGroupRequest::group_id, since(0)),
                          field("memberId", &LeaveGroupRequest::member_id, between(0, 2)),
                          field("members", &LeaveGroupRequest::members, since(3))};
    }
};

struct LeaveGroupResponse {
    static constexpr std::string_view kName = "LeaveGroupResponse";
    static constexpr Versions kVersions{0, 5};
    static constexpr std::int16_t kFlexibleSince = 4;
    static constexpr ApiKey kApiKey = ApiKey::LeaveGroup;
    struct MemberResponse {
        std::string member_id;
        std::optional<std::string> group_instance_id = "";
        ErrorCode error_code = ErrorCode::None;
        friend bool operator==(const MemberResponse&, const MemberResponse&) = default;

        static constexpr auto fields() {
            return std::tuple{
                field("memberId", &MemberResponse::member_id, since(3)),
                field("groupInstanceId", &MemberResponse::group_instance_id, since(3)).nullable(since(3)),
                field("errorCode", &MemberResponse::error_code, since(3))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::None;
    std::vector<MemberResponse> members;
    friend bool operator==(const LeaveGroupResponse&, const LeaveGroupResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &LeaveGroupResponse::throttle_time_ms, since(1)),
                          field("errorCode", &LeaveGroupResponse::error_code, since(0)),
                          field("members", &LeaveGroupResponse::members, since(3))};
    }
};
HW_WIRE_MESSAGE(LeaveGroupRequest)
HW_WIRE_MESSAGE(LeaveGroupResponse)

}  // namespace highwater::wire
