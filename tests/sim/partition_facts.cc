// PartitionInvariants: judged by what the controller and the replicas say they did.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <variant>

#include "base/overloaded.h"
#include "node/controller/topic_config.h"
#include "tests/sim/partition_invariants.h"

namespace highwater::sim {

// -- what the controller did
// --------------------------------------------------------------------------------------

void PartitionInvariants::on_change(Instant now, const node::PartitionChanged& change) {
    now_ = now;
    touched_ = true;
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
    if (!first) check_election(change);
    if (change.last_known_leader) check_last_known(change);
    if (!change.unclean || change.last_known_leader) check_joiners(first ? change.isr : last.isr, change.isr);
    last.leader = change.leader;
    last.leader_epoch = change.leader_epoch;
    last.partition_epoch = change.partition_epoch;
    last.isr = change.isr;
    last.elr = change.elr;
    last.last_known_elr = change.last_known_elr;
    eligible_lost_ = eligible_lost_ || change.unclean;
    // Taken as it is, whatever it lost.
    if (change.unclean && change.leader != kNoBroker)
        replicas.at(change.leader).restarted = replicas.at(change.leader).restarted_unclean = false;
    if (change.last_known_leader) {
        ++last_known_elections;
    } else if (change.unclean) {
        ++unclean_elections;
        unclean_epoch_ = change.leader_epoch;
        awaiting_office_ = true;
    }
}

/// LeaderInIsr: who was neither in the ISR nor eligible is elected only where the topic allows it, or as the
/// last known leader.
void PartitionInvariants::check_election(const node::PartitionChanged& change) {
    const bool outside = change.leader != kNoBroker && change.leader != registration_.leader &&
                         !contains(registration_.isr, change.leader) &&
                         !contains(registration_.elr, change.leader);
    if (change.last_known_leader || (!outside && !change.unclean)) return;
    const node::MetadataImage* image = inspector_.image();
    const node::TopicImage* topic = image != nullptr ? image->topic(id_.topic) : nullptr;
    if (topic != nullptr && node::unclean_leader_election(*topic, false)) return;
    violated("LeaderInIsr", fmt::format("{} is elected in epoch {}, isr was [{}]", change.leader,
                                        change.leader_epoch, fmt::join(registration_.isr, ",")));
}

/// LeaderInIsr: the last known leader leads again only when nobody is left who has more. As no fault here
/// takes the data of all members of an ISR, it is judged like any leader of the ISR: it must have all that is
/// committed.
void PartitionInvariants::check_last_known(const node::PartitionChanged& change) {
    const bool empty = registration_.isr.empty() && change.elr.empty();
    if (empty && registration_.last_known_elr == std::vector<BrokerId>{change.leader} &&
        change.isr == registration_.last_known_elr) {
        return;
    }
    violated("LeaderInIsr",
             fmt::format("{} is elected in epoch {} as the last known leader of isr [{}] elr [{}] "
                         "last known [{}]",
                         change.leader, change.leader_epoch, fmt::join(registration_.isr, ","),
                         fmt::join(registration_.elr, ","), fmt::join(registration_.last_known_elr, ",")));
}

/// UncleanExclusion: a new incarnation joins only with all that is committed. (How it got out of the ISR is
/// looked at in check_image.)
void PartitionInvariants::check_joiners(const std::vector<BrokerId>& before,
                                        const std::vector<BrokerId>& isr) {
    for (const BrokerId member : isr) {
        ReplicaView& view = replicas.at(member);
        if (contains(before, member) || !std::exchange(view.restarted, false)) continue;
        view.restarted_unclean = false;
        if (!counts(view) || view.end() >= static_cast<Offset>(committed.size())) continue;
        violated("UncleanExclusion",
                 fmt::format("{} started anew and joins isr [{}] with {} records, {} are committed", member,
                             fmt::join(isr, ","), view.end(), committed.size()));
    }
}

void PartitionInvariants::check_image(Instant now, const node::MetadataImage& image) {
    now_ = now;
    if (image.end_offset() == image_end_) return;
    image_end_ = image.end_offset();
    touched_ = true;
    const node::PartitionImage* partition = image.partition(id_);
    if (partition == nullptr) return;
    if (partition->partition_epoch != registration_.partition_epoch || partition->isr != registration_.isr ||
        partition->elr != registration_.elr || partition->last_known_elr != registration_.last_known_elr ||
        partition->leader != registration_.leader || partition->leader_epoch != registration_.leader_epoch) {
        violated("EpochMonotone", "the controller's image is not what its events said");
    }
    const std::vector<BrokerId>& isr = partition->isr;
    if (partition->leader != kNoBroker && !contains(isr, partition->leader)) {
        violated("LeaderInIsr", fmt::format("leader {} isr [{}]", partition->leader, fmt::join(isr, ",")));
    }
    const node::BrokerImage* leading = image.broker(partition->leader);
    if (leading != nullptr && leading->fenced) {
        violated("FencedLeader",
                 fmt::format("leader {} of epoch {}", partition->leader, partition->leader_epoch));
    }
    const bool elr_enabled = image.feature_level(node::kEligibleLeaderReplicas) > 0;
    check_eligible(*partition, elr_enabled);
    for (const BrokerId member : isr) {
        ReplicaView& view = replicas.at(member);
        // Without ELR nobody else may be left to be asked.
        if (!elr_enabled && isr.size() == 1) view.restarted = false;
        if (view.restarted) {
            violated("UncleanExclusion",
                     fmt::format("{} started anew and is still in isr [{}]", member, fmt::join(isr, ",")));
        }
        const node::BrokerImage* broker = image.broker(member);
        const bool may_not = broker == nullptr || broker->fenced || broker->in_controlled_shutdown;
        if (may_not && (elr_enabled || isr.size() > 1)) {
            violated("FencedNotInIsr", fmt::format("{} in isr [{}]", member, fmt::join(isr, ",")));
        }
    }
}

/// ElrShape, and UncleanExclusion for eligible leaders. All that may lead without loss are kept, but for
/// those that unclean shutdowns took.
void PartitionInvariants::check_eligible(const node::PartitionImage& partition, bool elr_enabled) {
    const std::vector<BrokerId>& isr = partition.isr;
    const std::vector<BrokerId>& elr = partition.elr;
    const auto shape =
        fmt::format("isr [{}] elr [{}] last known [{}] leader {}", fmt::join(isr, ","), fmt::join(elr, ","),
                    fmt::join(partition.last_known_elr, ","), partition.leader);
    const bool enough = std::ssize(isr) >= min_isr_;
    if (enough) eligible_lost_ = false;
    const bool disjoint =
        std::none_of(elr.begin(), elr.end(), [&](BrokerId id) { return contains(isr, id); });
    const bool assigned =
        std::all_of(elr.begin(), elr.end(), [&](BrokerId id) { return contains(partition.replicas, id); });
    bool good = disjoint && assigned && (elr.empty() || (elr_enabled && !enough));
    if (elr_enabled && !eligible_lost_) good = good && std::ssize(isr) + std::ssize(elr) >= min_isr_;
    if (elr_enabled && isr.empty())
        good = good && partition.leader == kNoBroker && partition.last_known_elr.size() == 1;
    if (!isr.empty() && partition.leader != kNoBroker) good = good && partition.last_known_elr.empty();
    if (!good) violated("ElrShape", shape);
    for (const BrokerId member : elr) {
        if (replicas.at(member).restarted_unclean)
            violated("UncleanExclusion", fmt::format("{} started anew uncleanly: {}", member, shape));
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
            [&](const node::IsrProposed& of) { on_proposal(view, of); },
            [&](const node::IsrCommitted& of) {
                std::erase_if(view.since_election,
                              [&](BrokerId member) { return !contains(of.isr, member); });
            },
            [&](const node::HighWatermarkMoved& of) { on_high_watermark(view, of); },
            [&](const node::ProduceAnswered& of) { on_answer(view, of); },
            [&](const node::Served& of) { on_served(view, of); },
            [&](const node::InvariantBroken& of) {
                violated(std::string(of.invariant), fmt::format("broker {}: {}", view.broker, of.detail));
            },
            [&](const node::WentOffline& of) {
                violated("Online", fmt::format("broker {}: {}", view.broker, of.reason));
            },
            [](const auto&) {}},
        fact);
}

