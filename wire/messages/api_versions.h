// ApiVersions (18): which APIs and versions the other side speaks.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct ApiVersionsRequest {
    static constexpr std::string_view kName = "ApiVersionsRequest";
    static constexpr Versions kVersions{0, 5};
    static constexpr std::int16_t kFlexibleSince = 3;
    static constexpr ApiKey kApiKey = ApiKey::ApiVersions;
    std::string client_software_name;
    std::string client_software_version;
    std::optional<std::string> cluster_id;
    std::int32_t node_id = -1;
    friend bool operator==(const ApiVersionsRequest&, const ApiVersionsRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("clientSoftwareName", &ApiVersionsRequest::client_software_name, since(3)),
            field("clientSoftwareVersion", &ApiVersionsRequest::client_software_version, since(3)),
            field("clusterId", &ApiVersionsRequest::cluster_id, since(5)).nullable(since(5)),
            field("nodeId", &ApiVersionsRequest::node_id, since(5))};
    }
};

struct ApiVersionsResponse {
    static constexpr std::string_view kName = "ApiVersionsResponse";
    static constexpr Versions kVersions{0, 5};
    static constexpr std::int16_t kFlexibleSince = 3;
    static constexpr ApiKey kApiKey = ApiKey::ApiVersions;
    struct ApiVersion {
        std::int16_t api_key = 0;
        std::int16_t min_version = 0;
        std::int16_t max_version = 0;
        friend bool operator==(const ApiVersion&, const ApiVersion&) = default;

        static constexpr auto fields() {
            return std::tuple{field("apiKey", &ApiVersion::api_key, since(0)),
                              field("minVersion", &ApiVersion::min_version, since(0)),
                              field("maxVersion", &ApiVersion::max_version, since(0))};
        }
    };
    struct SupportedFeatureKey {
        std::string name;
        std::int16_t min_version = 0;
        std::int16_t max_version = 0;
        friend bool operator==(const SupportedFeatureKey&, const SupportedFeatureKey&) = default;

        static constexpr auto fields() {
            return std::tuple{field("name", &SupportedFeatureKey::name, since(3)),
                              field("minVersion", &SupportedFeatureKey::min_version, since(3)),
                              field("maxVersion", &SupportedFeatureKey::max_version, since(3))};
        }
    };
    struct FinalizedFeatureKey {
        std::string name;
        std::int16_t max_version_level = 0;
        std::int16_t min_version_level = 0;
        friend bool operator==(const FinalizedFeatureKey&, const FinalizedFeatureKey&) = default;

        static constexpr auto fields() {
            return std::tuple{field("name", &FinalizedFeatureKey::name, since(3)),
                              field("maxVersionLevel", &FinalizedFeatureKey::max_version_level, since(3)),
                              field("minVersionLevel", &FinalizedFeatureKey::min_version_level, since(3))};
        }
    };
    ErrorCode error_code = ErrorCode::None;
    std::vector<ApiVersion> api_keys;
    std::int32_t throttle_time_ms = 0;
    std::vector<SupportedFeatureKey> supported_features;
    std::int64_t finalized_features_epoch = -1;
    std::vector<FinalizedFeatureKey> finalized_features;
    bool zk_migration_ready = false;
    friend bool operator==(const ApiVersionsResponse&, const ApiVersionsResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("errorCode", &ApiVersionsResponse::error_code, since(0)),
            field("apiKeys", &ApiVersionsResponse::api_keys, since(0)),
            field("throttleTimeMs", &ApiVersionsResponse::throttle_time_ms, since(1)),
            field("supportedFeatures", &ApiVersionsResponse::supported_features, since(3))
                .tagged(0, since(3)),
            field("finalizedFeaturesEpoch", &ApiVersionsResponse::finalized_features_epoch, since(3))
                .tagged(1, since(3)),
            field("finalizedFeatures", &ApiVersionsResponse::finalized_features, since(3))
                .tagged(2, since(3)),
            field("zkMigrationReady", &ApiVersionsResponse::zk_migration_ready, since(3))
                .tagged(3, since(3))};
    }
};
HW_WIRE_MESSAGE(ApiVersionsRequest)
HW_WIRE_MESSAGE(ApiVersionsResponse)

}  // namespace highwater::wire
