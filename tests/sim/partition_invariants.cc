#include "tests/sim/partition_invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace highwater::sim {

bool contains(const std::vector<BrokerId>& ids, BrokerId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

std::string show(const std::vector<LogRecord>& log, Offset at) {
    if (at >= static_cast<Offset>(log.size())) return fmt::format("nothing (end {})", log.size());
    const LogRecord& record = log[static_cast<std::size_t>(at)];
    return fmt::format("{} of epoch {}", record.value, record.epoch);
}

PartitionInvariants::PartitionInvariants(TopicPartition id, const std::vector<BrokerId>& brokers,
                                         std::int32_t effective_min_isr, const Inspector& inspector,
                                         std::vector<Violation>& violations)
    : id_(std::move(id)), min_isr_(effective_min_isr), inspector_(inspector), violations_(violations) {
    for (const BrokerId broker : brokers) replicas[broker].broker = broker;
}

void PartitionInvariants::violated(const std::string& invariant, std::string detail) {
    violations_.push_back({invariant, fmt::format("{}: {}", id_.to_string(), detail), now_});
}

void PartitionInvariants::stopped(BrokerId broker) {
    ReplicaView& view = replicas.at(broker);
    view.running = nullptr;
    view.role = node::Role::None;
    view.epoch = kNoEpoch;
    view.partition_epoch = -1;
    view.high_watermark = 0;
    touched_ = true;
}

void PartitionInvariants::registered(const node::BrokerRegistered& event) {
    ReplicaView& view = replicas.at(event.broker);
    view.restarted = registration_.partition_epoch >= 0;  // there is an ISR that it could be in
    view.restarted_unclean = view.restarted && !event.clean;
    eligible_lost_ = eligible_lost_ || view.restarted_unclean;
    if (view.lost_power) view.registered_after_loss = event.broker_epoch;
    view.lost_power = false;
    touched_ = true;
}

bool PartitionInvariants::loss_unknown_to(const ReplicaView& leader, const ReplicaView& member) const {
    if (member.lost_power) return true;
    const node::MetadataImage* known = inspector_.image_of(leader.broker);
    const node::BrokerImage* broker = known != nullptr ? known->broker(member.broker) : nullptr;
    return broker == nullptr || broker->epoch < member.registered_after_loss;
}

bool PartitionInvariants::is_current_leader(const ReplicaView& view) const {
    return view.running != nullptr && view.role == node::Role::Leader &&
           view.broker == registration_.leader && view.epoch == registration_.leader_epoch;
}

void PartitionInvariants::observe(Instant now, BrokerId broker,
                                  const std::vector<const node::PartitionFact*>& facts) {
    now_ = now;
    ReplicaView& view = replicas.at(broker);
    const node::Partition* partition = inspector_.partition(broker, id_);
    if (partition == nullptr) return;
    const bool idle = facts.empty() && partition == view.running &&
                      partition->revision() == view.partition_revision &&
                      partition->partition_epoch() == view.partition_epoch &&
                      partition->log().log_end_offset() == view.end();
    if (idle) return;
    touched_ = true;
    for (const node::PartitionFact* fact : facts) {
        if (const auto* cut = std::get_if<node::Truncated>(fact)) truncated(view, cut->to);
    }
    if (partition != view.running) reopened(view, partition->log());
    read_log(view, partition->log());
    for (const node::PartitionFact* fact : facts) on_fact(view, *fact);
    check_replica(view, *partition);
}

void PartitionInvariants::check(Instant now) {
    if (!touched_) return;
    touched_ = false;
    now_ = now;
    for (auto& [broker, view] : replicas) extend_match(view);
    for (auto& [broker, view] : replicas) {
        if (view.running != nullptr && view.role == node::Role::Leader) commit(view);
    }
    for (auto& [broker, view] : replicas) extend_match(view);
    for (auto& [broker, view] : replicas) {
        if (view.running == nullptr || view.role != node::Role::Leader) continue;
        check_members(view);
        if (is_current_leader(view)) check_current_leader(view);
    }
    check_candidates();
    check_pairs();
}

}  // namespace highwater::sim