void PartitionInvariants::on_role(ReplicaView& view, const node::RoleTaken& fact) {
    view.role_taken = now_;
    view.since_election = fact.isr;
    if (fact.role != node::Role::Leader) return;
    const auto [known, added] = leader_of_epoch_.emplace(fact.epoch, view.broker);
    if (!added && known->second != view.broker) {
        violated("OneLeaderPerEpoch",
                 fmt::format("brokers {} and {} in epoch {}", known->second, view.broker, fact.epoch));
    }
    if (awaiting_office_ && fact.epoch >= unclean_epoch_) take_office(view);
    const bool current = fact.epoch == registration_.leader_epoch && view.broker == registration_.leader;
    if (current && counts(view) && view.end() < static_cast<Offset>(committed.size())) {
        violated("TrueHwMonotone", fmt::format("leader {} of epoch {} has {} records, {} are committed",
                                               view.broker, fact.epoch, view.end(), committed.size()));
    }
}

/// IsrFlap: members have replica.lag.time.max.ms from the election on to show up. (One that joined since may
/// have joined at the high watermark, never caught up, and falls out at the next tick.)
void PartitionInvariants::on_proposal(const ReplicaView& view, const node::IsrProposed& fact) {
    if (fact.to.size() >= fact.from.size() || now_ - view.role_taken >= kReplicaLag) return;
    for (const BrokerId member : view.since_election) {
        if (!contains(fact.from, member) || contains(fact.to, member)) continue;
        violated("IsrFlap", fmt::format("leader {} proposes [{}] instead of [{}] {} ms after its election",
                                        view.broker, fmt::join(fact.to, ","), fmt::join(fact.from, ","),
                                        (now_ - view.role_taken) / milliseconds(1)));
    }
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

}  // namespace highwater::sim
