// The high watermark: the offset below which every in-sync replica has the log. The leader computes it,
// followers learn it from the leader's answers.
#include <algorithm>

#include "base/assert.h"
#include "node/replica/state.h"

namespace highwater::node {

// The minimum over the leader, the maximal ISR, and those who are about to join: a caught-up eligible replica
// outside the ISR would otherwise never reach a high watermark that runs ahead of it.
Offset Partition::State::least_log_end(Instant now) const {
    Offset least = log->log_end_offset();
    for (const auto& [replica_id, remote] : remotes) {
        if (remote.log_end_offset >= least) continue;
        const bool about_to_join = is_caught_up(remote, now) && is_eligible(replica_id, remote);
        if (in_maximal_isr(replica_id) || about_to_join) least = remote.log_end_offset;
    }
    return least;
}

// Frozen while the ISR is too small.
void Partition::State::maybe_advance_high_watermark(Instant now) {
    if (role != Role::Leader || offline) return;
    Offset reached = least_log_end(now);
    if (under_min_isr() && !acts(Bug::HwUnderMinIsr, reached > high_watermark)) return;
    if (!settings.bugs.empty()) reached = with_bugs(reached, now);
    if (reached <= high_watermark) return;  // never backwards on the leader
    HighWatermarkMoved fact;
    fact.isr = committed_isr();
    if (const auto* expand = std::get_if<PendingExpandIsr>(&isr_state)) fact.pending_add = expand->joining;
    fact.replicas = progress(now);
    fact.effective_min_isr = effective_min_isr();
    set_high_watermark(reached, std::move(fact));
    complete_waiting();
}

// The deliberate bugs that misjudge who has the log.
Offset Partition::State::with_bugs(Offset reached, Instant now) {
    const Offset log_end = log->log_end_offset();
    const auto misjudge = [&](Bug bug, Offset wrong) {
        if (acts(bug, wrong > std::max(reached, high_watermark))) reached = wrong;
    };
    misjudge(Bug::HwLeo, log_end);

    std::optional<Offset> fastest;
    for (const auto& [replica_id, remote] : remotes) {
        if (in_maximal_isr(replica_id)) fastest = std::max(fastest, std::optional(remote.log_end_offset));
    }
    misjudge(Bug::HwMax, fastest.value_or(log_end));

    const auto* shrink = std::get_if<PendingShrinkIsr>(&isr_state);
    const auto* expand = std::get_if<PendingExpandIsr>(&isr_state);
    Offset without_leaving = log_end;
    Offset without_joining = log_end;
    for (const auto& [replica_id, remote] : remotes) {
        const bool counts =
            in_maximal_isr(replica_id) || (is_caught_up(remote, now) && is_eligible(replica_id, remote));
        if (!counts) continue;
        if (shrink == nullptr || !contains(shrink->leaving, replica_id))
            without_leaving = std::min(without_leaving, remote.log_end_offset);
        if (expand == nullptr || expand->joining != replica_id)
            without_joining = std::min(without_joining, remote.log_end_offset);
    }
    misjudge(Bug::EagerShrink, without_leaving);
    misjudge(Bug::NoMaximalExpand, without_joining);
    return reached;
}

// May fall: a new leader's high watermark can be older than what this replica learnt from its predecessor.
void Partition::State::follow_high_watermark(Offset leaders) {
    const Offset clamped = std::clamp(leaders, log->log_start_offset(), log->log_end_offset());
    if (clamped == high_watermark) return;
    set_high_watermark(clamped, {});
    complete_waiting();
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
    check_high_watermark_moved();
}

}  // namespace highwater::node
