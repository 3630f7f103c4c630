// DescribeConfigs (32): settings of topics and brokers, with their sources.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct DescribeConfigsRequest {
    static constexpr std::string_view kName = "DescribeConfigsRequest";
    static constexpr Versions kVersions{1, 4};
    static constexpr std::int16_t kFlexibleSince = 4;
    static constexpr ApiKey kApiKey = ApiKey::DescribeConfigs;
    struct DescribeConfigsResource {
        std::int8_t resource_type = 0;
        std::string resource_name;
        std::optional<std::vector<std::string>> configuration_keys = std::vector<std::string>{};
        friend bool operator==(const DescribeConfigsResource&, const DescribeConfigsResource&) = default;

        static constexpr auto fields() {
            return std::tuple{
                field("resourceType", &DescribeConfigsResource::resource_type, since(0)),
                field("resourceName", &DescribeConfigsResource::resource_name, since(0)),
                field("configurationKeys", &DescribeConfigsResource::configuration_keys, since(0))
                    .nullable(since(0))};
        }
    };
    std::vector<DescribeConfigsResource> resources;
    bool include_synonyms = false;
    bool include_documentation = false;
    friend bool operator==(const DescribeConfigsRequest&, const DescribeConfigsRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("resources", &DescribeConfigsRequest::resources, since(0)),
            field("includeSynonyms", &DescribeConfigsRequest::include_synonyms, since(1)),
            field("includeDocumentation", &DescribeConfigsRequest::include_documentation, since(3))};
    }
};

struct DescribeConfigsResponse {
    static constexpr std::string_view kName = "DescribeConfigsResponse";
    static constexpr Versions kVersions{1, 4};
    static constexpr std::int16_t kFlexibleSince = 4;
    static constexpr ApiKey kApiKey = ApiKey::DescribeConfigs;
    struct DescribeConfigsResult {
        struct DescribeConfigsResourceResult {
            struct DescribeConfigsSynonym {
                std::string name;
                std::optional<std::string> value = "";
                std::int8_t source = 0;
                friend bool operator==(const DescribeConfigsSynonym&,
                                       const DescribeConfigsSynonym&) = default;

                static constexpr auto fields() {
                    return std::tuple{
                        field("name", &DescribeConfigsSynonym::name, since(1)),
                        field("value", &DescribeConfigsSynonym::value, since(1)).nullable(since(0)),
                        field("source", &DescribeConfigsSynonym::source, since(1))};
                }
            };
            std::string name;
            std::optional<std::string> value = "";
            bool read_only = false;
            std::int8_t config_source = -1;
            bool is_sensitive = false;
            std::vector<DescribeConfigsSynonym> synonyms;
            std::int8_t config_type = 0;
            std::optional<std::string> documentation = "";
            friend bool operator==(const DescribeConfigsResourceResult&,
                                   const DescribeConfigsResourceResult&) = default;

            static constexpr auto fields() {
                return std::tuple{
                    field("name", &DescribeConfigsResourceResult::name, since(0)),
                    field("value", &DescribeConfigsResourceResult::value, since(0)).nullable(since(0)),
                    field("readOnly", &DescribeConfigsResourceResult::read_only, since(0)),
                    field("configSource", &DescribeConfigsResourceResult::config_source, since(1)),
                    field("isSensitive", &DescribeConfigsResourceResult::is_sensitive, since(0)),
                    field("synonyms", &DescribeConfigsResourceResult::synonyms, since(1)),
                    field("configType", &DescribeConfigsResourceResult::config_type, since(3)),
                    field("documentation", &DescribeConfigsResourceResult::documentation, since(3))
                        .nullable(since(0))};
            }
        };
        ErrorCode error_code = ErrorCode::None;
        std::optional<std::string> error_message = "";
        std::int8_t resource_type = 0;
        std::string resource_name;
        std::vector<DescribeConfigsResourceResult> configs;
        friend bool operator==(const DescribeConfigsResult&, const DescribeConfigsResult&) = default;

        static constexpr auto fields() {
            return std::tuple{
                field("errorCode", &DescribeConfigsResult::error_code, since(0)),
                field("errorMessage", &DescribeConfigsResult::error_message, since(0)).nullable(since(0)),
                field("resourceType", &DescribeConfigsResult::resource_type, since(0)),
                field("resourceName", &DescribeConfigsResult::resource_name, since(0)),
                field("configs", &DescribeConfigsResult::configs, since(0))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    std::vector<DescribeConfigsResult> results;
    friend bool operator==(const DescribeConfigsResponse&, const DescribeConfigsResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &DescribeConfigsResponse::throttle_time_ms, since(0)),
                          field("results", &DescribeConfigsResponse::results, since(0))};
    }
};
HW_WIRE_MESSAGE(DescribeConfigsRequest)
HW_WIRE_MESSAGE(DescribeConfigsResponse)

}  // namespace highwater::wire
