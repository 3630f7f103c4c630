// Partition: construction, views, and what metadata makes of it: leader, follower or neither.
#include "node/replica/partition.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "node/replica/state.h"

namespace highwater::node {

bool contains(const std::vector<BrokerId>& members, BrokerId id) {
    return std::find(members.begin(), members.end(), id) != members.end();
}

std::string to_string(const std::vector<BrokerId>& members) {
    return fmt::format("{}", fmt::join(members, ","));
}

namespace {

bool same_members(std::vector<BrokerId> a, std::vector<BrokerId> b) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
}

}  // namespace

Partition::State::State(TopicIdPartition partition_id, PartitionSettings partition_settings,
                        std::unique_ptr<PartitionLog> partition_log, Offset checkpointed,
                        const ClusterView& view)
    : id(std::move(partition_id)),
      settings(partition_settings),
      log(std::move(partition_log)),
      cluster(view) {
    HW_ASSERT(log != nullptr);
    HW_ASSERT(settings.self != kNoBroker);
    high_watermark = std::clamp(checkpointed, log->log_start_offset(), log->log_end_offset());
}

Partition::Partition(TopicIdPartition id, PartitionSettings settings, std::unique_ptr<PartitionLog> log,
                     Offset high_watermark, const ClusterView& cluster)
    : state_(std::make_unique<State>(std::move(id), settings, std::move(log), high_watermark, cluster)) {
    state_->check_invariants();
}
Partition::~Partition() = default;

const TopicIdPartition& Partition::id() const { return state_->id; }
Role Partition::role() const { return state_->role; }
BrokerId Partition::leader() const { return state_->leader; }
LeaderEpoch Partition::leader_epoch() const { return state_->leader_epoch; }
PartitionEpoch Partition::partition_epoch() const { return state_->partition_epoch; }
Offset Partition::high_watermark() const { return state_->high_watermark; }
const PartitionLog& Partition::log() const { return *state_->log; }
const IsrState& Partition::isr_state() const { return state_->isr_state; }
std::vector<BrokerId> Partition::committed_isr() const { return state_->committed_isr(); }
std::vector<BrokerId> Partition::maximal_isr() const { return state_->maximal_isr(); }
std::int32_t Partition::effective_min_isr() const { return state_->effective_min_isr(); }
std::vector<ReplicaProgress> Partition::replica_progress(Instant now) const { return state_->progress(now); }
bool Partition::offline() const { return state_->offline; }
std::uint64_t Partition::revision() const { return state_->revision; }

std::vector<PartitionEvent> Partition::take_events() { return std::exchange(state_->events, {}); }
std::vector<FinishedProduce> Partition::take_finished() { return std::exchange(state_->finished, {}); }

Status Partition::flush() {
    Status flushed = state_->log->flush();
    if (!flushed) state_->go_offline(flushed.error());
    return flushed;
}

Status Partition::close() {
    if (state_->offline) return failure(state_->id.topic_partition().to_string() + " is offline");
    Status closed = state_->log->close();
    if (!closed) state_->go_offline(closed.error());
    return closed;
}

void Partition::go_offline(const Error& cause) { state_->go_offline(cause); }

void Partition::expire_producers(std::int64_t now_ms, Duration expiration) {
    state_->log->expire_producers(now_ms, expiration);
}

void Partition::apply_registration(Instant now, const PartitionRegistration& registration) {
    State& s = *state_;
    if (s.offline) return;
    const bool news = registration.partition_epoch > s.registered_epoch;
    if (news) {
        s.registered_epoch = registration.partition_epoch;
        s.emit(RegistrationArrived{.leader = registration.leader,
                                   .epoch = registration.leader_epoch,
                                   .partition_epoch = registration.partition_epoch,
                                   .isr = registration.isr});
    }
    if (registration.partition_epoch < s.partition_epoch) return;
    // The controller never lowers a leader epoch: such a registration is no successor of what was applied.
    if (registration.leader_epoch < s.leader_epoch) return;
    // A node that starts reads old registrations again. Leading in an epoch older than the log's would erase
    // the younger entries of its epoch table.
    const bool leads =
        contains(registration.replicas, s.settings.self) && registration.leader == s.settings.self;
    if (leads && registration.leader_epoch < s.log->epochs().latest_epoch().value_or(kNoEpoch)) return;
    if (registration.partition_epoch == s.partition_epoch) {
        // An AlterPartition answer told it already. A change proposed since then is in flight and may be
        // committed any moment: forgetting it here would let the high watermark pass a replica that the
        // controller counts.
        if (s.acts(Bug::MdEqualClears, news && leads && s.in_flight))
            s.commit_isr(registration.isr, registration.partition_epoch);
        s.maybe_advance_high_watermark(now);
    } else if (leads) {
        s.become_leader(now, registration);
    } else {
        s.become_follower(registration);
    }
    s.check_invariants();
}

void Partition::apply_settings(Instant now, std::int32_t min_insync_replicas) {
    HW_ASSERT(min_insync_replicas >= 1, "{}", min_insync_replicas);
    state_->settings.min_insync_replicas = min_insync_replicas;
    state_->maybe_advance_high_watermark(now);
    state_->check_invariants();
}

void Partition::cluster_changed(Instant now) {
    state_->maybe_advance_high_watermark(now);
    state_->check_invariants();
}

