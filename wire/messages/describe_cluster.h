// DescribeCluster (60): the cluster id and its brokers.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct DescribeClusterRequest {
    static constexpr std::string_view kName = "DescribeClusterRequest";
    static constexpr Versions kVersions{0, 2};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr ApiKey kApiKey = ApiKey::DescribeCluster;
    bool include_cluster_authorized_operations = false;
    std::int8_t endpoint_type = 1;
    bool include_fenced_brokers = false;
    friend bool operator==(const DescribeClusterRequest&, const DescribeClusterRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("includeClusterAuthorizedOperations",
                  &DescribeClusterRequest::include_cluster_authorized_operations, since(0)),
            field("endpointType", &DescribeClusterRequest::endpoint_type, since(1)),
            field("includeFencedBrokers", &DescribeClusterRequest::include_fenced_brokers, since(2))};
    }
};

struct DescribeClusterResponse {
    static constexpr std::string_view kName = "DescribeClusterResponse";
    static constexpr Versions kVersions{0, 2};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr ApiKey kApiKey = ApiKey::DescribeCluster;
    struct DescribeClusterBroker {
        std::int32_t broker_id = 0;
        std::string host;
        std::int32_t port = 0;
        std::optional<std::string> rack;
        bool is_fenced = false;
        friend bool operator==(const DescribeClusterBroker&, const DescribeClusterBroker&) = default;

        static constexpr auto fields() {
            return std::tuple{field("brokerId", &DescribeClusterBroker::broker_id, since(0)),
                              field("host", &DescribeClusterBroker::host, since(0)),
                              field("port", &DescribeClusterBroker::port, since(0)),
                              field("rack", &DescribeClusterBroker::rack, since(0)).nullable(since(0)),
                              field("isFenced", &DescribeClusterBroker::is_fenced, since(2))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::None;
    std::optional<std::string> error_message;
    std::int8_t endpoint_type = 1;
    std::string cluster_id;
    std::int32_t controller_id = -1;
    std::vector<DescribeClusterBroker> brokers;
    std::int32_t cluster_authorized_operations = -2147483648;
    friend bool operator==(const DescribeClusterResponse&, const DescribeClusterResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("throttleTimeMs", &DescribeClusterResponse::throttle_time_ms, since(0)),
            field("errorCode", &DescribeClusterResponse::error_code, since(0)),
            field("errorMessage", &DescribeClusterResponse::error_message, since(0)).nullable(since(0)),
            field("endpointType", &DescribeClusterResponse::endpoint_type, since(1)),
            field("clusterId", &DescribeClusterResponse::cluster_id, since(0)),
            field("controllerId", &DescribeClusterResponse::controller_id, since(0)),
            field("brokers", &DescribeClusterResponse::brokers, since(0)),
            field("clusterAuthorizedOperations", &DescribeClusterResponse::cluster_authorized_operations,
                  since(0))};
    }
};
HW_WIRE_MESSAGE(DescribeClusterRequest)
HW_WIRE_MESSAGE(DescribeClusterResponse)

}  // namespace highwater::wire
