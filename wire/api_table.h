// The APIs our processes speak: names, flexible-since, and the versions each kind of listener takes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "wire/api_key.h"
#include "wire/messages/api_versions.h"
#include "wire/schema.h"

namespace highwater::wire {

struct ApiInfo {
    ApiKey key;
    std::string_view name;
    std::int16_t flexible_since;
    /// Offered on CLIENT and DIRECT listeners; empty: refused there.
    Versions client;
    /// Offered on INTERNAL and CONTROLLER listeners; empty: refused there.
    Versions internal;
};

inline constexpr Versions kNotOffered{1, 0};
inline constexpr std::array kApis = {
    // Produce 0-2 are advertised, as librdkafka wants, but no client in use sends them; they cannot be
    // decoded.
    ApiInfo{ApiKey::Produce, "Produce", 9, {0, 13}, kNotOffered},
    ApiInfo{ApiKey::Fetch, "Fetch", 12, {4, 18}, {4, 17}},
    ApiInfo{ApiKey::ListOffsets, "ListOffsets", 6, {1, 11}, {1, 11}},
    ApiInfo{ApiKey::Metadata, "Metadata", 9, {0, 13}, {0, 13}},
    ApiInfo{ApiKey::OffsetCommit, "OffsetCommit", 8, {2, 10}, kNotOffered},
    ApiInfo{ApiKey::OffsetFetch, "OffsetFetch", 6, {1, 10}, kNotOffered},
    ApiInfo{ApiKey::FindCoordinator, "FindCoordinator", 3, {0, 6}, kNotOffered},
    ApiInfo{ApiKey::JoinGroup, "JoinGroup", 6, {0, 9}, kNotOffered},
    ApiInfo{ApiKey::Heartbeat, "Heartbeat", 4, {0, 4}, kNotOffered},
    ApiInfo{ApiKey::LeaveGroup, "LeaveGroup", 4, {0, 5}, kNotOffered},
    ApiInfo{ApiKey::SyncGroup, "SyncGroup", 4, {0, 5}, kNotOffered},
    ApiInfo{ApiKey::DescribeGroups, "DescribeGroups", 5, {0, 6}, kNotOffered},
    ApiInfo{ApiKey::ListGroups, "ListGroups", 3, {0, 5}, kNotOffered},
    ApiInfo{ApiKey::ApiVersions, "ApiVersions", 3, {0, 4}, {0, 4}},
    ApiInfo{ApiKey::CreateTopics, "CreateTopics", 5, {2, 7}, {2, 7}},
    ApiInfo{ApiKey::DeleteTopics, "DeleteTopics", 4, {1, 6}, {1, 6}},
    ApiInfo{ApiKey::InitProducerId, "InitProducerId", 2, {0, 5}, kNotOffered},
    ApiInfo{ApiKey::OffsetForLeaderEpoch, "OffsetForLeaderEpoch", 4, {2, 4}, {2, 4}},
    ApiInfo{ApiKey::DescribeConfigs, "DescribeConfigs", 4, {1, 4}, kNotOffered},
    ApiInfo{ApiKey::DescribeLogDirs, "DescribeLogDirs", 2, {1, 5}, kNotOffered},
    ApiInfo{ApiKey::DeleteGroups, "DeleteGroups", 2, {0, 2}, kNotOffered},
    ApiInfo{ApiKey::ElectLeaders, "ElectLeaders", 2, {0, 2}, {0, 2}},
    ApiInfo{ApiKey::IncrementalAlterConfigs, "IncrementalAlterConfigs", 1, {0, 1}, {0, 1}},
    ApiInfo{ApiKey::ListPartitionReassignments, "ListPartitionReassignments", 0, {0, 0}, kNotOffered},
    ApiInfo{ApiKey::AlterPartition, "AlterPartition", 0, kNotOffered, {2, 3}},
    ApiInfo{ApiKey::DescribeCluster, "DescribeCluster", 0, {0, 2}, kNotOffered},
    ApiInfo{ApiKey::DescribeTopicPartitions, "DescribeTopicPartitions", 0, {0, 0}, kNotOffered},
    ApiInfo{ApiKey::BrokerRegistration, "BrokerRegistration", 0, kNotOffered, {0, 4}},
    ApiInfo{ApiKey::BrokerHeartbeat, "BrokerHeartbeat", 0, kNotOffered, {0, 1}},
    ApiInfo{ApiKey::AllocateProducerIds, "AllocateProducerIds", 0, kNotOffered, {0, 0}},
};

enum class ListenerKind : std::uint8_t { Client, Internal };

/// nullptr for an API that is not in the table.
const ApiInfo* find_api(ApiKey key);
const ApiInfo* find_api(std::string_view name);
/// "Fetch", or "api 99".
std::string api_name(ApiKey key);
bool offers(ListenerKind listener, ApiKey key, std::int16_t version);
/// The answer to ApiVersions. At a version that the listener does not offer: error UNSUPPORTED_VERSION, to be
/// encoded at version 0, with the full list, so that the client retries lower.
struct ApiVersionsAnswer {
    ApiVersionsResponse response;
    std::int16_t encode_at = 0;
};
ApiVersionsAnswer answer_api_versions(ListenerKind listener, std::int16_t requested_version);

}  // namespace highwater::wire
