// PartitionInvariants: judged by what the replicas are after each step.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <variant>

#include "tests/sim/partition_invariants.h"

namespace highwater::sim {

// -- state
// --------------------------------------------------------------------------------------------------------

void PartitionInvariants::extend_match(ReplicaView& view) const {
    const Offset end = std::min(view.end(), static_cast<Offset>(committed.size()));
    while (view.matched < end) {
        const auto at = static_cast<std::size_t>(view.matched);
        if (!(view.log[at] == committed[at])) return;
        ++view.matched;
    }
}

/// What a process finds is what its predecessor left. After a power loss it is what was flushed last, which
/// can be less, and can be what was cut since then.
void PartitionInvariants::reopened(ReplicaView& view, const node::PartitionLog& log) {
    ReplicaView again;
    again.broker = view.broker;
    read_log(again, log);
    const auto [found, left] =
        std::mismatch(again.log.begin(), again.log.end(), view.log.begin(), view.log.end());
    if (std::exchange(view.may_be_shorter, false)) return truncated(view, found - again.log.begin());
    if (found == again.log.end() && left == view.log.end()) return;
    const auto at = found - again.log.begin();
    violated("LogKept", fmt::format("broker {} at {}: {} became {}", view.broker, at, show(view.log, at),
                                    show(again.log, at)));
}

/// FetcherShape: a leader fetches from nobody, a follower from its leader, where its log ends.
void PartitionInvariants::check_fetcher(const ReplicaView& view, const node::Partition& partition) {
    const auto position = partition.fetch_position();
    if (!position) return;
    if (partition.role() == node::Role::Follower && position->leader == partition.leader() &&
        position->leader != view.broker && position->leader_epoch == partition.leader_epoch() &&
        position->fetch_offset == view.end()) {
        return;
    }
    violated("FetcherShape",
             fmt::format("broker {} would fetch from {} at {} in epoch {}, it follows {} in epoch {}",
                         view.broker, position->leader, position->fetch_offset, position->leader_epoch,
                         partition.leader(), partition.leader_epoch()));
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
    check_fetcher(view, partition);
    view.running = &partition;
    view.role = partition.role();
    view.epoch = partition.leader_epoch();
    view.partition_epoch = partition.partition_epoch();
    view.high_watermark = high_watermark;
    view.partition_revision = partition.revision();
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
            if (!counts(view) || loss_unknown_to(leader, view) || view.matched >= leader.high_watermark)
                continue;
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
    const auto counted = [&](BrokerId member) { return contains(maximal, member); };
    const bool superset = std::all_of(registration_.isr.begin(), registration_.isr.end(), counted) &&
                          std::all_of(registration_.elr.begin(), registration_.elr.end(), counted);
    if ((!pending && maximal.size() != isr.size()) ||
        (static_cast<std::int32_t>(isr.size()) >= min_isr_ && !superset)) {
        violated("MaximalIsrSuperset",
                 fmt::format("leader {}: maximal [{}] of [{}], controller's isr [{}] elr [{}]", leader.broker,
                             fmt::join(maximal, ","), fmt::join(isr, ","), fmt::join(registration_.isr, ","),
                             fmt::join(registration_.elr, ",")));
    }
    if (!counts(leader)) return;
    for (const BrokerId member : registration_.isr) {
        const ReplicaView& view = replicas.at(member);
        if (counts(view) && !view.lost_power && view.end() < leader.high_watermark) {
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

/// Every member of the controller's ISR, and of its ELR, could be elected: it must hold all that is
/// committed. (Also one that is down: a killed process keeps its files.)
void PartitionInvariants::check_candidates() {
    std::vector<BrokerId> candidates = registration_.isr;
    candidates.insert(candidates.end(), registration_.elr.begin(), registration_.elr.end());
    for (const BrokerId member : candidates) {
        const ReplicaView& view = replicas.at(member);
        if (!counts(view) || view.lost_power || view.matched >= static_cast<Offset>(committed.size()))
            continue;
        violated("CandidateCompleteness",
                 fmt::format("member {} of isr [{}] elr [{}] has {} at {}, committed is {}", member,
                             fmt::join(registration_.isr, ","), fmt::join(registration_.elr, ","),
                             show(view.log, view.matched), view.matched, show(committed, view.matched)));
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
