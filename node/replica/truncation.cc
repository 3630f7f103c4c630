// The follower's side of a fetch: where it stands, cutting its log where the leader says they part,
// appending.
#include <algorithm>
#include <utility>

#include "node/replica/state.h"
#include "wire/record_batch.h"

namespace highwater::node {

std::optional<FetchPosition> Partition::State::fetch_position() const {
    if (role != Role::Follower || leader == kNoBroker || offline) return std::nullopt;
    return FetchPosition{.leader = leader,
                         .leader_epoch = leader_epoch,
                         .fetch_offset = log->log_end_offset(),
                         .last_fetched_epoch = log->epochs().latest_epoch().value_or(kNoEpoch),
                         .log_start_offset = log->log_start_offset()};
}

std::optional<FetchPosition> Partition::fetch_position() const { return state_->fetch_position(); }

bool Partition::apply_fetch_response(Instant /*now*/, const FetchPosition& asked, const FetchAnswer& answer) {
    State& s = *state_;
    // An answer to an earlier epoch or place tells nothing about the log as it is now.
    if (s.fetch_position() != asked) return true;
    if (answer.error != wire::ErrorCode::None) return false;
    // The high watermark of such an answer is not for this log: it comes again once the logs agree.
    if (answer.diverging) return s.apply_divergence(asked, *answer.diverging);
    if (!s.append_fetched(asked, answer.records)) return false;
    s.follow_high_watermark(answer.high_watermark);
    if (!std::exchange(s.following_confirmed, true)) {
        s.emit(FollowingConfirmed{.epoch = s.leader_epoch,
                                  .leader = s.leader,
                                  .log_end_offset = s.log->log_end_offset(),
                                  .high_watermark = s.high_watermark});
    }
    s.check_invariants();
    return true;
}

/// False if nothing was cut: the leader would answer the same again.
bool Partition::State::apply_divergence(const FetchPosition& asked, const OffsetAndEpoch& diverging) {
    if (acts(Bug::NoTrunc, true)) return false;
    truncate(truncation_offset(diverging), diverging);
    check_invariants();
    const std::optional<FetchPosition> position = fetch_position();
    return position && *position != asked;
}

/// The leader has epochs up to diverging.epoch in common with what was asked, ending at diverging.offset.
Offset Partition::State::truncation_offset(const OffsetAndEpoch& diverging) {
    const Offset log_end = log->log_end_offset();
    const auto local = log->epochs().end_offset_for(diverging.epoch, log_end);
    if (!local) return std::min(diverging.offset, log_end);
    // Without that epoch here nothing is known yet about where the logs part: cut what is certainly foreign,
    // ask again.
    const Offset one_round = std::min(diverging.offset, log_end);
    if (local->epoch != diverging.epoch) {
        const Offset certain = std::min(local->offset, log_end);
        return acts(Bug::Kip101Only, one_round != certain) ? one_round : certain;
    }
    return std::min({local->offset, diverging.offset, log_end});
}

// Calls truncate_to() even if the log needs no cut: an epoch entry without records must go too, or the next
// question would be the same again.
void Partition::State::truncate(Offset to, const OffsetAndEpoch& diverging) {
    const Offset from = log->log_end_offset();
    const bool stray_entry =
        !log->epochs().entries().empty() && log->epochs().entries().back().start_offset >= to;
    if (acts(Bug::EcNoTrunc, to >= from && stray_entry)) return;
    Status cut = log->truncate_to(to);
    // Else a power loss could bring back what was cut here, below a high watermark that was reached with
    // other records and checkpointed since: consumers would be served records that never were committed.
    // (Kafka leaves this to the OS.)
    if (cut && log->log_end_offset() < from) cut = log->flush();
    if (!cut) return go_offline(cut.error());
    ++revision;
    emit(Truncated{.epoch = leader_epoch,
                   .leader = leader,
                   .from = from,
                   .to = log->log_end_offset(),
                   .diverging = diverging});
    if (high_watermark > log->log_end_offset()) set_high_watermark(log->log_end_offset(), {});
}

/// Appends the whole batches of `records`. False if nothing of the answer may be used: broken records, ones
/// that do not start at the log's end, or a disk that failed.
bool Partition::State::append_fetched(const FetchPosition& asked, const Bytes& records) {
    const Result<std::vector<wire::BatchView>> batches = wire::split_batches(records);
    if (!batches) return false;
    std::size_t accepted = 0;
    Offset expected = log->log_end_offset();
    for (const wire::BatchView& batch : *batches) {
        // Appended after the leader moved on to an epoch that this replica does not know: it may not follow
        // that leader's log here. This one and all after it come again.
        if (batch.header.leader_epoch > asked.leader_epoch) break;
        const bool follows =
            accepted == 0 ? batch.header.base_offset == expected : batch.header.base_offset >= expected;
        if (!follows || !wire::validate_batch(batch.bytes)) return false;
        expected = batch.header.next_offset();
        accepted += batch.bytes.size();
    }
    if (accepted == 0) return true;
    const Result<AppendInfo> appended = log->append_as_follower(BytesView(records).first(accepted));
    if (!appended) {
        go_offline(appended.error());
        return false;
    }
    ++revision;
    emit(Appended{.epoch = leader_epoch,
                  .first_offset = appended->first_offset,
                  .log_end_offset = log->log_end_offset(),
                  .acks = std::nullopt,
                  .isr = {},
                  .effective_min_isr = 0});
    return true;
}

}  // namespace highwater::node
