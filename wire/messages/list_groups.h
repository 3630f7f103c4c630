// ListGroups (16): the groups that a broker coordinates.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct ListGroupsRequest {
    static constexpr std::string_view kName = "ListGroupsRequest";
    static constexpr Versions kVersions{0, 5};
    static constexpr std::int16_t kFlexibleSince = 3;
    static constexpr ApiKey kApiKey = ApiKey::ListGroups;
    std::vector<std::string> states_filter;
    std::vector<std::string> types_filter;
    friend bool operator==(const ListGroupsRequest&, const ListGroupsRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{field("statesFilter", &ListGroupsRequest::states_filter, since(4)),
                          field("typesFilter", &ListGroupsRequest::types_filter, since(5))};
    }
};

struct ListGroupsResponse {
    static constexpr std::string_view kName = "ListGroupsResponse";
    static constexpr Versions kVersions{0, 5};
    static constexpr std::int16_t kFlexibleSince = 3;
    static constexpr ApiKey kApiKey = ApiKey::ListGroups;
    struct ListedGroup {
        std::string group_id;
        std::string protocol_type;
        std::string group_state;
        std::string group_type;
        friend bool operator==(const ListedGroup&, const ListedGroup&) = default;

        static constexpr auto fields() {
            return std::tuple{field("groupId", &ListedGroup::group_id, since(0)),
                              field("protocolType", &ListedGroup::protocol_type, since(0)),
                              field("groupState", &ListedGroup::group_state, since(4)),
                              field("groupType", &ListedGroup::group_type, since(5))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::None;
    std::vector<ListedGroup> groups;
    friend bool operator==(const ListGroupsResponse&, const ListGroupsResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &ListGroupsResponse::throttle_time_ms, since(1)),
                          field("errorCode", &ListGroupsResponse::error_code, since(0)),
                          field("groups", &ListGroupsResponse::groups, since(0))};
    }
};
HW_WIRE_MESSAGE(ListGroupsRequest)
HW_WIRE_MESSAGE(ListGroupsResponse)

}  // namespace highwater::wire
