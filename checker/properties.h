// One function per property; each has a file of its own and its definition in docs/anomalies.md.
#pragma once

#include <map>
#include <string>

#include "checker/context.h"
#include "checker/findings.h"

namespace highwater::checker {

// What clients were told and saw.
/// lost-committed, lost-weak; reason unseen; evidence read_then_lost.
void check_lost_committed(const Context& context, Findings& findings);
void check_dirty_read(const Context& context, Findings& findings);
void check_inconsistent_offset(const Context& context, Findings& findings);
void check_phantom(const Context& context, Findings& findings);
void check_aborted_read(const Context& context, Findings& findings);
void check_duplicate(const Context& context, Findings& findings);
/// nonmonotonic-poll, poll-skip.
void check_poll_order(const Context& context, Findings& findings);
/// out-of-order-ack, read-from-future, stale-read.
void check_append_order(const Context& context, Findings& findings);

// What leaders knew and did.
void check_acked_not_visible(const Context& context, Findings& findings);
/// acked-below-min-isr, min-isr-not-refused, visible-under-min-isr.
void check_min_isr(const Context& context, Findings& findings);
/// acked-below-min-isr, by what leaders log and clients are told.
void check_min_isr_outside(const Context& context, Findings& findings);
void check_unclean_election(const Context& context, Findings& findings);
void check_hw_regression(const Context& context, Findings& findings);
void check_hw_above_isr(const Context& context, Findings& findings);
/// replica-divergence, by the final reads of replicas.
void check_replica_divergence(const Context& context, Findings& findings);
/// acked-outside-isr, by the controller's log and the replicas' files.
void check_acked_outside_isr(const Context& context, Findings& findings);
/// unexplained-truncation, follower-hw-above-leader, acked-outside-isr, and the invariants by their names.
void check_replica_rules(const Context& context, Findings& findings);
void check_eligible_leaders(const Context& context, Findings& findings);
/// Of each replica that is outside the controller's last ISR, where its log and the leader's part: "offset 20
/// of epoch 2 there, of epoch 1 at the leader". Nothing of those that only are behind, and nothing without a
/// trace.
std::map<BrokerId, std::string> log_partings(const Context& context, std::int32_t partition);
/// stuck, node-crashed; reason not-healed.
void check_stuck(const Context& context, Findings& findings);

// Whether the run proves anything.
/// Reasons topic-mismatch, bad-time, vacuous, final-read-incomplete, fault-not-effective; warnings of failed
/// faults.
void check_premises(const Context& context, Findings& findings);
void collect_evidence(const Context& context, Findings& findings);
/// Properties that could not be judged here: without a trace, or with one that was told from outside.
void list_unchecked(const Context& context, Findings& findings);

}  // namespace highwater::checker
