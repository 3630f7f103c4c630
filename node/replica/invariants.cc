// What must hold after every input, in every build. Violations are errors of this room: what clients, peers
// or the controller may send is answered or ignored before it gets here.
#include <algorithm>

#include "base/assert.h"
#include "node/replica/state.h"

namespace highwater::node {

void Partition::State::check_invariants() {
    if (offline) return;  // the log may be anything
    HW_ASSERT(log->log_start_offset() <= high_watermark && high_watermark <= log->log_end_offset(),
              "{}: log start {} high watermark {} log end {}", id.topic_partition().to_string(),
              log->log_start_offset(), high_watermark, log->log_end_offset());
    HW_ASSERT(leader_epoch >= checked_leader_epoch, "{} after {}", leader_epoch, checked_leader_epoch);
    HW_ASSERT(partition_epoch >= checked_partition_epoch, "{} after {}", partition_epoch,
              checked_partition_epoch);
    if (role == Role::Leader) {
        check_leader();
        const bool same_term = checked_role == Role::Leader && checked_leader_epoch == leader_epoch;
        HW_ASSERT(!same_term || high_watermark >= checked_high_watermark,
                  "epoch {}: high watermark {} after {}", leader_epoch, high_watermark,
                  checked_high_watermark);
    } else {
        check_follower();
    }
    checked_leader_epoch = leader_epoch;
    checked_partition_epoch = partition_epoch;
    checked_role = role;
    checked_high_watermark = high_watermark;
}

void Partition::State::check_leader() const {
    const Offset log_end = log->log_end_offset();
    HW_ASSERT(leader == settings.self);
    HW_ASSERT(in_maximal_isr(settings.self), "leader {} is not in its ISR {}", leader,
              to_string(maximal_isr()));
    HW_ASSERT(log->epochs().latest_epoch() == leader_epoch, "epoch {} was not recorded", leader_epoch);
    HW_ASSERT(log->epochs().start_of(leader_epoch) == epoch_start && epoch_start <= log_end);
    HW_ASSERT(remotes.size() + 1 == replicas.size(), "{} remotes of {}", remotes.size(), to_string(replicas));
    for (const auto& [replica_id, remote] : remotes) {
        HW_ASSERT(remote.log_end_offset <= log_end, "replica {} at {}, leader at {}", replica_id,
                  remote.log_end_offset, log_end);
    }
    const bool pending = !std::holds_alternative<CommittedIsr>(isr_state);
    HW_ASSERT(in_flight.has_value() == pending);
    HW_ASSERT(pending || !proposal_unsent);
    if (in_flight) {
        HW_ASSERT(in_flight->leader_epoch == leader_epoch && in_flight->partition_epoch == partition_epoch);
        HW_ASSERT(std::any_of(in_flight->isr.begin(), in_flight->isr.end(),
                              [&](const auto& member) { return member.id == settings.self; }));
    }
    if (!waiting.empty()) {
        HW_ASSERT(waiting.front().last_offset >= high_watermark, "produce up to {} not answered at {}",
                  waiting.front().last_offset, high_watermark);
        HW_ASSERT(waiting.back().last_offset < log_end);
    }
}

void Partition::State::check_follower() const {
    HW_ASSERT(leader != settings.self || role == Role::None);
    HW_ASSERT(remotes.empty() && waiting.empty() && !in_flight && !proposal_unsent);
    HW_ASSERT(committed_isr().empty() && std::holds_alternative<CommittedIsr>(isr_state));
}

}  // namespace highwater::node
