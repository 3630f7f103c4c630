// What must hold after every input, in every build, by the names that the field gives them. Violations are
// errors of this room: what clients, peers or the controller may send is answered or ignored before it gets
// here. A correct node traps; one with deliberate bugs tells the trace, once per name and role taken, and
// goes on, so that what the bug costs can be seen.
#include <algorithm>

#include "base/assert.h"
#include "node/replica/state.h"

namespace highwater::node {

void Partition::State::broken(std::string_view invariant, const std::string& detail) {
    HW_ASSERT(!settings.bugs.empty(), "{}: {}: {}", id.topic_partition().to_string(), invariant, detail);
    if (told_broken.insert(invariant).second) emit(InvariantBroken{invariant, detail});
}

void Partition::State::check_invariants() {
    if (offline) return;  // the log may be anything
    check_log();
    if (leader_epoch < checked_leader_epoch || partition_epoch < checked_partition_epoch) {
        broken("EpochMonotone",
               fmt::format("leader epoch {} after {}, partition epoch {} after {}", leader_epoch,
                           checked_leader_epoch, partition_epoch, checked_partition_epoch));
    }
    if (role == Role::Leader) {
        check_leader();
        check_isr_state();
        const bool same_term = checked_role == Role::Leader && checked_leader_epoch == leader_epoch;
        if (same_term && high_watermark < checked_high_watermark) {
            broken("LeaderHwMonotone", fmt::format("{} after {} in epoch {}", high_watermark,
                                                   checked_high_watermark, leader_epoch));
        }
    } else {
        check_follower();
    }
    checked_leader_epoch = leader_epoch;
    checked_partition_epoch = partition_epoch;
    checked_role = role;
    checked_high_watermark = high_watermark;
}

void Partition::State::check_log() {
    const Offset log_end = log->log_end_offset();
    if (high_watermark < log->log_start_offset() || high_watermark > log_end) {
        broken("HwLeLeo", fmt::format("log start {} high watermark {} log end {}", log->log_start_offset(),
                                      high_watermark, log_end));
    }
    const std::vector<EpochEntry>& epochs = log->epochs().entries();
    const auto rises = [](const EpochEntry& a, const EpochEntry& b) {
        return a.epoch < b.epoch && a.start_offset < b.start_offset;
    };
    const bool in_order =
        std::adjacent_find(epochs.begin(), epochs.end(), [&](const EpochEntry& a, const EpochEntry& b) {
            return !rises(a, b);
        }) == epochs.end();
    if (!in_order || (!epochs.empty() && epochs.back().start_offset > log_end)) {
        broken("EpochsInLogNondecreasing",
               fmt::format("latest entry {} at {}, log end {}", epochs.back().epoch,
                           epochs.back().start_offset, log_end));
    }
}

void Partition::State::check_leader() {
    const Offset log_end = log->log_end_offset();
    HW_ASSERT(leader == settings.self);
    HW_ASSERT(remotes.size() + 1 == replicas.size(), "{} remotes of {}", remotes.size(), to_string(replicas));
    if (!in_maximal_isr(settings.self))
        broken("LeaderInIsr", fmt::format("leader {} in [{}]", leader, to_string(maximal_isr())));
    if (log->epochs().latest_epoch() != leader_epoch || log->epochs().start_of(leader_epoch) != epoch_start ||
        epoch_start > log_end) {
        broken("EpochStartRecorded",
               fmt::format("epoch {} from {}, log end {}", leader_epoch, epoch_start, log_end));
    }
    for (const auto& [replica_id, remote] : remotes) {
        if (remote.log_end_offset <= log_end) continue;
        broken("FetchOffsetLeLeo",
               fmt::format("replica {} at {}, leader at {}", replica_id, remote.log_end_offset, log_end));
    }
    if (waiting.empty()) return;
    if (waiting.front().last_offset < high_watermark || waiting.back().last_offset >= log_end) {
        broken("WaitingAboveHw",
               fmt::format("produces wait for {} to {}, high watermark {} log end {}",
                           waiting.front().last_offset, waiting.back().last_offset, high_watermark, log_end));
    }
}

// The half of MaximalIsrSuperset that the leader knows: whatever it asked for and whatever is committed
// counts, and without a request nothing is pending.
void Partition::State::check_isr_state() {
    const bool pending = !std::holds_alternative<CommittedIsr>(isr_state);
    if (in_flight.has_value() != pending || (proposal_unsent && !pending)) {
        return broken("PendingForever",
                      pending ? "an ISR change is pending, but no request" : "a request for no change");
    }
    if (!in_flight) return;
    HW_ASSERT(in_flight->leader_epoch == leader_epoch && in_flight->partition_epoch == partition_epoch);
    const bool superset =
        std::all_of(in_flight->isr.begin(), in_flight->isr.end(),
                    [&](const AlterPartitionProposal::Member& member) { return in_maximal_isr(member.id); });
    if (!superset)
        broken("MaximalIsrSuperset",
               fmt::format("[{}] counts, less than was asked for", to_string(maximal_isr())));
}

void Partition::State::check_follower() {
    HW_ASSERT(leader != settings.self || role == Role::None);
    HW_ASSERT(remotes.empty() && !in_flight && !proposal_unsent);
    HW_ASSERT(committed_isr().empty() && std::holds_alternative<CommittedIsr>(isr_state));
    if (!waiting.empty()) {
        broken("WaitingAtFollower",
               fmt::format("{} produces of a former epoch wait at a follower", waiting.size()));
    }
}

// Only where it moves: a member that came back with less, whose loss this leader does not know yet, may be
// below it.
void Partition::State::check_high_watermark_moved() {
    if (role != Role::Leader) return;
    for (const auto& [replica_id, remote] : remotes) {
        if (!in_maximal_isr(replica_id) || remote.log_end_offset >= high_watermark) continue;
        broken("ValidHighWatermark",
               fmt::format("moved to {}, member {} of [{}] is at {}", high_watermark, replica_id,
                           to_string(maximal_isr()), remote.log_end_offset));
    }
}

void Partition::State::check_answered(const WaitingProduce& produce) {
    const std::vector<BrokerId> members = maximal_isr();
    if (high_watermark > produce.last_offset &&
        static_cast<std::int32_t>(members.size()) >= effective_min_isr())
        return;
    broken("AckQuorum",
           fmt::format("acknowledged up to {} at high watermark {} with [{}], min {}", produce.last_offset,
                       high_watermark, to_string(members), effective_min_isr()));
}

}  // namespace highwater::node
