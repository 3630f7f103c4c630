// One replica of one partition, sans-IO: no sockets, no clock, no threads. `now` is an argument.
//   apply_*     metadata, fetch responses, AlterPartition answers: inputs that change the state
//   append, fetch_*, read_*   client and follower requests, answered at once
//   tick        time passes (ISR expiry)
//   take_*      outputs: events, finished produces, a proposal for the controller
// Split by rule: partition.cc (construction, metadata, roles), isr.cc, high_watermark.cc, truncation.cc,
// fetch.cc, pending_produce.cc, invariants.cc. Names follow Kafka's Partition, Replica and PartitionState.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/partition.h"
#include "base/time.h"
#include "node/log/bugs.h"
#include "node/log/partition_log.h"
#include "node/replica/events.h"
#include "wire/error_code.h"

namespace highwater::node {

/// What metadata says of another broker, for ISR eligibility.
struct BrokerView {
    BrokerEpoch epoch = kUnknownBrokerEpoch;
    bool fenced = true;
    bool shutting_down = false;
};
/// Looks brokers up in the newest applied metadata. It may be asked for the own broker too: a proposal
/// carries the own broker epoch.
class ClusterView {
public:
    virtual ~ClusterView() = default;
    [[nodiscard]] virtual std::optional<BrokerView> broker(BrokerId id) const = 0;
};

enum class LeaderRecoveryState : std::int8_t { Recovered = 0, Recovering = 1 };

/// A partition's registration as the metadata log has it.
struct PartitionRegistration {
    std::vector<BrokerId> replicas;
    std::vector<BrokerId> isr;
    BrokerId leader = kNoBroker;
    LeaderEpoch leader_epoch = kNoEpoch;
    PartitionEpoch partition_epoch = -1;
    LeaderRecoveryState recovery = LeaderRecoveryState::Recovered;
    friend bool operator==(const PartitionRegistration&, const PartitionRegistration&) = default;
};

struct PartitionSettings {
    BrokerId self = kNoBroker;
    Duration replica_lag_time_max = seconds(30);
    /// min.insync.replicas of the topic, or the broker's default.
    std::int32_t min_insync_replicas = 1;
    Bugs bugs;
};

// ISR states, as Kafka's PartitionState. The maximal ISR of a pending expand counts the joiner already; that
// of a pending shrink still counts the leaver.
struct CommittedIsr {
    std::vector<BrokerId> isr;
};
struct PendingExpandIsr {
    std::vector<BrokerId> isr;  // last committed
    BrokerId joining = kNoBroker;
};
struct PendingShrinkIsr {
    std::vector<BrokerId> isr;  // last committed
    std::vector<BrokerId> leaving;
};
using IsrState = std::variant<CommittedIsr, PendingExpandIsr, PendingShrinkIsr>;

/// What the leader asks the controller for (AlterPartition v3, one partition).
struct AlterPartitionProposal {
    LeaderEpoch leader_epoch = kNoEpoch;
    PartitionEpoch partition_epoch = -1;
    struct Member {
        BrokerId id = kNoBroker;
        BrokerEpoch broker_epoch = kUnknownBrokerEpoch;
        friend bool operator==(const Member&, const Member&) = default;
    };
    std::vector<Member> isr;
    LeaderRecoveryState recovery = LeaderRecoveryState::Recovered;
    friend bool operator==(const AlterPartitionProposal&, const AlterPartitionProposal&) = default;
};
/// The controller's answer for one partition: an error, or the registration it committed.
struct AlterPartitionAnswer {
    wire::ErrorCode error = wire::ErrorCode::None;
    BrokerId leader = kNoBroker;
    LeaderEpoch leader_epoch = kNoEpoch;
    std::vector<BrokerId> isr;
    PartitionEpoch partition_epoch = -1;
    LeaderRecoveryState recovery = LeaderRecoveryState::Recovered;
};

using ProduceTicket = std::uint64_t;
struct AppendOutcome {
    wire::ErrorCode error = wire::ErrorCode::None;
    Offset base_offset = kUnknownOffset;
    /// acks=-1 and appended: the answer comes as a FinishedProduce with this ticket, possibly at the next
    /// take_finished() (ISR = {leader}). Never set together with an error.
    std::optional<ProduceTicket> waiting;
};
struct FinishedProduce {
    ProduceTicket ticket = 0;
    wire::ErrorCode error = wire::ErrorCode::None;
    Offset base_offset = kUnknownOffset;
};

struct FollowerFetch {
    BrokerId replica = kNoBroker;
    BrokerEpoch broker_epoch = kUnknownBrokerEpoch;
    LeaderEpoch current_leader_epoch = kNoEpoch;
    Offset fetch_offset = 0;
    LeaderEpoch last_fetched_epoch = kNoEpoch;
    Offset log_start_offset = -1;
    /// What is left of the response's budget; at least one batch is served unless this is 0.
    std::size_t max_bytes = 0;
};
struct ConsumerFetch {
    /// -1: unknown, not checked.
    LeaderEpoch current_leader_epoch = kNoEpoch;
    Offset fetch_offset = 0;
    std::size_t max_bytes = 0;
};
/// With an error everything else keeps its default.
struct FetchAnswer {
    wire::ErrorCode error = wire::ErrorCode::None;
    Offset high_watermark = kUnknownOffset;
    Offset log_start_offset = kUnknownOffset;
    /// Followers only: (epoch, end offset) to truncate by; then there are no records.
    std::optional<OffsetAndEpoch> diverging;
    Bytes records;
};

/// Where a follower stands and whom it asks.
struct FetchPosition {
    BrokerId leader = kNoBroker;
    LeaderEpoch leader_epoch = kNoEpoch;
    Offset fetch_offset = 0;
    /// The epoch cache's latest entry, never the last record's epoch: an entry without records may be foreign
    /// and must be asked about too. -1 if the cache is empty.
    LeaderEpoch last_fetched_epoch = kNoEpoch;
    Offset log_start_offset = 0;
    friend bool operator==(const FetchPosition&, const FetchPosition&) = default;
};

class Partition {
public:
    /// `high_watermark`: from the checkpoint, clamped to the log. `cluster` outlives the partition.
    Partition(TopicIdPartition id, PartitionSettings settings, std::unique_ptr<PartitionLog> log,
              Offset high_watermark, const ClusterView& cluster);
    ~Partition();