void Partition::State::become_leader(Instant now, const PartitionRegistration& registration) {
    const bool elected = role != Role::Leader || registration.leader_epoch > leader_epoch;
    if (elected) {
        // First of all, and flushed: followers are answered from this entry, and it must outlive whatever
        // they truncate because of it.
        Status assigned = log->assign_epoch(registration.leader_epoch, log->log_end_offset());
        if (!assigned) return go_offline(assigned.error());
        epoch_start = log->epochs().start_of(registration.leader_epoch).value_or(log->log_end_offset());
    }
    update_remotes(now, registration, elected);
    role = Role::Leader;
    leader = settings.self;
    leader_epoch = registration.leader_epoch;
    replicas = registration.replicas;
    if (elected) {
        isr_state = CommittedIsr{registration.isr};
        in_flight.reset();
        proposal_unsent = false;
        partition_epoch = registration.partition_epoch;
        ++revision;
        told_broken.clear();
        emit(RoleTaken{.role = role,
                       .leader = leader,
                       .epoch = leader_epoch,
                       .partition_epoch = partition_epoch,
                       .log_end_offset = log->log_end_offset(),
                       .high_watermark = high_watermark,
                       .epoch_start = epoch_start,
                       .epoch_table = log->epochs().entries(),
                       .isr = registration.isr});
    } else {
        commit_isr(registration.isr, registration.partition_epoch);
    }
    if (acts(Bug::HwLeoOnElect, elected && high_watermark < log->log_end_offset()))
        set_high_watermark(log->log_end_offset(), {});
    maybe_advance_high_watermark(now);
}

// What the replicas told earlier holds on only while nobody else can have led since: in the same epoch, or in
// the very next one. (After a larger step a follower may have truncated under another leader. Kafka keeps the
// offsets there too, as long as the registrations in between were never seen; forgetting them costs one
// fetch.)
void Partition::State::update_remotes(Instant now, const PartitionRegistration& registration, bool elected) {
    const bool keep = role == Role::Leader && registration.leader_epoch <= leader_epoch + 1;
    std::map<BrokerId, RemoteReplica> updated;
    for (const BrokerId replica : registration.replicas) {
        if (replica == settings.self) continue;
        RemoteReplica& remote = updated[replica];
        const auto known = remotes.find(replica);
        if (keep && known != remotes.end()) remote = known->second;
        if (!elected) continue;
        // Members get a full replica.lag.time.max.ms to show up; others must not hold the high watermark
        // back.
        const bool in_sync = contains(registration.isr, replica);
        remote.last_caught_up_at = in_sync ? std::optional(now) : std::nullopt;
        if (!keep) continue;
        remote.last_fetch_at = remote.last_caught_up_at;
        remote.leader_end_at_last_fetch = log->log_end_offset();
    }
    remotes = std::move(updated);
}

// Also for a replica that is assigned no longer (role None). The log and the high watermark stay as they are:
// what to cut is known only from the leader's answers.
void Partition::State::become_follower(const PartitionRegistration& registration) {
    const Role taken = contains(registration.replicas, settings.self) ? Role::Follower : Role::None;
    const bool new_epoch = registration.leader_epoch > leader_epoch;
    const bool changed = role != taken || new_epoch || leader != registration.leader;
    if (role == Role::Leader && !acts(Bug::PurgKeep, !waiting.empty()))
        fail_waiting(wire::ErrorCode::NotLeaderOrFollower);
    role = taken;
    leader = registration.leader;
    leader_epoch = registration.leader_epoch;
    partition_epoch = registration.partition_epoch;
    replicas = registration.replicas;
    epoch_start = kUnknownOffset;
    remotes.clear();
    isr_state = CommittedIsr{};
    in_flight.reset();
    proposal_unsent = false;
    if (!changed) return;
    following_confirmed = false;
    ++revision;
    told_broken.clear();
    emit(RoleTaken{.role = role,
                   .leader = leader,
                   .epoch = leader_epoch,
                   .partition_epoch = partition_epoch,
                   .log_end_offset = log->log_end_offset(),
                   .high_watermark = high_watermark,
                   .epoch_start = kUnknownOffset,
                   .epoch_table = log->epochs().entries(),
                   .isr = registration.isr});
    // Without epochs the leader cannot tell where the logs part.
    const bool without_epochs = !log->epochs().latest_epoch();
    const bool could_cut = fetch_position() && high_watermark < log->log_end_offset();
    if ((could_cut && without_epochs) || acts(Bug::TruncToHw, could_cut)) {
        truncate(high_watermark, {.offset = high_watermark, .epoch = kNoEpoch});
    }
}

void Partition::State::commit_isr(std::vector<BrokerId> isr, PartitionEpoch epoch) {
    const bool changed = epoch != partition_epoch || !same_members(isr, committed_isr());
    isr_state = CommittedIsr{std::move(isr)};
    in_flight.reset();
    proposal_unsent = false;
    partition_epoch = epoch;
    if (!changed) return;
    emit(IsrCommitted{.epoch = leader_epoch, .partition_epoch = partition_epoch, .isr = committed_isr()});
}

void Partition::State::go_offline(const Error& cause) {
    if (offline) return;
    offline = true;
    ++revision;
    emit(WentOffline{cause.message});
    fail_waiting(wire::ErrorCode::KafkaStorageError);
    in_flight.reset();
    proposal_unsent = false;
}

void Partition::State::emit(PartitionFact fact) { events.push_back({id.topic_partition(), std::move(fact)}); }

bool Partition::State::acts(Bug bug, bool otherwise) {
    if (!otherwise || !settings.bugs.has(bug)) return false;
    tell_bug(bug);
    return true;
}

void Partition::State::tell_bug(Bug bug) { emit(bugs_acted.count(bug)); }

}  // namespace highwater::node
