// What one Partition holds and the rules on it. Private to node/replica: everybody else uses partition.h.
// The rules are members of State, each defined in the file named after it; Partition's public functions are
// defined beside the rule they belong to and end with check_invariants().
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "node/replica/partition.h"

namespace highwater::node {

/// What a leader remembers of one other assigned replica (Kafka: Replica, ReplicaState). All unknown until it
/// fetches.
struct RemoteReplica {
    Offset log_end_offset = kUnknownOffset;
    /// Of its last fetch; -1 if that fetch carried none.
    std::optional<BrokerEpoch> broker_epoch;
    /// nullopt: never, and it was not in the ISR at the election.
    std::optional<Instant> last_caught_up_at;
    std::optional<Instant> last_fetch_at;
    /// The leader's log end when that fetch was read.
    Offset leader_end_at_last_fetch = kUnknownOffset;
};

/// An appended acks=-1 produce that waits for the high watermark to pass `last_offset`.
struct WaitingProduce {
    ProduceTicket ticket = 0;
    Offset first_offset = kUnknownOffset;
    Offset last_offset = kUnknownOffset;
};

bool contains(const std::vector<BrokerId>& members, BrokerId id);
/// "1,2,3", for assertion texts.
std::string to_string(const std::vector<BrokerId>& members);

/// How a waiting acks=-1 produce ends once the high watermark reached `required_offset`; nullopt: it waits
/// on.
std::optional<wire::ErrorCode> produce_result(Offset required_offset, Offset high_watermark,
                                              std::size_t maximal_isr_size, std::int32_t effective_min_isr);

struct Partition::State {
    State(TopicIdPartition partition_id, PartitionSettings partition_settings,
          std::unique_ptr<PartitionLog> partition_log, Offset checkpointed, const ClusterView& view);

    // partition.cc
    void become_leader(Instant now, const PartitionRegistration& registration);
    void become_follower(const PartitionRegistration& registration);
    void update_remotes(Instant now, const PartitionRegistration& registration, bool new_epoch);
    void commit_isr(std::vector<BrokerId> isr, PartitionEpoch epoch);
    void go_offline(const Error& cause);
    void emit(PartitionFact fact);
    /// Asks for a deliberate bug where it would do something else than a correct node: then it is counted and
    /// told, and true.
    bool acts(Bug bug, bool otherwise);
    void tell_bug(Bug bug);

    // isr.cc
    [[nodiscard]] const std::vector<BrokerId>& committed_isr() const;
    [[nodiscard]] bool in_maximal_isr(BrokerId id) const;
    [[nodiscard]] std::vector<BrokerId> maximal_isr() const;
    [[nodiscard]] std::int32_t effective_min_isr() const;
    /// How many must be in sync for acks=all and for the high watermark to move.
    std::int32_t required_in_sync();
    bool under_min_isr();
    [[nodiscard]] bool is_caught_up(const RemoteReplica& replica, Instant now) const;
    [[nodiscard]] bool is_eligible(BrokerId id, const RemoteReplica& replica) const;
    [[nodiscard]] bool is_stale(BrokerId id, BrokerEpoch epoch) const;
    [[nodiscard]] std::vector<ReplicaProgress> progress(Instant now) const;
    void record_fetch(Instant now, const FollowerFetch& fetch, Offset leader_end);
    void maybe_shrink_isr(Instant now);
    void maybe_expand_isr(BrokerId id, const RemoteReplica& replica);
    void propose(std::vector<BrokerId> isr, std::vector<ReplicaProgress> lagging);
    void roll_back_isr(Instant now);

    // high_watermark.cc
    void maybe_advance_high_watermark(Instant now);
    [[nodiscard]] Offset least_log_end(Instant now) const;
    [[nodiscard]] Offset with_bugs(Offset reached, Instant now);
    void follow_high_watermark(Offset leaders);
    void set_high_watermark(Offset to, HighWatermarkMoved fact);

    // truncation.cc
    [[nodiscard]] std::optional<FetchPosition> fetch_position() const;
    [[nodiscard]] Offset truncation_offset(const OffsetAndEpoch& diverging);
    void truncate(Offset to, const OffsetAndEpoch& diverging);
    bool apply_divergence(const FetchPosition& asked, const OffsetAndEpoch& diverging);
    bool append_fetched(const FetchPosition& asked, const Bytes& records);

    // fetch.cc
    [[nodiscard]] wire::ErrorCode check_leader_epoch(LeaderEpoch requested) const;
    [[nodiscard]] bool answers_divergence(FetchAnswer& answer, const FollowerFetch& fetch,
                                          Offset log_end) const;
    bool read_into(FetchAnswer& answer, Offset from, Offset limit, std::size_t max_bytes);

    // pending_produce.cc
    AppendOutcome answer_duplicate(const AppendInfo& held, std::int16_t acks);
    void wait(const WaitingProduce& produce);
    void complete_waiting();
    void fail_waiting(wire::ErrorCode error);
    void finish(const WaitingProduce& produce, wire::ErrorCode error);
    void emit_answered(std::int16_t acks, wire::ErrorCode error, Offset first, Offset last);

    // invariants.cc
    void check_invariants();
    void check_log();
    void check_leader();
    void check_isr_state();
    void check_follower();
    void check_high_watermark_moved();
    void check_answered(const WaitingProduce& produce);
    /// On a correct node a trap, on one with bugs a fact.
    void broken(std::string_view invariant, const std::string& detail);

    const TopicIdPartition id;
    PartitionSettings settings;
    const std::unique_ptr<PartitionLog> log;
    const ClusterView& cluster;

    Role role = Role::None;
    BrokerId leader = kNoBroker;
    LeaderEpoch leader_epoch = kNoEpoch;
    PartitionEpoch partition_epoch = -1;
    std::vector<BrokerId> replicas;
    Offset high_watermark = 0;
    bool offline = false;
    /// Of the newest registration that metadata brought; partition_epoch may be ahead of it by an answer of
    /// the controller.
    PartitionEpoch registered_epoch = -1;

    // As leader; empty otherwise.
    Offset epoch_start = kUnknownOffset;
    std::map<BrokerId, RemoteReplica> remotes;
    IsrState isr_state = CommittedIsr{};
    /// What was sent, or is to be sent, for a pending isr_state.
    std::optional<AlterPartitionProposal> in_flight;
    bool proposal_unsent = false;
    /// In offset order.
    std::deque<WaitingProduce> waiting;
    ProduceTicket next_ticket = 1;

    // As follower.
    bool following_confirmed = false;

    // Outputs.
    std::vector<PartitionEvent> events;
    std::vector<FinishedProduce> finished;
    std::uint64_t revision = 0;
    BugCounters bugs_acted;
    std::set<std::string_view> told_broken;

    // What the last check_invariants() saw, for those that compare with the past.
    LeaderEpoch checked_leader_epoch = kNoEpoch;
    PartitionEpoch checked_partition_epoch = -1;
    Role checked_role = Role::None;
    Offset checked_high_watermark = 0;
};

}  // namespace highwater::node
