// Reads: a follower's fetch (which also tells the leader where it stands), a consumer's, and ListOffsets.
#include <utility>

#include "base/assert.h"
#include "node/replica/state.h"
#include "wire/record_batch.h"

namespace highwater::node {

using wire::ErrorCode;

namespace {

// ListOffsets: special timestamps and replica ids.
constexpr std::int64_t kLatestTimestamp = -1;
constexpr std::int64_t kEarliestTimestamp = -2;
constexpr BrokerId kConsumerReplica = -1;
constexpr BrokerId kDebuggingReplica = -2;

}  // namespace

/// NONE if the request names no epoch.
ErrorCode Partition::State::check_leader_epoch(LeaderEpoch requested) const {
    if (requested == kNoEpoch || requested == leader_epoch) return ErrorCode::None;
    return requested < leader_epoch ? ErrorCode::FencedLeaderEpoch : ErrorCode::UnknownLeaderEpoch;
}

/// Fills in the records of [from, limit) and says where the log stood. False: `answer` tells the error.
bool Partition::State::read_into(FetchAnswer& answer, Offset from, Offset limit, std::size_t max_bytes) {
    if (from < log->log_start_offset() || from > log->log_end_offset()) {
        answer.error = ErrorCode::OffsetOutOfRange;
        return false;
    }
    if (from < limit && max_bytes > 0) {
        Result<Bytes> records = log->read(from, limit, max_bytes);
        if (!records) {
            go_offline(records.error());
            answer.error = ErrorCode::KafkaStorageError;
            return false;
        }
        answer.records = std::move(*records);
    }
    answer.high_watermark = high_watermark;
    answer.log_start_offset = log->log_start_offset();
    return true;
}

/// True if the follower's log is not a prefix of this one, or nothing is known of its last epoch: `answer`
/// says so. What it holds at its end is not this log: its offset says nothing about where it stands, so it
/// counts neither for the ISR nor for the high watermark.
bool Partition::State::answers_divergence(FetchAnswer& answer, const FollowerFetch& fetch,
                                          Offset log_end) const {
    if (fetch.last_fetched_epoch == kNoEpoch) return false;
    const auto known = log->epochs().end_offset_for(fetch.last_fetched_epoch, log_end);
    if (!known || fetch.fetch_offset < log->log_start_offset()) {
        answer.error = ErrorCode::OffsetOutOfRange;
        return true;
    }
    if (known->epoch >= fetch.last_fetched_epoch && known->offset >= fetch.fetch_offset) return false;
    answer.diverging = *known;
    answer.high_watermark = high_watermark;
    answer.log_start_offset = log->log_start_offset();
    return true;
}

FetchAnswer Partition::fetch_for_follower(Instant now, const FollowerFetch& fetch, bool update_state) {
    State& s = *state_;
    FetchAnswer answer;
    if (s.offline) {
        answer.error = ErrorCode::KafkaStorageError;
    } else if (const ErrorCode fenced = s.check_leader_epoch(fetch.current_leader_epoch);
               fenced != ErrorCode::None) {
        answer.error = fenced;
    } else if (s.role != Role::Leader) {
        answer.error = ErrorCode::NotLeaderOrFollower;
    } else if (!s.remotes.contains(fetch.replica)) {
        // With an epoch both sides agree on, one of them has not seen the newest assignment: try again.
        answer.error = fetch.current_leader_epoch == kNoEpoch ? ErrorCode::NotLeaderOrFollower
                                                              : ErrorCode::UnknownLeaderEpoch;
    }
    if (answer.error != ErrorCode::None) return answer;

    const Offset log_end = s.log->log_end_offset();
    FetchAnswer diverging;
    if (s.answers_divergence(diverging, fetch, log_end) && !s.acts(Bug::NoDivergeCheck, true)) {
        const bool fresh =
            update_state && diverging.diverging && !s.is_stale(fetch.replica, fetch.broker_epoch);
        if (s.acts(Bug::DivergeUpdatesLeo, fresh)) s.record_fetch(now, fetch, log_end);
        s.check_invariants();
        return diverging;
    }
    if (s.is_stale(fetch.replica, fetch.broker_epoch)) {
        answer.error = ErrorCode::NotLeaderOrFollower;
        return answer;
    }
    if (s.read_into(answer, fetch.fetch_offset, log_end, fetch.max_bytes) && update_state) {
        s.record_fetch(now, fetch, log_end);
    }
    s.check_invariants();
    return answer;
}

FetchAnswer Partition::fetch_for_consumer(Instant /*now*/, const ConsumerFetch& fetch) {
    State& s = *state_;
    FetchAnswer answer;
    if (s.offline) {
        answer.error = ErrorCode::KafkaStorageError;
    } else if (const ErrorCode fenced = s.check_leader_epoch(fetch.current_leader_epoch);
               fenced != ErrorCode::None) {
        answer.error = fenced;
    } else if (s.role == Role::None) {
        answer.error = ErrorCode::NotLeaderOrFollower;
    }
    if (answer.error != ErrorCode::None) return answer;

    const Offset limit = s.settings.bugs.has(Bug::ServeAboveHw) ? s.log->log_end_offset() : s.high_watermark;
    if (!s.read_into(answer, fetch.fetch_offset, limit, fetch.max_bytes) || answer.records.empty())
        return answer;
    const auto batches = wire::split_batches(answer.records);
    HW_ASSERT(batches && !batches->empty(), "the log gave out broken batches from {}", fetch.fetch_offset);
    const Offset end = batches->back().header.next_offset();
    if (end > s.high_watermark) {
        s.tell_bug(Bug::ServeAboveHw);
        s.broken("FetchAboveHw", fmt::format("served up to {} at high watermark {}", end, s.high_watermark));
    }
    s.emit(Served{.role = s.role,
                  .epoch = s.leader_epoch,
                  .from = fetch.fetch_offset,
                  .end = end,
                  .high_watermark = s.high_watermark});
    s.check_invariants();
    return answer;
}

Partition::ListedOffset Partition::list_offset(std::int64_t timestamp, BrokerId replica_id,
                                               LeaderEpoch current_leader_epoch) const {
    const State& s = *state_;
    if (s.offline) return {.error = ErrorCode::KafkaStorageError};
    if (const ErrorCode fenced = s.check_leader_epoch(current_leader_epoch); fenced != ErrorCode::None) {
        return {.error = fenced};
    }
    const bool any_role = replica_id == kDebuggingReplica && s.role != Role::None;
    if (s.role != Role::Leader && !any_role) return {.error = ErrorCode::NotLeaderOrFollower};

    if (timestamp == kEarliestTimestamp) {
        const Offset start = s.log->log_start_offset();
        const std::vector<EpochEntry>& epochs = s.log->epochs().entries();
        const bool known = !epochs.empty() && epochs.front().start_offset <= start;
        return {.offset = start, .leader_epoch = known ? epochs.front().epoch : kNoEpoch};
    }
    if (timestamp != kLatestTimestamp) return {.error = ErrorCode::InvalidRequest};
    if (replica_id != kConsumerReplica)
        return {.offset = s.log->log_end_offset(), .leader_epoch = s.leader_epoch};
    // The predecessor may have served more than this leader knows to be committed yet: an answer now could go
    // back.
    if (s.role == Role::Leader && s.high_watermark < s.epoch_start)
        return {.error = ErrorCode::OffsetNotAvailable};
    return {.offset = s.high_watermark, .leader_epoch = s.leader_epoch};
}

}  // namespace highwater::node