    [[nodiscard]] const TopicIdPartition& id() const;
    [[nodiscard]] Role role() const;
    [[nodiscard]] BrokerId leader() const;
    [[nodiscard]] LeaderEpoch leader_epoch() const;
    [[nodiscard]] PartitionEpoch partition_epoch() const;
    [[nodiscard]] Offset high_watermark() const;
    [[nodiscard]] const PartitionLog& log() const;
    [[nodiscard]] const IsrState& isr_state() const;
    [[nodiscard]] std::vector<BrokerId> committed_isr() const;
    [[nodiscard]] std::vector<BrokerId> maximal_isr() const;
    [[nodiscard]] std::int32_t effective_min_isr() const;
    [[nodiscard]] std::vector<ReplicaProgress> replica_progress(Instant now) const;
    [[nodiscard]] bool offline() const;

    // -- metadata --------------------------------------------------
    /// Ignored if its partition or leader epoch is lower than the local one, or if it makes this replica lead
    /// in an epoch older than its log's (old metadata read again at start). At an equal partition epoch
    /// nothing but the HW condition is looked at: a pending ISR change is kept.
    void apply_registration(Instant now, const PartitionRegistration& registration);
    /// min.insync.replicas changed; asks the HW condition again.
    void apply_settings(Instant now, std::int32_t min_insync_replicas);
    /// Brokers were fenced or unfenced: the HW condition may have changed.
    void cluster_changed(Instant now);

