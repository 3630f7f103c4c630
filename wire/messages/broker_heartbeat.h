// BrokerHeartbeat (63): keeps a registration alive, asks to be unfenced or to shut down.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct BrokerHeartbeatRequest {
    static constexpr std::string_view kName = "BrokerHeartbeatRequest";
    static constexpr Versions kVersions{0, 2};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr ApiKey kApiKey = ApiKey::BrokerHeartbeat;
    std::int32_t broker_id = 0;
    std::int64_t broker_epoch = -1;
    std::int64_t current_metadata_offset = 0;
    bool want_fence = false;
    bool want_shut_down = false;
    std::vector<Uuid> offline_log_dirs;
    std::optional<std::vector<Uuid>> cordoned_log_dirs;
    friend bool operator==(const BrokerHeartbeatRequest&, const BrokerHeartbeatRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("brokerId", &BrokerHeartbeatRequest::broker_id, since(0)),
            field("brokerEpoch", &BrokerHeartbeatRequest::broker_epoch, since(0)),
            field("currentMetadataOffset", &BrokerHeartbeatRequest::current_metadata_offset, since(0)),
            field("wantFence", &BrokerHeartbeatRequest::want_fence, since(0)),
            field("wantShutDown", &BrokerHeartbeatRequest::want_shut_down, since(0)),
            field("offlineLogDirs", &BrokerHeartbeatRequest::offline_log_dirs, since(1)).tagged(0, since(1)),
            field("cordonedLogDirs", &BrokerHeartbeatRequest::cordoned_log_dirs, since(2))
                .nullable(since(2))
                .tagged(1, since(2))};
    }
};

struct BrokerHeartbeatResponse {
    static constexpr std::string_view kName = "BrokerHeartbeatResponse";
    static constexpr Versions kVersions{0, 2};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr ApiKey kApiKey = ApiKey::BrokerHeartbeat;
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::None;
    bool is_caught_up = false;
    bool is_fenced = true;
    bool should_shut_down = false;
    friend bool operator==(const BrokerHeartbeatResponse&, const BrokerHeartbeatResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &BrokerHeartbeatResponse::throttle_time_ms, since(0)),
                          field("errorCode", &BrokerHeartbeatResponse::error_code, since(0)),
                          field("isCaughtUp", &BrokerHeartbeatResponse::is_caught_up, since(0)),
                          field("isFenced", &BrokerHeartbeatResponse::is_fenced, since(0)),
                          field("shouldShutDown", &BrokerHeartbeatResponse::should_shut_down, since(0))};
    }
};
HW_WIRE_MESSAGE(BrokerHeartbeatRequest)
HW_WIRE_MESSAGE(BrokerHeartbeatResponse)

}  // namespace highwater::wire
