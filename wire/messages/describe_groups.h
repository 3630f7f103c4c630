// DescribeGroups (15): state and members of groups.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct DescribeGroupsRequest {
    static constexpr std::string_view kName = "DescribeGroupsRequest";
    static constexpr Versions kVersions{0, 6};
    static constexpr std::int16_t kFlexibleSince = 5;
    static constexpr ApiKey kApiKey = ApiKey::DescribeGroups;
    std::vector<std::string> groups;
    bool include_authorized_operations = false;
    friend bool operator==(const DescribeGroupsRequest&, const DescribeGroupsRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{field("groups", &DescribeGroupsRequest::groups, since(0)),
                          field("includeAuthorizedOperations",
                                &DescribeGroupsRequest::include_authorized_operations, since(3))};
    }
};

struct DescribeGroupsResponse {
    static constexpr std::string_view kName = "DescribeGroupsResponse";
    static constexpr Versions kVersions{0, 6};
    static constexpr std::int16_t kFlexibleSince = 5;
    static constexpr ApiKey kApiKey = ApiKey::DescribeGroups;
    struct DescribedGroup {
        struct DescribedGroupMember {
            std::string member_id;
            std::optional<std::string> group_instance_id;
            std::string client_id;
            std::string client_host;
            Bytes member_metadata;
            Bytes member_assignment;
            friend bool operator==(const DescribedGroupMember&, const DescribedGroupMember&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("memberId", &DescribedGroupMember::member_id, since(0)),
                    field("groupInstanceId", &DescribedGroupMember::group_instance_id, since(4))
                        .nullable(since(4)),
                    field("clientId", &DescribedGroupMember::client_id, since(0)),
                    field("clientHost", &DescribedGroupMember::client_host, since(0)),
                    field("memberMetadata", &DescribedGroupMember::member_metadata, since(0)),
                    field("memberAssignment", &DescribedGroupMember::member_assignment, since(0))};
            }
        };
        ErrorCode error_code = ErrorCode::None;
        std::optional<std::string> error_message;
        std::string group_id;
        std::string group_state;
        std::string protocol_type;
        std::string protocol_data;
        std::vector<DescribedGroupMember> members;
        std::int32_t authorized_operations = -2147483648;
        friend bool operator==(const DescribedGroup&, const DescribedGroup&) = default;

        static constexpr auto fields() {
            return std::tuple{
                field("errorCode", &DescribedGroup::error_code, since(0)),
                field("errorMessage", &DescribedGroup::error_message, since(6)).nullable(since(6)),
                field("groupId", &DescribedGroup::group_id, since(0)),
                field("groupState", &DescribedGroup::group_state, since(0)),
                field("protocolType", &DescribedGroup::protocol_type, since(0)),
                field("protocolData", &DescribedGroup::protocol_data, since(0)),
                field("members", &DescribedGroup::members, since(0)),
                field("authorizedOperations", &DescribedGroup::authorized_operations, since(3))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    std::vector<DescribedGroup> groups;
    friend bool operator==(const DescribeGroupsResponse&, const DescribeGroupsResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &DescribeGroupsResponse::throttle_time_ms, since(1)),
                          field("groups", &DescribeGroupsResponse::groups, since(0))};
    }
};
HW_WIRE_MESSAGE(DescribeGroupsRequest)
HW_WIRE_MESSAGE(DescribeGroupsResponse)

}  // namespace highwater::wire
