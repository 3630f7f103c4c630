// IncrementalAlterConfigs (44): sets and removes settings of topics.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct IncrementalAlterConfigsRequest {
    static constexpr std::string_view kName = "IncrementalAlterConfigsRequest";
    static constexpr Versions kVersions{0, 1};
    static constexpr std::int16_t kFlexibleSince = 1;
    static constexpr ApiKey kApiKey = ApiKey::IncrementalAlterConfigs;
    struct AlterConfigsResource {
        struct AlterableConfig {
            std::string name;
            std::int8_t config_operation = 0;
            std::optional<std::string> value = "";
            friend bool operator==(const AlterableConfig&, const AlterableConfig&) = default;

            static constexpr auto fields() {
                return std::tuple{field("name", &AlterableConfig::name, since(0)),
                                  field("configOperation", &AlterableConfig::config_operation, since(0)),
                                  field("value", &AlterableConfig::value, since(0)).nullable(since(0))};
            }
        };
        std::int8_t resource_type = 0;
        std::string resource_name;
        std::vector<AlterableConfig> configs;
        friend bool operator==(const AlterConfigsResource&, const AlterConfigsResource&) = default;

        static constexpr auto fields() {
            return std::tuple{field("resourceType", &AlterConfigsResource::resource_type, since(0)),
                              field("resourceName", &AlterConfigsResource::resource_name, since(0)),
                              field("configs", &AlterConfigsResource::configs, since(0))};
        }
    };
    std::vector<AlterConfigsResource> resources;
    bool validate_only = false;
    friend bool operator==(const IncrementalAlterConfigsRequest&,
                           const IncrementalAlterConfigsRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{field("resources", &IncrementalAlterConfigsRequest::resources, since(0)),
                          field("validateOnly", &IncrementalAlterConfigsRequest::validate_only, since(0))};
    }
};

struct IncrementalAlterConfigsResponse {
    static constexpr std::string_view kName = "IncrementalAlterConfigsResponse";
    static constexpr Versions kVersions{0, 1};
    static constexpr std::int16_t kFlexibleSince = 1;
    static constexpr ApiKey kApiKey = ApiKey::IncrementalAlterConfigs;
    struct AlterConfigsResourceResponse {
        ErrorCode error_code = ErrorCode::None;
        std::optional<std::string> error_message = "";
        std::int8_t resource_type = 0;
        std::string resource_name;
        friend bool operator==(const AlterConfigsResourceResponse&,
                               const AlterConfigsResourceResponse&) = default;

        static constexpr auto fields() {
            return std::tuple{field("errorCode", &AlterConfigsResourceResponse::error_code, since(0)),
                              field("errorMessage", &AlterConfigsResourceResponse::error_message, since(0))
                                  .nullable(since(0)),
                              field("resourceType", &AlterConfigsResourceResponse::resource_type, since(0)),
                              field("resourceName", &AlterConfigsResourceResponse::resource_name, since(0))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    std::vector<AlterConfigsResourceResponse> responses;
    friend bool operator==(const IncrementalAlterConfigsResponse&,
                           const IncrementalAlterConfigsResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("throttleTimeMs", &IncrementalAlterConfigsResponse::throttle_time_ms, since(0)),
            field("responses", &IncrementalAlterConfigsResponse::responses, since(0))};
    }
};
HW_WIRE_MESSAGE(IncrementalAlterConfigsRequest)
HW_WIRE_MESSAGE(IncrementalAlterConfigsResponse)

}  // namespace highwater::wire
