// JoinGroup (11): a member enters a group, or its next generation.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct JoinGroupRequest {
    static constexpr std::string_view kName = "JoinGroupRequest";
    static constexpr Versions kVersions{0, 9};
    static constexpr std::int16_t kFlexibleSince = 6;
    static constexpr ApiKey kApiKey = ApiKey::JoinGroup;
    struct JoinGroupRequestProtocol {
        std::string name;
        Bytes metadata;
        friend bool operator==(const JoinGroupRequestProtocol&, const JoinGroupRequestProtocol&) = default;

        static constexpr auto fields() {
            return std::tuple{field("name", &JoinGroupRequestProtocol::name, since(0)),
                              field("metadata", &JoinGroupRequestProtocol::metadata, since(0))};
        }
    };
    std::string group_id;
    std::int32_t session_timeout_ms = 0;
    std::int32_t rebalance_timeout_ms = -1;
    std::string member_id;
    std::optional<std::string> group_instance_id;
    std::string protocol_type;
    std::vector<JoinGroupRequestProtocol> protocols;
    std::optional<std::string> reason;
    friend bool operator==(const JoinGroupRequest&, const JoinGroupRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("groupId", &JoinGroupRequest::group_id, since(0)),
            field("sessionTimeoutMs", &JoinGroupRequest::session_timeout_ms, since(0)),
            field("rebalanceTimeoutMs", &JoinGroupRequest::rebalance_timeout_ms, since(1)),
            field("memberId", &JoinGroupRequest::member_id, since(0)),
            field("groupInstanceId", &JoinGroupRequest::group_instance_id, since(5)).nullable(since(5)),
            field("protocolType", &JoinGroupRequest::protocol_type, since(0)),
            field("protocols", &JoinGroupRequest::protocols, since(0)),
            field("reason", &JoinGroupRequest::reason, since(8)).nullable(since(8))};
    }
};

struct JoinGroupResponse {
    static constexpr std::string_view kName = "JoinGroupResponse";
    static constexpr Versions kVersions{0, 9};
    static constexpr std::int16_t kFlexibleSince = 6;
    static constexpr ApiKey kApiKey = ApiKey::JoinGroup;
    struct JoinGroupResponseMember {
        std::string member_id;
        std::optional<std::string> group_instance_id;
        Bytes metadata;
        friend bool operator==(const JoinGroupResponseMember&, const JoinGroupResponseMember&) = default;

        static constexpr auto fields() {
            return std::tuple{field("memberId", &JoinGroupResponseMember::member_id, since(0)),
                              field("groupInstanceId", &JoinGroupResponseMember::group_instance_id, since(5))
                                  .nullable(since(5)),
                              field("metadata", &JoinGroupResponseMember::metadata, since(0))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::None;
    std::int32_t generation_id = -1;
    std::optional<std::string> protocol_type;
    std::optional<std::string> protocol_name = "";
    std::string leader;
    bool skip_assignment = false;
    std::string member_id;
    std::vector<JoinGroupResponseMember> members;
    friend bool operator==(const JoinGroupResponse&, const JoinGroupResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("throttleTimeMs", &JoinGroupResponse::throttle_time_ms, since(2)),
            field("errorCode", &JoinGroupResponse::error_code, since(0)),
            field("generationId", &JoinGroupResponse::generation_id, since(0)),
            field("protocolType", &JoinGroupResponse::protocol_type, since(7)).nullable(since(7)),
            field("protocolName", &JoinGroupResponse::protocol_name, since(0)).nullable(since(7)),
            field("leader", &JoinGroupResponse::leader, since(0)),
            field("skipAssignment", &JoinGroupResponse::skip_assignment, since(9)),
            field("memberId", &JoinGroupResponse::member_id, since(0)),
            field("members", &JoinGroupResponse::members, since(0))};
    }
};
HW_WIRE_MESSAGE(JoinGroupRequest)
HW_WIRE_MESSAGE(JoinGroupResponse)

}  // namespace highwater::wire
