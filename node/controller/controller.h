// The active controller, sans-IO: registrations and sessions, elections, AlterPartition, topics. Every
// decision is a metadata record, appended and flushed to __cluster_metadata-0 before the answer exists (one
// voter: appended is committed). Requests and answers are the wire's own messages. Split by rule:
// registration.cc, sessions.cc, election.cc, elect_leaders.cc, alter_partition.cc, topics.cc,
// delete_topics.cc, alter_configs.cc, producer_ids.cc, metadata_log.cc. Reference: Kafka 4.3.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/rng.h"
#include "base/time.h"
#include "node/controller/events.h"
#include "node/controller/metadata_image.h"
#include "node/log/bugs.h"
#include "node/log/partition_log.h"
#include "wire/messages/allocate_producer_ids.h"
#include "wire/messages/alter_partition.h"
#include "wire/messages/broker_heartbeat.h"
#include "wire/messages/broker_registration.h"
#include "wire/messages/create_topics.h"
#include "wire/messages/delete_topics.h"
#include "wire/messages/elect_leaders.h"
#include "wire/messages/incremental_alter_configs.h"

namespace highwater::node {

struct ControllerSettings {
    BrokerId self = kNoBroker;
    Uuid cluster_id;
    Duration broker_session_timeout = seconds(9);
    /// Cluster default; a topic's ConfigRecord overrides it.
    bool unclean_leader_election = false;
    Duration unclean_election_interval = seconds(300);
    /// Partitions go back to their preferred leaders by themselves, looked at this often.
    bool auto_leader_rebalance = true;
    Duration leader_imbalance_check_interval = seconds(300);
    std::int32_t min_insync_replicas = 1;
    std::int32_t default_replication_factor = 1;
    std::int32_t num_partitions = 1;
    /// eligible.leader.replicas.version of a new cluster; an existing log says its own.
    bool eligible_leader_replicas = true;
    Bugs bugs;
};

/// Ids in one answer to AllocateProducerIds.
inline constexpr std::int32_t kProducerIdBlock = 1000;

class Controller {
public:
    /// Replays the log, takes the next controller epoch (quorum leader epoch: latest in the log + 1) and
    /// counts every unfenced broker's session from `now`. `wall_ms`: record timestamps. Errors: IO, a log
    /// that contradicts itself.
    static Result<std::unique_ptr<Controller>> open(Instant now, std::int64_t wall_ms,
                                                    ControllerSettings settings, Storage& storage, Rng rng);
    ~Controller();

    [[nodiscard]] const MetadataImage& image() const;
    [[nodiscard]] const PartitionLog& metadata_log() const;
    /// Epoch of this controller's leadership of __cluster_metadata.
    [[nodiscard]] LeaderEpoch controller_epoch() const;
    /// Set once the log could not be written: what it holds is unknown, so the process must stop. Until it
    /// does, every request is answered UNKNOWN_SERVER_ERROR and nothing is decided.
    [[nodiscard]] const std::optional<Error>& fatal() const;

    /// Refused: INCONSISTENT_CLUSTER_ID; DUPLICATE_BROKER_REGISTRATION while another incarnation's session
    /// lives; INVALID_REGISTRATION for log directories that are none, reserved, twice there or another
    /// broker's.
    wire::BrokerRegistrationResponse handle(Instant now, std::int64_t wall_ms,
                                            const wire::BrokerRegistrationRequest& request);
    /// `current_metadata_offset`: the last offset that the broker has applied.
    wire::BrokerHeartbeatResponse handle(Instant now, std::int64_t wall_ms,
                                         const wire::BrokerHeartbeatRequest& request);
    /// Version 2 fills new_isr, version 3 new_isr_with_epochs: whichever is not empty counts.
    wire::AlterPartitionResponse handle(Instant now, std::int64_t wall_ms,
                                        const wire::AlterPartitionRequest& request);
    wire::CreateTopicsResponse handle(Instant now, std::int64_t wall_ms,
                                      const wire::CreateTopicsRequest& request);
    /// By name (`topic_names`, before version 6) or by name or id (`topics`). Refused: UNKNOWN_TOPIC_ID,
    /// UNKNOWN_TOPIC_OR_PARTITION; INVALID_REQUEST for a topic that is named twice, or both ways, or not at
    /// all.
    wire::DeleteTopicsResponse handle(Instant now, std::int64_t wall_ms,
                                      const wire::DeleteTopicsRequest& request);
    /// Topics only. Refused per resource, and then nothing of it is changed: UNKNOWN_TOPIC_OR_PARTITION,
    /// INVALID_REQUEST (other resources, something twice, no value), INVALID_CONFIG (names and values that
    /// topic_config.h does not take; append and subtract where there is no list).
    wire::IncrementalAlterConfigsResponse handle(Instant now, std::int64_t wall_ms,
                                                 const wire::IncrementalAlterConfigsRequest& request);
    /// Preferred, or unclean whatever unclean.leader.election.enable says. Per partition ELECTION_NOT_NEEDED
    /// (left out when all partitions are asked for), PREFERRED_LEADER_NOT_AVAILABLE,
    /// ELIGIBLE_LEADERS_NOT_AVAILABLE, UNKNOWN_TOPIC_OR_PARTITION; INVALID_REQUEST for another election type.
    wire::ElectLeadersResponse handle(Instant now, std::int64_t wall_ms,
                                      const wire::ElectLeadersRequest& request);
    /// The next block of kProducerIdBlock ids. Refused: STALE_BROKER_EPOCH.
    wire::AllocateProducerIdsResponse handle(Instant now, std::int64_t wall_ms,
                                             const wire::AllocateProducerIdsRequest& request);

    /// Fences silent brokers (checked every session/8), retries unclean elections, goes back to preferred
    /// leaders.
    void tick(Instant now, std::int64_t wall_ms);
    [[nodiscard]] Instant deadline() const;

    std::vector<ControllerEvent> take_events();

private:
    struct State;
    explicit Controller(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace highwater::node