    // -- as leader --------------------------------------------------
    /// `batches`: one or more record batches already validated for shape and CRC. acks: -1, 0 or 1. Errors:
    /// NOT_LEADER_OR_FOLLOWER, INVALID_REQUIRED_ACKS, NOT_ENOUGH_REPLICAS (acks=-1), KAFKA_STORAGE_ERROR;
    /// with any of them nothing was appended.
    AppendOutcome append(Instant now, Bytes batches, std::int16_t acks);
    /// The request timed out: the ticket will not finish any more; true if it was still waiting, and then the
    /// caller answers REQUEST_TIMED_OUT.
    bool abandon(ProduceTicket ticket);
    /// Counts for ISR and HW; `update_state` false when a delayed fetch is read again for its answer. The
    /// answer's HW is the one from before this fetch counted. Errors: epoch fencing, NOT_LEADER_OR_FOLLOWER
    /// (also a broker epoch older than the known one), OFFSET_OUT_OF_RANGE, KAFKA_STORAGE_ERROR.
    FetchAnswer fetch_for_follower(Instant now, const FollowerFetch& fetch, bool update_state = true);
    /// ISR expiry; call every replica.lag.time.max.ms / 2.
    void tick(Instant now);
    /// A proposal to send, once; nullopt while none is new.
    std::optional<AlterPartitionProposal> take_proposal();
    /// The request got no answer for this partition (no connection, an error of the whole request):
    /// take_proposal() gives the one in flight again. The caller paces it.
    void retry_proposal();
    /// `asked`: the proposal this answers; ignored if it is not the one in flight any more. After an error
    /// that Kafka retries, take_proposal() gives the proposal again.
    void apply_alter_partition_answer(Instant now, const AlterPartitionProposal& asked,
                                      const AlterPartitionAnswer& answer);

    // -- as any replica --------------------------------------------------
    /// Up to the high watermark of this replica, leader or follower (before Fetch v11 the caller asks leaders
    /// only). Errors: epoch fencing, NOT_LEADER_OR_FOLLOWER without a role, OFFSET_OUT_OF_RANGE,
    /// KAFKA_STORAGE_ERROR.
    FetchAnswer fetch_for_consumer(Instant now, const ConsumerFetch& fetch);
    /// ListOffsets: timestamp -1 latest, -2 earliest. `replica_id` -1 consumer (leader only, HW), -2
    /// debugging consumer (LEO, also at followers), others are replicas (leader only, LEO). Errors:
    /// NOT_LEADER_OR_FOLLOWER, epoch fencing, KAFKA_STORAGE_ERROR, INVALID_REQUEST for other timestamps;
    /// OFFSET_NOT_AVAILABLE for a consumer's latest while the high watermark is below the epoch's start.
    struct ListedOffset {
        wire::ErrorCode error = wire::ErrorCode::None;
        Offset offset = kUnknownOffset;
        LeaderEpoch leader_epoch = kNoEpoch;
    };
    ListedOffset list_offset(std::int64_t timestamp, BrokerId replica_id,
                             LeaderEpoch current_leader_epoch) const;
    /// Errors: IO; the partition is then offline.
    Status flush();
    /// At a clean stop: the log is durable and opens without being read again. Errors: as flush(), and of a
    /// partition that is offline.
    Status close();
    /// The log cannot be used, or not any more: KAFKA_STORAGE_ERROR from now on.
    void go_offline(const Error& cause);
    /// Forgets idempotent producers that have been silent for `expiration`.
    void expire_producers(std::int64_t now_ms, Duration expiration);

    // -- as follower --------------------------------------------------
    /// nullopt unless following a live leader.
    [[nodiscard]] std::optional<FetchPosition> fetch_position() const;
    /// `asked` is the position the request carried: a response to another position or epoch is dropped.
    /// True if the fetcher may ask again at once; false asks for replica.fetch.backoff.ms first.
    bool apply_fetch_response(Instant now, const FetchPosition& asked, const FetchAnswer& answer);

    // -- outputs --------------------------------------------------
    std::vector<PartitionEvent> take_events();
    std::vector<FinishedProduce> take_finished();
    /// A counter that rises when LEO, HW, role or epoch changed or the partition went offline: delayed
    /// fetches look again.
    [[nodiscard]] std::uint64_t revision() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace highwater::node
