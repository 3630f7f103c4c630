#include "tests/sim/partition_invariants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <variant>

#include "base/overloaded.h"

namespace highwater::sim {
namespace {

bool contains(const std::vector<BrokerId>& ids, BrokerId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

std::string show(const std::vector<LogRecord>& log, Offset at) {
    if (at >= static_cast<Offset>(log.size())) return fmt::format("nothing (end {})", log.size());
    const LogRecord& record = log[static_cast<std::size_t>(at)];
    return fmt::format("{} of epoch {}", record.value, record.epoch);
}

}  // namespace

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
}

// -- what the controller did
// --------------------------------------------------------------------------------------

void PartitionInvariants::on_change(Instant now, const node::PartitionChanged& change) {
    now_ = now;
    node::PartitionImage& last = registration_;
    const bool first = last.partition_epoch < 0;
    const bool leader_changed = !first && change.leader != last.leader;
    const bool good = first || (change.partition_epoch == last.partition_epoch + 1 &&
                                (change.leader_epoch == last.leader_epoch + 1 ||
                                 (change.leader_epoch == last.leader_epoch && !leader_changed)));
    if (!good) {
        violated("EpochMonotone",
                 fmt::format("controller: leader {} epoch {} partition epoch {} after leader {} epoch {} "
                             "partition epoch {}",
                             change.leader, change.leader_epoch, change.partition_epoch, last.leader,
                             last.leader_epoch, last.partition_epoch));
    }
    last.leader = change.leader;
    last.leader_epoch = change.leader_epoch;
    last.partition_epoch = change.partition_epoch;
    last.isr = change.isr;
    if (change.unclean) {
        ++unclean_elections;
        unclean_epoch_ = change.leader_epoch;
        awaiting_office_ = true;
    }
}

void PartitionInvariants::check_image(Instant now, const node::MetadataImage& image) {
    now_ = now;
    const node::PartitionImage* partition = image.partition(id_);
    if (partition == nullptr) return;
    if (partition->partition_epoch != registration_.partition_epoch || partition->isr != registration_.isr ||
        partition->leader != registration_.leader || partition->leader_epoch != registration_.leader_epoch) {
        violated("EpochMonotone", "the controller's image is not what its events said");
    }
    const std::vector<BrokerId>& isr = partition->isr;
    if (partition->leader != kNoBroker && !contains(isr, partition->leader)) {
        violated("LeaderInIsr", fmt::format("leader {} isr [{}]", partition->leader, fmt::join(isr, ",")));
    }
    for (const BrokerId member : isr) {
        const node::BrokerImage* broker = image.broker(member);
        const bool may_not = broker == nullptr || broker->fenced || broker->in_controlled_shutdown;
        if (may_not && isr.size() > 1) {
            violated("FencedNotInIsr", fmt::format("{} in isr [{}]", member, fmt::join(isr, ",")));
        }
    }
}

// -- what a replica said it did
// -----------------------------------------------------------------------------------

void PartitionInvariants::on_fact(ReplicaView& view, const node::PartitionFact& fact) {
    std::visit(
        overloaded{
            [&](const node::RoleTaken& of) {
                if (of.role == node::Role::Leader) view.conformed = std::max(view.conformed, of.epoch);
                on_role(view, of);
            },
            [&](const node::FollowingConfirmed& of) { view.conformed = std::max(view.conformed, of.epoch); },
            [&](const node::HighWatermarkMoved& of) { on_high_watermark(view, of); },
            [&](const node::ProduceAnswered& of) { on_answer(view, of); },
            [&](const node::Served& of) { on_served(view, of); },
            [&](const node::WentOffline& of) {
                violated("Online", fmt::format("broker {}: {}", view.broker, of.reason));
            },
            [&](const node::InvariantBroken& of) {
                violated(std::string(of.invariant), fmt::format("broker {}: {}", view.broker, of.detail));
            },
            [](const auto&) {}},
        fact);
}

void PartitionInvariants::on_role(const ReplicaView& view, const node::RoleTaken& fact) {
    if (fact.role != node::Role::Leader) return;
    const auto [known, added] = leader_of_epoch_.emplace(fact.epoch, view.broker);
    if (!added && known->second != view.broker) {
        violated("OneLeaderPerEpoch",
                 fmt::format("brokers {} and {} in epoch {}", known->second, view.broker, fact.epoch));
    }
    if (awaiting_office_ && fact.epoch >= unclean_epoch_) take_office(view);
}

void PartitionInvariants::take_office(const ReplicaView& leader) {
    const auto kept =
        std::mismatch(committed.begin(), committed.end(), leader.log.begin(), leader.log.end()).first;
    committed.erase(kept, committed.end());
    acknowledged.cut_to(leader.log);
    served.cut_to(leader.log);
    for (auto& [broker, view] : replicas)
        view.matched = std::min(view.matched, static_cast<Offset>(committed.size()));
    awaiting_office_ = false;
}

void PartitionInvariants::on_high_watermark(const ReplicaView& view, const node::HighWatermarkMoved& fact) {
    if (fact.role != node::Role::Leader || fact.to <= fact.from) return;
    std::vector<BrokerId> counted = fact.isr;
    if (fact.pending_add) counted.push_back(*fact.pending_add);
    if (fact.to > fact.log_end_offset) {
        violated("ValidHighWatermark",
                 fmt::format("broker {}: hw {} > leo {}", view.broker, fact.to, fact.log_end_offset));
    }
    for (const node::ReplicaProgress& replica : fact.replicas) {
        if (replica.id != view.broker && contains(counted, replica.id) && replica.log_end_offset < fact.to) {
            violated("ValidHighWatermark",
                     fmt::format("leader {}: hw {} but {} in [{}] is known at {}", view.broker, fact.to,
                                 replica.id, fmt::join(counted, ","), replica.log_end_offset));
        }
    }
    if (static_cast<std::int32_t>(fact.isr.size()) < fact.effective_min_isr) {
        violated("VisibleUnderMinIsr",
                 fmt::format("leader {}: hw {} -> {} with isr [{}], min {}", view.broker, fact.from, fact.to,
                             fmt::join(fact.isr, ","), fact.effective_min_isr));
    }
}

void PartitionInvariants::on_answer(const ReplicaView& view, const node::ProduceAnswered& fact) {
    if (fact.acks != -1 || fact.error != 0) return;
    if (fact.high_watermark <= fact.last_offset ||
        static_cast<std::int32_t>(fact.maximal_isr.size()) < min_isr_) {
        violated("AckQuorum",
                 fmt::format("broker {} acknowledged {}..{} at hw {} with maximal isr [{}], min {}",
                             view.broker, fact.first_offset, fact.last_offset, fact.high_watermark,
                             fmt::join(fact.maximal_isr, ","), min_isr_));
    }
    if (!counts(view) || fact.epoch < unclean_epoch_) return;
    for (Offset offset = fact.first_offset; offset <= fact.last_offset && offset < view.end(); ++offset) {
        if (!acknowledged.add(offset, view.log[static_cast<std::size_t>(offset)])) {
            violated("CommitUnique",
                     fmt::format("broker {} acknowledged a second record at {}", view.broker, offset));
        }
    }
}

void PartitionInvariants::on_served(const ReplicaView& view, const node::Served& fact) {
    if (fact.end > fact.high_watermark) {
        violated("FetchAboveHw", fmt::format("broker {} served [{}, {}) at hw {}", view.broker, fact.from,
                                             fact.end, fact.high_watermark));
    }
    if (!counts(view)) return;
    for (Offset offset = fact.from; offset < fact.end && offset < view.end(); ++offset) {
        if (!served.add(offset, view.log[static_cast<std::size_t>(offset)])) {
            violated("ConsistentRead",
                     fmt::format("broker {} served a second record at {}", view.broker, offset));
        }
    }
}

// -- state
// --------------------------------------------------------------------------------------------------------

bool PartitionInvariants::is_current_leader(const ReplicaView& view) const {
    return view.running != nullptr && view.role == node::Role::Leader &&
           view.broker == registration_.leader && view.epoch == registration_.leader_epoch;
}

void PartitionInvariants::extend_match(ReplicaView& view) const {
    const Offset end = std::min(view.end(), static_cast<Offset>(committed.size()));
    while (view.matched < end) {
        const auto at = static_cast<std::size_t>(view.matched);
        if (!(view.log[at] == committed[at])) return;
        ++view.matched;
    }
}

void PartitionInvariants::observe(Instant now, BrokerId broker,
                                  const std::vector<const node::PartitionFact*>& facts) {
    now_ = now;
    ReplicaView& view = replicas.at(broker);
    const node::Partition* partition = inspector_.partition(broker, id_);
    if (partition == nullptr) return;
    for (const node::PartitionFact* fact : facts) {
        if (const auto* cut = std::get_if<node::Truncated>(fact)) truncated(view, cut->to);
    }
    if (partition != view.running) reopened(view, partition->log());
    read_log(view, partition->log());
    for (const node::PartitionFact* fact : facts) on_fact(view, *fact);
    check_replica(view, *partition);
}

void PartitionInvariants::reopened(const ReplicaView& view, const node::PartitionLog& log) {
    ReplicaView again;
    again.broker = view.broker;
    read_log(again, log);
    if (again.log != view.log) {
        const auto first =
            std::mismatch(again.log.begin(), again.log.end(), view.log.begin(), view.log.end()).first;
        const auto at = first - again.log.begin();
        violated("LogKept", fmt::format("broker {} at {}: {} became {}", view.broker, at, show(view.log, at),
                                        show(again.log, at)));
    }
}

void PartitionInvariants::check_replica(ReplicaView& view, const node::Partition& partition) {
    const Offset high_watermark = partition.high_watermark();
    if (!(partition.log().log_start_offset() <= high_watermark && high_watermark <= view.end())) {
        violated("HwLeLeo", fmt::format("broker {}: start {} hw {} leo {}", view.broker,
                                        partition.log().log_start_offset(), high_watermark, view.end()));
    }
    const bool same_process = view.running != nullptr;
    if (same_process &&
        (partition.leader_epoch() < view.epoch || partition.partition_epoch() < view.partition_epoch)) {
        violated("EpochMonotone",
                 fmt::format("broker {}: epoch {} -> {}, partition epoch {} -> {}", view.broker, view.epoch,
                             partition.leader_epoch(), view.partition_epoch, partition.partition_epoch()));
    }
    const bool same_leadership = same_process && view.role == node::Role::Leader &&
                                 partition.role() == node::Role::Leader &&
                                 view.epoch == partition.leader_epoch();
    if (same_leadership && high_watermark < view.high_watermark) {
        violated("LeaderHwMonotone", fmt::format("broker {} epoch {}: hw {} -> {}", view.broker, view.epoch,
                                                 view.high_watermark, high_watermark));
    }
    check_epochs(view, partition.log());
    view.running = &partition;
    view.role = partition.role();
    view.epoch = partition.leader_epoch();
    view.partition_epoch = partition.partition_epoch();
    view.high_watermark = high_watermark;
}

void PartitionInvariants::check(Instant now) {
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

void PartitionInvariants::commit(ReplicaView& leader) {
    if (!counts(leader) || leader.epoch < unclean_epoch_) return;
    const Offset end = std::min(leader.high_watermark, leader.end());
    if (leader.matched >= end) return;
    if (leader.matched < static_cast<Offset>(committed.size())) {
        violated("CommitUnique",
                 fmt::format("{} is committed at {}, leader {} of epoch {} (hw {}) has {}",
                             show(committed, leader.matched), leader.matched, leader.broker, leader.epoch,
                             leader.high_watermark, show(leader.log, leader.matched)));
        return;
    }
    committed.insert(committed.end(), leader.log.begin() + leader.matched, leader.log.begin() + end);
    leader.matched = end;
}

/// WeakIsr, StrongIsr: `leader` presumes leadership; its committed prefix is on every member of both ISRs.
void PartitionInvariants::check_members(const ReplicaView& leader) {
    if (!counts(leader) || leader.epoch < unclean_epoch_) return;
    const auto check_isr = [&](const std::string& invariant, const std::vector<BrokerId>& isr) {
        for (const BrokerId member : isr) {
            const ReplicaView& view = replicas.at(member);
            if (!counts(view) || view.matched >= leader.high_watermark) continue;
            violated(invariant, fmt::format("leader {} of epoch {} has hw {}, member {} of [{}] has {} at {}",
                                            leader.broker, leader.epoch, leader.high_watermark, member,
                                            fmt::join(isr, ","), show(view.log, view.matched), view.matched));
        }
    };
    check_isr("WeakIsr", leader.running->committed_isr());
    check_isr("StrongIsr", registration_.isr);
}

void PartitionInvariants::check_current_leader(ReplicaView& leader) {
    const std::vector<BrokerId> isr = leader.running->committed_isr();
    const std::vector<BrokerId> maximal = leader.running->maximal_isr();
    const bool pending = !std::holds_alternative<node::CommittedIsr>(leader.running->isr_state());
    const bool superset = std::all_of(registration_.isr.begin(), registration_.isr.end(),
                                      [&](BrokerId member) { return contains(maximal, member); });
    if ((!pending && maximal.size() != isr.size()) ||
        (static_cast<std::int32_t>(isr.size()) >= min_isr_ && !superset)) {
        violated("MaximalIsrSuperset", fmt::format("leader {}: maximal [{}] of [{}], controller's isr [{}]",
                                                   leader.broker, fmt::join(maximal, ","),
                                                   fmt::join(isr, ","), fmt::join(registration_.isr, ",")));
    }
    if (!counts(leader)) return;
    for (const BrokerId member : registration_.isr) {
        const ReplicaView& view = replicas.at(member);
        if (counts(view) && view.end() < leader.high_watermark) {
            violated("ValidHighWatermark",
                     fmt::format("leader {}: hw {}, member {} of the controller's isr ends at {}",
                                 leader.broker, leader.high_watermark, member, view.end()));
        }
    }
    if (leader.matched < static_cast<Offset>(committed.size())) {
        violated(
            "LeaderCompleteness",
            fmt::format("leader {} of epoch {} has {} at {}, committed is {}", leader.broker, leader.epoch,
                        show(leader.log, leader.matched), leader.matched, show(committed, leader.matched)));
    }
    if (leader.revision == leader.checked_revision && acknowledged.revision() == leader.checked_acked &&
        served.revision() == leader.checked_served) {
        return;
    }
    leader.checked_revision = leader.revision;
    leader.checked_acked = acknowledged.revision();
    leader.checked_served = served.revision();
    if (const auto at = acknowledged.first_broken(leader.log)) {
        violated("LeaderCompleteness",
                 fmt::format("leader {} of epoch {} has {} at {}, which was acknowledged as another",
                             leader.broker, leader.epoch, show(leader.log, *at), *at));
    }
    if (const auto at = served.first_broken(leader.log)) {
        violated("ConsistentRead",
                 fmt::format("leader {} of epoch {} has {} at {}, which was served as another", leader.broker,
                             leader.epoch, show(leader.log, *at), *at));
    }
}

/// Every member of the controller's ISR could be elected: it must hold all that is committed. (Also one that
/// is down: a killed process keeps its files.)
void PartitionInvariants::check_candidates() {
    for (const BrokerId member : registration_.isr) {
        const ReplicaView& view = replicas.at(member);
        if (!counts(view) || view.matched >= static_cast<Offset>(committed.size())) continue;
        violated("CandidateCompleteness",
                 fmt::format("member {} of isr [{}] has {} at {}, committed is {}", member,
                             fmt::join(registration_.isr, ","), show(view.log, view.matched), view.matched,
                             show(committed, view.matched)));
    }
}

/// LogMatching: below both high watermarks two replicas agree.
void PartitionInvariants::check_pairs() {
    for (auto a = replicas.begin(); a != replicas.end(); ++a) {
        for (auto b = std::next(a); b != replicas.end(); ++b) {
            if (a->second.running == nullptr || b->second.running == nullptr) continue;
            if (!counts(a->second) || !counts(b->second)) continue;
            const Offset end = std::min(
                {a->second.high_watermark, b->second.high_watermark, a->second.end(), b->second.end()});
            for (Offset at = std::min(a->second.matched, b->second.matched); at < end; ++at) {
                if (a->second.log[static_cast<std::size_t>(at)] ==
                    b->second.log[static_cast<std::size_t>(at)])
                    continue;
                violated("LogMatching",
                         fmt::format("at {}: broker {} has {}, broker {} has {}", at, a->first,
                                     show(a->second.log, at), b->first, show(b->second.log, at)));
                break;
            }
        }
    }
}

}  // namespace highwater::sim
