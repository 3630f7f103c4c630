// DeleteGroups (42): empty groups and their offsets go.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct DeleteGroupsRequest {
    static constexpr std::string_view kName = "DeleteGroupsRequest";
    static constexpr Versions kVersions{0, 2};
    static constexpr std::int16_t kFlexibleSince = 2;
    static constexpr ApiKey kApiKey = ApiKey::DeleteGroups;
    std::vector<std::string> groups_names;
    friend bool operator==(const DeleteGroupsRequest&, const DeleteGroupsRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{field("groupsNames", &DeleteGroupsRequest::groups_names, since(0))};
    }
};

struct DeleteGroupsResponse {
    static constexpr std::string_view kName = "DeleteGroupsResponse";
    static constexpr Versions kVersions{0, 2};
    static constexpr std::int16_t kFlexibleSince = 2;
    static constexpr ApiKey kApiKey = ApiKey::DeleteGroups;
    struct DeletableGroupResult {
        std::string group_id;
        ErrorCode error_code = ErrorCode::None;
        friend bool operator==(const DeletableGroupResult&, const DeletableGroupResult&) = default;

        static constexpr auto fields() {
            return std::tuple{field("groupId", &DeletableGroupResult::group_id, since(0)),
                              field("errorCode", &DeletableGroupResult::error_code, since(0))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    std::vector<DeletableGroupResult> results;
    friend bool operator==(const DeleteGroupsResponse&, const DeleteGroupsResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &DeleteGroupsResponse::throttle_time_ms, since(0)),
                          field("results", &DeleteGroupsResponse::results, since(0))};
    }
};
HW_WIRE_MESSAGE(DeleteGroupsRequest)
HW_WIRE_MESSAGE(DeleteGroupsResponse)

}  // namespace highwater::wire
