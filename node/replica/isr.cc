// Who is in sync: followers caught up by their fetches, expiry, and the changes proposed to the controller.
// The leader never changes the ISR by itself: it proposes, and until the answer counts the larger of both
// sets.
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/assert.h"
#include "node/replica/state.h"

namespace highwater::node {

using wire::ErrorCode;

namespace {

// How AlterPartition's errors end a proposal; any other is asked again.
/// The change was not applied and never will be: back to the committed ISR.
constexpr std::array kNotApplied = {ErrorCode::IneligibleReplica, ErrorCode::OperationNotAttempted};
/// The controller is ahead of this leader. An earlier attempt may have been applied, so the change stays
/// pending until metadata tells.
constexpr std::array kWaitForMetadata = {ErrorCode::FencedLeaderEpoch, ErrorCode::InvalidUpdateVersion,
                                         ErrorCode::InvalidRequest,    ErrorCode::UnknownTopicOrPartition,
                                         ErrorCode::UnknownTopicId,    ErrorCode::NewLeaderElected};

bool is_one_of(ErrorCode error, std::span<const ErrorCode> errors) {
    return std::find(errors.begin(), errors.end(), error) != errors.end();
}

}  // namespace

const std::vector<BrokerId>& Partition::State::committed_isr() const {
    return std::visit([](const auto& state) -> const std::vector<BrokerId>& { return state.isr; }, isr_state);
}

bool Partition::State::in_maximal_isr(BrokerId replica) const {
    const auto* expand = std::get_if<PendingExpandIsr>(&isr_state);
    return contains(committed_isr(), replica) || (expand != nullptr && expand->joining == replica);
}

std::vector<BrokerId> Partition::State::maximal_isr() const {
    std::vector<BrokerId> members = committed_isr();
    if (const auto* expand = std::get_if<PendingExpandIsr>(&isr_state)) members.push_back(expand->joining);
    return members;
}

std::int32_t Partition::State::effective_min_isr() const {
    return std::min(settings.min_insync_replicas, static_cast<std::int32_t>(replicas.size()));
}

std::int32_t Partition::State::required_in_sync() {
    const std::int32_t required = effective_min_isr();
    return acts(Bug::IgnoreMinIsr, std::ssize(committed_isr()) < required) ? 1 : required;
}

bool Partition::State::under_min_isr() { return std::ssize(committed_isr()) < required_in_sync(); }

bool Partition::State::is_caught_up(const RemoteReplica& replica, Instant now) const {
    if (replica.log_end_offset == log->log_end_offset()) return true;
    return replica.last_caught_up_at && now - *replica.last_caught_up_at <= settings.replica_lag_time_max;
}

/// May it be in the ISR as far as metadata is concerned? Its fetch must come from the registered incarnation:
/// an older one may have lost what it fetched.
bool Partition::State::is_eligible(BrokerId replica_id, const RemoteReplica& replica) const {
    const std::optional<BrokerView> view = cluster.broker(replica_id);
    if (!view || view->fenced || view->shutting_down || !replica.broker_epoch) return false;
    return *replica.broker_epoch == kUnknownBrokerEpoch || *replica.broker_epoch == view->epoch;
}

bool Partition::State::is_stale(BrokerId replica_id, BrokerEpoch epoch) const {
    const std::optional<BrokerView> view = cluster.broker(replica_id);
    return epoch != kUnknownBrokerEpoch && view && epoch < view->epoch;
}

std::vector<ReplicaProgress> Partition::State::progress(Instant now) const {
    std::vector<ReplicaProgress> list;
    list.reserve(remotes.size());
    for (const auto& [replica_id, remote] : remotes) {
        const Duration behind = remote.last_caught_up_at ? now - *remote.last_caught_up_at : Duration::max();
        list.push_back({.id = replica_id, .log_end_offset = remote.log_end_offset, .behind = behind});
    }
    return list;
}

/// `leader_end`: the log end before this fetch was read, so that appends that follow do not keep a fast
/// follower out.
void Partition::State::record_fetch(Instant now, const FollowerFetch& fetch, Offset leader_end) {
    RemoteReplica& remote = remotes.at(fetch.replica);
    const Offset previous_end = remote.log_end_offset;
    if (fetch.fetch_offset >= leader_end) {
        remote.last_caught_up_at = std::max(remote.last_caught_up_at, std::optional(now));
    } else if (fetch.fetch_offset >= remote.leader_end_at_last_fetch) {
        // It has by now all that existed at its previous fetch, so it was caught up then.
        remote.last_caught_up_at = std::max(remote.last_caught_up_at, remote.last_fetch_at);
    }
    remote.log_end_offset = fetch.fetch_offset;
    remote.leader_end_at_last_fetch = std::max(remote.leader_end_at_last_fetch, leader_end);
    remote.last_fetch_at = now;
    remote.broker_epoch = fetch.broker_epoch;
    // Before the high watermark: a joiner counts from the moment it is proposed.
    maybe_expand_isr(fetch.replica, remote);
    if (remote.log_end_offset != previous_end) maybe_advance_high_watermark(now);
}

void Partition::State::maybe_expand_isr(BrokerId replica_id, const RemoteReplica& replica) {
    if (!std::holds_alternative<CommittedIsr>(isr_state) || contains(committed_isr(), replica_id)) return;
    if (!is_eligible(replica_id, replica)) return;
    // A new leader's high watermark may be older than what its predecessor committed; all of that lies below
    // the start of its own epoch.
    const bool reaches = replica.log_end_offset >= high_watermark;
    const bool reaches_epoch = replica.log_end_offset >= epoch_start;
    if (!(reaches && reaches_epoch) && !acts(Bug::ExpandNoLess, reaches) && !acts(Bug::ExpandNoCheck, true))
        return;
    std::vector<BrokerId> proposed = committed_isr();
    isr_state = PendingExpandIsr{.isr = proposed, .joining = replica_id};
    proposed.push_back(replica_id);
    propose(std::move(proposed), {});
}

void Partition::State::maybe_shrink_isr(Instant now) {
    const auto* committed = std::get_if<CommittedIsr>(&isr_state);
    if (committed == nullptr) return;
    std::vector<BrokerId> staying;
    std::vector<BrokerId> leaving;
    for (const BrokerId member : committed->isr) {
        const auto remote = remotes.find(member);
        const bool in_sync =
            member == settings.self || (remote != remotes.end() && is_caught_up(remote->second, now));
        (in_sync ? staying : leaving).push_back(member);
    }
    if (leaving.empty()) return;
    std::vector<ReplicaProgress> lagging = progress(now);
    std::erase_if(lagging, [&](const ReplicaProgress& replica) { return !contains(leaving, replica.id); });
    isr_state = PendingShrinkIsr{.isr = committed->isr, .leaving = std::move(leaving)};
    propose(std::move(staying), std::move(lagging));
}

void Partition::State::propose(std::vector<BrokerId> isr, std::vector<ReplicaProgress> lagging) {
    AlterPartitionProposal proposal{.leader_epoch = leader_epoch,
                                    .partition_epoch = partition_epoch,
                                    .isr = {},
                                    .recovery = LeaderRecoveryState::Recovered};
    for (const BrokerId member : isr) {
        BrokerEpoch epoch = kUnknownBrokerEpoch;
        if (member == settings.self) {
            if (const std::optional<BrokerView> view = cluster.broker(member)) epoch = view->epoch;
        } else if (const auto remote = remotes.find(member); remote != remotes.end()) {
            epoch = remote->second.broker_epoch.value_or(kUnknownBrokerEpoch);
        }
        proposal.isr.push_back({.id = member, .broker_epoch = epoch});
    }
    in_flight = std::move(proposal);
    proposal_unsent = true;
    emit(IsrProposed{.epoch = leader_epoch,
                     .partition_epoch = partition_epoch,
                     .from = committed_isr(),
                     .to = std::move(isr),
                     .lagging = std::move(lagging),
                     .log_end_offset = log->log_end_offset(),
                     .high_watermark = high_watermark});
}

/// The controller said that the proposal was not and will not be applied.
void Partition::State::roll_back_isr(Instant now) {
    isr_state = CommittedIsr{committed_isr()};
    in_flight.reset();
    proposal_unsent = false;
    // A joiner that was refused no longer holds the high watermark. Kafka asks again only when some log end
    // moves.
    maybe_advance_high_watermark(now);
}

void Partition::tick(Instant now) {
    State& s = *state_;
    if (s.role != Role::Leader || s.offline) return;
    s.maybe_shrink_isr(now);
    // A replica outside the ISR that held the high watermark may have stopped being caught up. Kafka asks
    // again only when some log end moves.
    s.maybe_advance_high_watermark(now);
    s.check_invariants();
}

std::optional<AlterPartitionProposal> Partition::take_proposal() {
    if (!std::exchange(state_->proposal_unsent, false)) return std::nullopt;
    return state_->in_flight;
}

void Partition::retry_proposal() { state_->proposal_unsent = state_->in_flight.has_value(); }

void Partition::apply_alter_partition_answer(Instant now, const AlterPartitionProposal& asked,
                                             const AlterPartitionAnswer& answer) {
    State& s = *state_;
    // Metadata overtook the answer, or the role is gone: what was asked does not matter any more.
    if (!s.in_flight || asked != *s.in_flight) return;
    if (answer.error == ErrorCode::None) {
        // Not of this leadership, or older than what metadata told: stay pending until metadata decides.
        if (answer.leader_epoch != s.leader_epoch || answer.partition_epoch < s.partition_epoch) return;
        s.commit_isr(answer.isr, answer.partition_epoch);
        s.maybe_advance_high_watermark(now);
    } else if (is_one_of(answer.error, kNotApplied)) {
        s.roll_back_isr(now);
    } else if (!is_one_of(answer.error, kWaitForMetadata)) {
        s.proposal_unsent = true;
    }
    s.check_invariants();
}

}  // namespace highwater::node
