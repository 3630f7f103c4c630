// The invariants of one partition: state, and one function per group of invariants.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/sim/invariants.h"

namespace highwater::sim {

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

    std::map<BrokerId, ReplicaView> replicas;
    Promises acknowledged;
    Promises served;
    std::vector<LogRecord> committed;
    int unclean_elections = 0;

private:
    void violated(const std::string& invariant, std::string detail);

    // log_view.cc: the logs and their epochs
    void read_log(ReplicaView& view, const node::PartitionLog& log);
    void truncated(ReplicaView& view, Offset to);
    void check_epochs(const ReplicaView& view, const node::PartitionLog& log);

    void on_fact(ReplicaView& view, const node::PartitionFact& fact);
    void on_role(const ReplicaView& view, const node::RoleTaken& fact);
    void on_high_watermark(const ReplicaView& view, const node::HighWatermarkMoved& fact);
    void on_answer(const ReplicaView& view, const node::ProduceAnswered& fact);
    void on_served(const ReplicaView& view, const node::Served& fact);

    void reopened(const ReplicaView& view, const node::PartitionLog& log);
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
    [[nodiscard]] bool is_current_leader(const ReplicaView& view) const;

    TopicPartition id_;
    std::int32_t min_isr_;
    const Inspector& inspector_;
    std::vector<Violation>& violations_;
    Instant now_{};

    // The controller's registration, as last seen (also while it is down).
    node::PartitionImage registration_;
    std::map<LeaderEpoch, BrokerId> leader_of_epoch_;
    /// Epoch of the last unclean election, and whether nobody of it or later has taken office yet.
    LeaderEpoch unclean_epoch_ = kNoEpoch;
    bool awaiting_office_ = false;
};

}  // namespace highwater::sim
