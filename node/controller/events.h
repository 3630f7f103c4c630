// What the controller decided, as facts for the white-box trace and the in-memory invariants.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/partition.h"
#include "base/time.h"
#include "node/log/bugs.h"

namespace highwater::node {

struct BrokerRegistered {
    BrokerId broker = kNoBroker;
    BrokerEpoch broker_epoch = kUnknownBrokerEpoch;
    Uuid incarnation;
    /// Its last life, that of the epoch before, ended with a clean stop; also if this is that life still.
    bool clean = false;
};
/// Registered: a new incarnation starts fenced. ControlledShutdown: the broker itself wished it.
enum class FenceReason : std::uint8_t { Registered, SessionTimeout, ControlledShutdown };
struct BrokerFenced {
    BrokerId broker = kNoBroker;
    BrokerEpoch broker_epoch = kUnknownBrokerEpoch;
    FenceReason reason = FenceReason::Registered;
    /// SessionTimeout: time since the last heartbeat.
    Duration silent{0};
};
struct BrokerUnfenced {
    BrokerId broker = kNoBroker;
    BrokerEpoch broker_epoch = kUnknownBrokerEpoch;
};
/// In controlled shutdown: still heartbeating, no ISR member, no leader.
struct BrokerShuttingDown {
    BrokerId broker = kNoBroker;
    BrokerEpoch broker_epoch = kUnknownBrokerEpoch;
};
/// A PartitionRecord or PartitionChangeRecord was written.
struct PartitionChanged {
    TopicPartition partition;
    BrokerId leader = kNoBroker;
    LeaderEpoch leader_epoch = kNoEpoch;
    PartitionEpoch partition_epoch = -1;
    std::vector<BrokerId> isr;
    /// The leader changed: an election, or none could be elected (leader -1). False for a created partition.
    bool elected = false;
    /// Chosen from outside ISR and ELR.
    bool unclean = false;
    /// "created", "registered" (a new incarnation of a replica), "fenced", "unfenced", "shutdown",
    /// "alter-partition", "preferred" (ElectLeaders, or the timer), "unclean-request" (ElectLeaders),
    /// "last-known-leader", "unclean" (any other unclean election, whatever led to them), "min-isr" (eligible
    /// leaders by a min.insync.replicas that no longer holds).
    std::string cause;
    /// Eligible leader replicas, and who led last while nobody does.
    std::vector<BrokerId> elr;
    std::vector<BrokerId> last_known_elr;
    /// An unclean election of who led last, ISR and ELR being empty.
    bool last_known_leader = false;
};
/// With all its partitions and configs.
struct TopicDeleted {
    std::string topic;
    Uuid topic_id;
};
/// An existing topic's config was set; nullopt: it was removed, the cluster's default holds again.
struct TopicConfigChanged {
    std::string topic;
    std::string name;
    std::optional<std::string> value;
};

using ControllerEvent = std::variant<BrokerRegistered, BrokerFenced, BrokerUnfenced, BrokerShuttingDown,
                                     PartitionChanged, TopicDeleted, TopicConfigChanged, BugActivated>;

}  // namespace highwater::node
