// The high watermark: the offset below which every in-sync replica has the log. The leader computes it,
// followers learn it from the leader's answers.
#include <algorithm>

#include "base/assert.h"
#include "node/replica/state.h"

namespace highwater::node {

// The minimum over the leader, the maximal ISR, and those who are about to join: a caught-up eligible replica
// outside the ISR would otherwise never reach a high watermark that runs ahead of it. Frozen while the ISR is
// too small.
void Partition::State::maybe_advance_high_watermark(Instant now) {
    if (role != Role::Leader || offline || under_min_isr()) return;
    Offset reached = log->log_end_offset();
    for (const auto& [replica_id, remote] : remotes) {
        if (remote.log_end_offset >= reached) continue;
        const bool about_to_join = is_caught_up(remote, now) && is_eligible(replica_id, remote);
        if (in_maximal_isr(replica_id) || about_to_join) reached = remote.log_end_offset;
    }
    if (reached <= high_watermark) return;  // never backwards on the leader
    HighWatermarkMoved fact;
    fact.isr = committed_isr();
    if (const auto* expand = std::get_if<PendingExpandIsr>(&isr_state)) fact.pending_add = expand->joining;
    fact.replicas = progress(now);
    fact.effective_min_isr = effective_min_isr();
    set_high_watermark(reached, std::move(fact));
    complete_waiting();
}

// May fall: a new leader's high watermark can be older than what this replica learnt from its predecessor.
void Partition::State::follow_high_watermark(Offset leaders) {
    const Offset clamped = std::clamp(leaders, log->log_start_offset(), log->log_end_offset());
    if (clamped != high_watermark) set_high_watermark(clamped, {});
}

void Partition::State::set_high_watermark(Offset to, HighWatermarkMoved fact) {
    fact.role = role;
    fact.epoch = leader_epoch;
    fact.from = high_watermark;
    fact.to = to;
    fact.log_end_offset = log->log_end_offset();
    high_watermark = to;
    ++revision;
    emit(std::move(fact));
}

}  // namespace highwater::node
