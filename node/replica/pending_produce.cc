// Produces at the leader: min.insync.replicas before the append, and acks=-1 waiting for the high watermark
// after it.
#include <algorithm>
#include <utility>

#include "node/replica/state.h"

namespace highwater::node {

using wire::ErrorCode;

std::optional<ErrorCode> produce_result(Offset required_offset, Offset high_watermark,
                                        std::size_t maximal_isr_size, std::int32_t effective_min_isr) {
    if (high_watermark < required_offset) return std::nullopt;
    const bool enough = static_cast<std::int32_t>(maximal_isr_size) >= effective_min_isr;
    return enough ? ErrorCode::None : ErrorCode::NotEnoughReplicasAfterAppend;
}

AppendOutcome Partition::append(Instant now, Bytes batches, std::int16_t acks) {
    State& s = *state_;
    if (acks < -1 || acks > 1) return {.error = ErrorCode::InvalidRequiredAcks};
    ErrorCode refused = ErrorCode::None;
    if (s.offline) {
        refused = ErrorCode::KafkaStorageError;
    } else if (s.role != Role::Leader) {
        refused = ErrorCode::NotLeaderOrFollower;
    } else if (acks == -1 && s.under_min_isr()) {
        refused = ErrorCode::NotEnoughReplicas;
    }
    if (refused != ErrorCode::None) {
        s.emit_answered(acks, refused, kUnknownOffset, kUnknownOffset);
        return {.error = refused};
    }
    const Result<AppendInfo> appended = s.log->append_as_leader(std::move(batches), s.leader_epoch);
    if (!appended) {
        s.go_offline(appended.error());
        s.emit_answered(acks, ErrorCode::KafkaStorageError, kUnknownOffset, kUnknownOffset);
        return {.error = ErrorCode::KafkaStorageError};
    }
    if (appended->error != ErrorCode::None) {
        s.emit_answered(acks, appended->error, kUnknownOffset, kUnknownOffset);
        return {.error = appended->error};
    }
    if (appended->duplicate) return s.answer_duplicate(*appended, acks);
    ++s.revision;
    s.emit(Appended{.epoch = s.leader_epoch,
                    .first_offset = appended->first_offset,
                    .log_end_offset = s.log->log_end_offset(),
                    .acks = acks,
                    .isr = s.committed_isr(),
                    .effective_min_isr = s.effective_min_isr()});
    AppendOutcome outcome{.base_offset = appended->first_offset};
    if (acks == -1) {
        outcome.waiting = s.next_ticket++;
        s.wait({*outcome.waiting, appended->first_offset, appended->last_offset});
    }
    s.maybe_advance_high_watermark(now);
    if (acks == 1) s.emit_answered(acks, ErrorCode::None, appended->first_offset, appended->last_offset);
    const bool waits = outcome.waiting && !s.waiting.empty() && s.waiting.back().ticket == *outcome.waiting;
    if (s.acts(Bug::AckOnAppend, waits)) {
        s.finish(s.waiting.back(), ErrorCode::None);
        s.waiting.pop_back();
    }
    s.check_invariants();
    return outcome;
}

/// Appended before: answered as it was then, for acks=-1 once it is committed.
AppendOutcome Partition::State::answer_duplicate(const AppendInfo& held, std::int16_t acks) {
    AppendOutcome outcome{.base_offset = held.first_offset};
    if (acks == -1) {
        outcome.waiting = next_ticket++;
        wait({*outcome.waiting, held.first_offset, held.last_offset});
        complete_waiting();
    } else {
        emit_answered(acks, ErrorCode::None, held.first_offset, held.last_offset);
    }
    return outcome;
}

bool Partition::abandon(ProduceTicket ticket) {
    State& s = *state_;
    const auto produce = std::find_if(s.waiting.begin(), s.waiting.end(),
                                      [&](const WaitingProduce& waits) { return waits.ticket == ticket; });
    if (produce == s.waiting.end()) return false;
    s.emit_answered(-1, ErrorCode::RequestTimedOut, produce->first_offset, produce->last_offset);
    s.waiting.erase(produce);
    return true;
}

void Partition::State::wait(const WaitingProduce& produce) {
    const auto later =
        std::upper_bound(waiting.begin(), waiting.end(), produce.last_offset,
                         [](Offset last, const WaitingProduce& other) { return last < other.last_offset; });
    waiting.insert(later, produce);
}

void Partition::State::complete_waiting() {
    while (!waiting.empty()) {
        // A follower knows no ISR; only a bug lets anything wait there.
        const std::size_t in_sync = role == Role::Leader ? maximal_isr().size() : replicas.size();
        const std::optional<ErrorCode> result =
            produce_result(waiting.front().last_offset + 1, high_watermark, in_sync, required_in_sync());
        if (!result) return;
        finish(waiting.front(), *result);
        waiting.pop_front();
    }
}

void Partition::State::fail_waiting(ErrorCode error) {
    for (const WaitingProduce& produce : waiting) finish(produce, error);
    waiting.clear();
}

void Partition::State::finish(const WaitingProduce& produce, ErrorCode error) {
    if (error == ErrorCode::None) check_answered(produce);
    finished.push_back({.ticket = produce.ticket, .error = error, .base_offset = produce.first_offset});
    emit_answered(-1, error, produce.first_offset, produce.last_offset);
}

void Partition::State::emit_answered(std::int16_t acks, ErrorCode error, Offset first, Offset last) {
    if (acks == 0) return;
    emit(ProduceAnswered{.epoch = leader_epoch,
                         .acks = acks,
                         .first_offset = first,
                         .last_offset = last,
                         .error = static_cast<std::int16_t>(error),
                         .high_watermark = high_watermark,
                         .isr = committed_isr(),
                         .maximal_isr = maximal_isr(),
                         .effective_min_isr = effective_min_isr()});
}

}  // namespace highwater::node
