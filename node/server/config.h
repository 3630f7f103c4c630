// The configuration of a node: Kafka's keys with Kafka 4.3's defaults, a few of our own under highwater.*.
// Unknown keys are refused: a typo must not become a silent default.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "node/controller/metadata_image.h"
#include "node/controller/topic_config.h"
#include "node/log/bugs.h"
#include "node/log/log_settings.h"

namespace highwater::node {

struct Voter {
    BrokerId id = kNoBroker;
    std::string host;
    std::uint16_t port = 0;
};

struct NodeConfig {
    BrokerId node_id = kNoBroker;
    /// process.roles: exactly one of the two.
    bool is_controller = false;
    Voter controller;                 // controller.quorum.voters: one voter
    std::vector<Endpoint> listeners;  // where to bind
    std::vector<Endpoint>
        advertised;  // what others are told; the listeners unless advertised.listeners says otherwise
    std::string inter_broker_listener = "INTERNAL";
    std::string controller_listener = "CONTROLLER";
    std::string log_dirs;

    Duration broker_session_timeout = milliseconds(9000);
    Duration broker_heartbeat_interval = milliseconds(2000);
    Duration replica_lag_time_max = milliseconds(30000);
    Duration replica_fetch_wait_max = milliseconds(500);
    std::int32_t replica_fetch_min_bytes = 1;
    Duration replica_fetch_backoff = milliseconds(1000);
    std::int32_t replica_fetch_max_bytes = 1048576;
    Duration high_watermark_checkpoint_interval = milliseconds(5000);
    Duration recovery_point_checkpoint_interval = milliseconds(60000);
    Duration log_start_checkpoint_interval = milliseconds(60000);
    Duration producer_id_expiration = milliseconds(86400000);
    LogSettings log;
    std::int32_t min_insync_replicas = 1;
    std::int32_t eligible_leader_replicas =
        1;  // highwater.eligible.leader.replicas.version, of a new cluster
    bool unclean_leader_election = false;
    Duration unclean_election_interval = milliseconds(300000);
    bool auto_leader_rebalance = true;
    Duration leader_imbalance_check_interval = seconds(300);
    std::int32_t default_replication_factor = 1;
    std::int32_t num_partitions = 1;
    std::int32_t message_max_bytes = 1048588;
    bool controlled_shutdown = true;
    std::int32_t offsets_topic_num_partitions = 50;
    std::int32_t offsets_topic_replication_factor = 3;
    Duration offsets_commit_timeout = milliseconds(5000);
    std::int32_t offset_metadata_max_bytes = 4096;
    Duration group_initial_rebalance_delay = milliseconds(3000);
    Duration group_min_session_timeout = milliseconds(6000);
    Duration group_max_session_timeout = milliseconds(1800000);

    // What the shell bounds (docs/node.md).
    std::int32_t socket_request_max_bytes = 104857600;
    std::int32_t max_connections = INT32_MAX;
    std::int32_t max_connections_per_ip = INT32_MAX;
    std::int64_t queued_max_request_bytes = -1;  // -1: no bound, as in Kafka
    Duration connections_max_idle = milliseconds(600000);
    std::int32_t max_pipelined_requests = 64;                 // highwater.max.pipelined.requests
    std::int32_t max_queued_response_bytes = 64 * (1 << 20);  // highwater.max.queued.response.bytes
    bool allow_non_loopback = false;                          // highwater.allow.non.loopback

    Bugs bugs;                     // highwater.bugs
    std::string hosts_file;        // highwater.hosts.file
    std::string trace_file;        // highwater.trace.file; "" is none
    std::int32_t incarnation = 1;  // highwater.incarnation: number of this start, for the trace
    Uuid cluster_id;               // highwater.cluster.id; zero: whatever meta.properties says

    /// What the file and the command line said, as they said it.
    std::map<std::string, std::string> given;

    [[nodiscard]] const Endpoint* listener(std::string_view name) const;
    [[nodiscard]] const Endpoint* advertised_listener(std::string_view name) const;
};

/// A setting and where it was written, for messages ("server.properties:12", "--override").
struct Property {
    std::string value;
    std::string origin;
};
using Properties = std::map<std::string, Property>;

/// Java's .properties as far as Kafka's files use it: key=value, '#' and '!' comments, blank lines. Errors
/// name the line.
Result<Properties> parse_properties(std::string_view text, const std::string& file_name);
/// Errors name origin and key: unknown, malformed, out of range, missing.
Result<NodeConfig> parse_config(const Properties& properties);

/// One key as DescribeConfigs shows it.
struct ConfigEntry {
    std::string name;
    ConfigType type = ConfigType::String;
    std::string value;
    /// nullopt: there is none, as with node.id.
    std::optional<std::string> default_value;
    bool given = false;
};
/// Every key that has a value, in the order of their names.
std::vector<ConfigEntry> describe_config(const NodeConfig& config);

}  // namespace highwater::node
