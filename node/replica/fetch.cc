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
    if (fetch.last_fetched_epoch != kNoEpoch) {
        const auto known = s.log->epochs().end_offset_for(fetch.last_fetched_epoch, log_end);
        if (!known || fetch.fetch_offset < s.log->log_start_offset()) {
            answer.error = ErrorCode::OffsetOutOfRange;
            return answer;
        }
        if (known->epoch < fetch.last_fetched_epoch || known->offset < fetch.fetch_offset) {
            // What it holds at its end is not this log: its offset says nothing about where it stands, so it
            // counts neither for the ISR nor for the high watermark.
            answer.diverging = *known;
            answer.high_watermark = s.high_watermark;
            answer.log_start_offset = s.log->log_start_offset();
            return answer;
        }
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
    s.emit(Served{.role = s.role,
                  .epoch = s.leader_epoch,
                  .from = fetch.fetch_offset,
                  .end = batches->back().header.next_offset(),
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
