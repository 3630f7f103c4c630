// The invariants of one partition: state, and one function per group of invariants. By kind: log_view.cc
// (logs and their epochs), partition_facts.cc (what the node said it did), partition_state.cc (what is), and
// partition_watch.cc (what must not last).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/sim/invariants.h"

namespace highwater::sim {

/// replica.lag.time.max.ms of the simulated cluster.
inline constexpr Duration kReplicaLag = milliseconds(3000);

bool contains(const std::vector<BrokerId>& ids, BrokerId id);
/// "17 of epoch 3", or that there is nothing.
std::string show(const std::vector<LogRecord>& log, Offset at);

class PartitionInvariants {
public:
    PartitionInvariants(TopicPartition id, const std::vector<BrokerId>& brokers,
                        std::int32_t effective_min_isr, const Inspector& inspector,
                        std::vector<Violation>& violations);

    /// `broker` made a step: reads its log, then judges the step's facts and the replica's own state.
    void observe(Instant now, BrokerId broker, const std::vector<const node::PartitionFact*>& facts);
    void on_change(Instant now, const node::PartitionChanged& change);
    /// The controller's image, after a step of the controller.
    void check_image(Instant now, const node::MetadataImage& image);
    /// What holds between replicas, after any step.
    void check(Instant now);
    void stopped(BrokerId broker);
    /// The controller took a new incarnation of the broker in.
    void registered(const node::BrokerRegistered& event);
    /// What may be for a moment, but not for long.
    void watch(Instant now);

    std::map<BrokerId, ReplicaView> replicas;
    Promises acknowledged;
    Promises served;
    std::vector<LogRecord> committed;
    int unclean_elections = 0;
    int last_known_elections = 0;

private:
    void violated(const std::string& invariant, std::string detail);

    // log_view.cc: the logs and their epochs
    void read_log(ReplicaView& view, const node::PartitionLog& log);
    void truncated(ReplicaView& view, Offset to);
    void check_epochs(const ReplicaView& view, const node::PartitionLog& log);

    void on_fact(ReplicaView& view, const node::PartitionFact& fact);
    void on_role(ReplicaView& view, const node::RoleTaken& fact);
    void on_proposal(const ReplicaView& view, const node::IsrProposed& fact);
    void on_high_watermark(const ReplicaView& view, const node::HighWatermarkMoved& fact);
    void on_answer(const ReplicaView& view, const node::ProduceAnswered& fact);
    void on_served(const ReplicaView& view, const node::Served& fact);

    void reopened(ReplicaView& view, const node::PartitionLog& log);
    void check_kept_somewhere(const ReplicaView& view, Offset to);
    void check_election(const node::PartitionChanged& change);
    void check_joiners(const std::vector<BrokerId>& before, const std::vector<BrokerId>& isr);
    void check_last_known(const node::PartitionChanged& change);
    void check_eligible(const node::PartitionImage& partition, bool elr_enabled);
    void check_fetcher(const ReplicaView& view, const node::Partition& partition);
    void check_replica(ReplicaView& view, const node::Partition& partition);
    void commit(ReplicaView& leader);
    void extend_match(ReplicaView& view) const;
    void check_members(const ReplicaView& leader);
    void check_current_leader(ReplicaView& leader);
    void check_candidates();
    void check_pairs();
    void take_office(const ReplicaView& leader);

    /// The replica's log is bound by what is remembered.
    [[nodiscard]] bool counts(const ReplicaView& view) const {
        return !awaiting_office_ && view.conformed >= unclean_epoch_;
    }
    /// `leader`, which may be behind with metadata, cannot know yet what `member` lost.
    [[nodiscard]] bool loss_unknown_to(const ReplicaView& leader, const ReplicaView& member) const;
    /// How long `bad` has held without a break.
    Duration lasting(Instant& since, bool bad) const;
    [[nodiscard]] bool is_current_leader(const ReplicaView& view) const;

    TopicPartition id_;
    std::int32_t min_isr_;
    const Inspector& inspector_;
    std::vector<Violation>& violations_;
    Instant now_{};

    // The controller's registration, as last seen (also while it is down).
    node::PartitionImage registration_;
    Offset image_end_ = -1;
    std::map<LeaderEpoch, BrokerId> leader_of_epoch_;
    /// Epoch of the last unclean election, and whether nobody of it or later has taken office yet.
    LeaderEpoch unclean_epoch_ = kNoEpoch;
    bool awaiting_office_ = false;
    /// Since the ISR was at least the minimum: an unclean shutdown or election took members out of ISR and
    /// ELR.
    bool eligible_lost_ = false;
    /// Something happened since the last check().
    bool touched_ = true;

    // watch(): since when; never() while it is not so.
    Instant stalled_since_ = Instant::never();
    Instant lagging_since_ = Instant::never();
    Instant pending_since_ = Instant::never();
    Offset stalled_at_ = 0;
    PartitionEpoch pending_epoch_ = -1;
};

}  // namespace highwater::sim
