// BrokerRegistration (62): a broker process makes itself known to the controller.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct BrokerRegistrationRequest {
    static constexpr std::string_view kName = "BrokerRegistrationRequest";
    static constexpr Versions kVersions{0, 4};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr ApiKey kApiKey = ApiKey::BrokerRegistration;
    struct Listener {
        std::string name;
        std::string host;
        std::uint16_t port = 0;
        std::int16_t security_protocol = 0;
        friend bool operator==(const Listener&, const Listener&) = default;

        static constexpr auto fields() {
            return std::tuple{field("name", &Listener::name, since(0)),
                              field("host", &Listener::host, since(0)),
                              field("port", &Listener::port, since(0)),
                              field("securityProtocol", &Listener::security_protocol, since(0))};
        }
    };
    struct Feature {
        std::string name;
        std::int16_t min_supported_version = 0;
        std::int16_t max_supported_version = 0;
        friend bool operator==(const Feature&, const Feature&) = default;

        static constexpr auto fields() {
            return std::tuple{field("name", &Feature::name, since(0)),
                              field("minSupportedVersion", &Feature::min_supported_version, since(0)),
                              field("maxSupportedVersion", &Feature::max_supported_version, since(0))};
        }
    };
    std::int32_t broker_id = 0;
    std::string cluster_id;
    Uuid incarnation_id;
    std::vector<Listener> listeners;
    std::vector<Feature> features;
    std::optional<std::string> rack = "";
    bool is_migrating_zk_broker = false;
    std::vector<Uuid> log_dirs;
    std::int64_t previous_broker_epoch = -1;
    friend bool operator==(const BrokerRegistrationRequest&, const BrokerRegistrationRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("brokerId", &BrokerRegistrationRequest::broker_id, since(0)),
            field("clusterId", &BrokerRegistrationRequest::cluster_id, since(0)),
            field("incarnationId", &BrokerRegistrationRequest::incarnation_id, since(0)),
            field("listeners", &BrokerRegistrationRequest::listeners, since(0)),
            field("features", &BrokerRegistrationRequest::features, since(0)),
            field("rack", &BrokerRegistrationRequest::rack, since(0)).nullable(since(0)),
            field("isMigratingZkBroker", &BrokerRegistrationRequest::is_migrating_zk_broker, since(1)),
            field("logDirs", &BrokerRegistrationRequest::log_dirs, since(2)),
            field("previousBrokerEpoch", &BrokerRegistrationRequest::previous_broker_epoch, since(3))};
    }
};

struct BrokerRegistrationResponse {
    static constexpr std::string_view kName = "BrokerRegistrationResponse";
    static constexpr Versions kVersions{0, 4};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr ApiKey kApiKey = ApiKey::BrokerRegistration;
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::None;
    std::int64_t broker_epoch = -1;
    friend bool operator==(const BrokerRegistrationResponse&, const BrokerRegistrationResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &BrokerRegistrationResponse::throttle_time_ms, since(0)),
                          field("errorCode", &BrokerRegistrationResponse::error_code, since(0)),
                          field("brokerEpoch", &BrokerRegistrationResponse::broker_epoch, since(0))};
    }
};
HW_WIRE_MESSAGE(BrokerRegistrationRequest)
HW_WIRE_MESSAGE(BrokerRegistrationResponse)

}  // namespace highwater::wire
