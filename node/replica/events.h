// What one partition replica did, as facts for the white-box trace, the in-memory invariants and the
// transcripts. docs/run-format.md gives the JSON line of each; node/trace writes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/partition.h"
#include "base/time.h"
#include "node/log/bugs.h"
#include "node/log/leader_epoch_cache.h"

namespace highwater::node {

enum class Role : std::uint8_t { None, Leader, Follower };

/// What a leader knows of one replica.
struct ReplicaProgress {
    BrokerId id = kNoBroker;
    /// Fetch offset = its log end offset as of its last fetch; kUnknownOffset before the first.
    Offset log_end_offset = kUnknownOffset;
    /// Time since it was last caught up (fetched at or past the leader's end), at the moment of the event.
    /// Duration::max() if it never was since the election and was not in the ISR then.
    Duration behind{0};
};

/// The replica applied a registration that changed its role, leader or leader epoch (the first one always
/// does).
struct RoleTaken {
    Role role = Role::None;
    BrokerId leader = kNoBroker;
    LeaderEpoch epoch = kNoEpoch;
    PartitionEpoch partition_epoch = -1;
    Offset log_end_offset = 0;
    Offset high_watermark = 0;
    /// Leader only: first offset of its epoch.
    Offset epoch_start = kUnknownOffset;
    std::vector<EpochEntry> epoch_table;
    std::vector<BrokerId> isr;
};

/// Records were appended. acks: -1, 0, 1 as leader; nullopt as follower.
struct Appended {
    LeaderEpoch epoch = kNoEpoch;
    Offset first_offset = 0;
    Offset log_end_offset = 0;
    std::optional<std::int16_t> acks;
    /// Leader: committed ISR and effective min ISR when the append was admitted.
    std::vector<BrokerId> isr;
    std::int32_t effective_min_isr = 0;
};

struct HighWatermarkMoved {
    Role role = Role::None;
    LeaderEpoch epoch = kNoEpoch;
    Offset from = 0;
    Offset to = 0;
    Offset log_end_offset = 0;
    /// Leader only: committed ISR, the member being added if an expand is pending, every remote replica's
    /// progress.
    std::vector<BrokerId> isr;
    std::optional<BrokerId> pending_add;
    std::vector<ReplicaProgress> replicas;
    std::int32_t effective_min_isr = 0;
};

/// The leader proposed a new ISR to the controller.
struct IsrProposed {
    LeaderEpoch epoch = kNoEpoch;
    PartitionEpoch partition_epoch = -1;
    std::vector<BrokerId> from;
    std::vector<BrokerId> to;
    /// Shrink: the replicas that fell out and how far behind they were.
    std::vector<ReplicaProgress> lagging;
    Offset log_end_offset = 0;
    Offset high_watermark = 0;
};

/// The leader's committed ISR or its partition epoch changed, by the controller's answer or by metadata that
/// left role and leader epoch as they were (else RoleTaken tells the ISR).
struct IsrCommitted {
    LeaderEpoch epoch = kNoEpoch;
    PartitionEpoch partition_epoch = -1;
    std::vector<BrokerId> isr;
};

/// Metadata told of a partition epoch that it had not told of before, whether or not that changes anything
/// here.
struct RegistrationArrived {
    BrokerId leader = kNoBroker;
    LeaderEpoch epoch = kNoEpoch;
    PartitionEpoch partition_epoch = -1;
    std::vector<BrokerId> isr;
};

/// A follower cut its log on the leader's divergence answer (`from` == `to`: only its epoch table was cut).
/// With an empty epoch table it cuts to its high watermark as it begins to follow; `diverging` is then that
/// offset, epoch -1.
struct Truncated {
    LeaderEpoch epoch = kNoEpoch;
    BrokerId leader = kNoBroker;
    Offset from = 0;
    Offset to = 0;
    OffsetAndEpoch diverging;
};

/// A follower applied its first non-diverging fetch response of this epoch.
struct FollowingConfirmed {
    LeaderEpoch epoch = kNoEpoch;
    BrokerId leader = kNoBroker;
    Offset log_end_offset = 0;
    Offset high_watermark = 0;
};

/// A produce was answered (acks 1 or -1), also at a replica that does not lead and by a timeout (7). error:
/// Kafka's code, 0 is NONE. The offsets are unknown if nothing was appended.
struct ProduceAnswered {
    LeaderEpoch epoch = kNoEpoch;
    std::int16_t acks = -1;
    Offset first_offset = kUnknownOffset;
    Offset last_offset = kUnknownOffset;
    std::int16_t error = 0;
    Offset high_watermark = 0;
    std::vector<BrokerId> isr;
    std::vector<BrokerId> maximal_isr;
    std::int32_t effective_min_isr = 0;
};

/// Records [from, end) were served to a consumer (never to a replica). Only non-empty answers.
struct Served {
    Role role = Role::None;
    LeaderEpoch epoch = kNoEpoch;
    Offset from = 0;
    Offset end = 0;
    Offset high_watermark = 0;
};

/// The partition cannot read or write its files any more and answers KAFKA_STORAGE_ERROR.
struct WentOffline {
    std::string reason;
};

/// A per-replica invariant does not hold. Only told of a node with bugs, once per name and role taken: a
/// correct node traps instead.
struct InvariantBroken {
    std::string_view invariant;
    std::string detail;
};

using PartitionFact =
    std::variant<RoleTaken, Appended, HighWatermarkMoved, IsrProposed, IsrCommitted, RegistrationArrived,
                 Truncated, FollowingConfirmed, ProduceAnswered, Served, WentOffline, BugActivated,
                 InvariantBroken>;

struct PartitionEvent {
    TopicPartition partition;
    PartitionFact fact;
};

}  // namespace highwater::node
