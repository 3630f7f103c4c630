// PartitionInvariants: states that are legal for a moment and must not last. A fault that could be the reason
// starts the time anew.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <variant>

#include "tests/sim/partition_invariants.h"

namespace highwater::sim {
namespace {

/// A caught-up replica that is about to join may hold the high watermark for replica.lag.time.max.ms.
constexpr Duration kStalled = kReplicaLag + milliseconds(2500);
/// Beyond lag + lag/2: a request that a fault swallowed times out, connects again and is answered.
constexpr Duration kLagging = milliseconds(6000);
constexpr Duration kPending = milliseconds(10000);

}  // namespace

Duration PartitionInvariants::lasting(Instant& since, bool bad) const {
    if (!bad) since = Instant::never();
    if (!bad || since == Instant::never()) {
        if (bad) since = now_;
        return Duration{0};
    }
    return now_ - since;
}

void PartitionInvariants::watch(Instant now) {
    now_ = now;
    const auto found = replicas.find(registration_.leader);
    if (found == replicas.end() || !is_current_leader(found->second) ||
        !inspector_.steps_freely(registration_.leader)) {
        stalled_since_ = lagging_since_ = pending_since_ = Instant::never();
        return;
    }
    const node::Partition& leader = *found->second.running;
    const bool reaches = inspector_.reaches_controller(registration_.leader);
    const std::vector<BrokerId> isr = leader.committed_isr();
    const std::vector<BrokerId> maximal = leader.maximal_isr();
    const Offset end = leader.log().log_end_offset();

    bool all_beyond = end > leader.high_watermark();
    bool lagging = false;
    for (const node::ReplicaProgress& replica : leader.replica_progress(now)) {
        if (contains(maximal, replica.id) && replica.log_end_offset <= leader.high_watermark())
            all_beyond = false;
        if (contains(isr, replica.id) && replica.log_end_offset != end &&
            replica.behind > kReplicaLag + kReplicaLag / 2) {
            lagging = true;
        }
    }
    const bool enough = static_cast<std::int32_t>(isr.size()) >= min_isr_;
    const bool stalled = enough && all_beyond && stalled_at_ == leader.high_watermark();
    stalled_at_ = leader.high_watermark();
    if (lasting(stalled_since_, stalled) > kStalled) {
        violated("HwStalled", fmt::format("leader {}: hw {} of {}, isr [{}] has more", registration_.leader,
                                          leader.high_watermark(), end, fmt::join(isr, ",")));
    }
    if (lasting(lagging_since_, lagging && reaches) > kLagging) {
        violated("LaggardInIsr", fmt::format("leader {}: isr [{}] has a member that does not catch up",
                                             registration_.leader, fmt::join(isr, ",")));
    }
    const bool pending = !std::holds_alternative<node::CommittedIsr>(leader.isr_state()) &&
                         pending_epoch_ == leader.partition_epoch();
    pending_epoch_ = leader.partition_epoch();
    if (lasting(pending_since_, pending && reaches) > kPending) {
        violated("PendingForever",
                 fmt::format("leader {}: isr [{}], maximal [{}], partition epoch {}", registration_.leader,
                             fmt::join(isr, ","), fmt::join(maximal, ","), leader.partition_epoch()));
    }
}

}  // namespace highwater::sim
