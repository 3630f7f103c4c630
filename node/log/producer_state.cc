#include "node/log/producer_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "base/crc32c.h"

namespace highwater::node {
namespace {

constexpr std::int32_t kLastSequence = std::numeric_limits<std::int32_t>::max();
constexpr std::int16_t kSnapshotVersion = 1;
/// Version and CRC, which the CRC does not cover.
constexpr std::size_t kSnapshotPrefix = 6;

std::int32_t last_sequence_of(const wire::BatchHeader& batch) {
    return advance_sequence(batch.base_sequence, batch.last_offset_delta);
}

const ProducerBatch* find_duplicate(const ProducerState& state, const wire::BatchHeader& batch) {
    if (state.epoch != batch.producer_epoch) return nullptr;
    const auto same =
        std::find_if(state.batches.begin(), state.batches.end(), [&](const ProducerBatch& held) {
            return held.first_sequence == batch.base_sequence &&
                   held.last_sequence == last_sequence_of(batch);
        });
    return same == state.batches.end() ? nullptr : &*same;
}

/// Kafka's ProducerAppendInfo.maybeValidateDataBatch for a batch of a client.
ProducerVerdict check_one(const ProducerState* state, const wire::BatchHeader& batch) {
    const std::int16_t known = state == nullptr ? std::int16_t{-1} : state->epoch;
    if (batch.producer_epoch < 0 || batch.base_sequence < 0) {
        return {.error = wire::ErrorCode::InvalidRecord,
                .reason = fmt::format("producer {}: epoch {}, sequence {}", batch.producer_id,
                                      batch.producer_epoch, batch.base_sequence)};
    }
    if (batch.producer_epoch < known) {
        return {.error = wire::ErrorCode::InvalidProducerEpoch,
                .reason = fmt::format("producer {}: epoch {} is older than {}", batch.producer_id,
                                      batch.producer_epoch, known)};
    }
    // Of a producer that is unknown, be it new or forgotten, any sequence may be the next one.
    if (known == -1) return {};
    const std::int32_t expected = batch.producer_epoch == known && !state->batches.empty()
                                      ? advance_sequence(state->last_sequence(), 1)
                                      : 0;
    if (batch.base_sequence == expected) return {};
    return {.error = wire::ErrorCode::OutOfOrderSequenceNumber,
            .reason = fmt::format("producer {} epoch {}: sequence {}, expected {}", batch.producer_id,
                                  batch.producer_epoch, batch.base_sequence, expected)};
}

void note_in(ProducerState& state, const wire::BatchHeader& batch) {
    if (state.epoch != batch.producer_epoch) {
        state.epoch = batch.producer_epoch;
        state.batches.clear();
    }
    state.last_timestamp = batch.max_timestamp;
    // A transaction's end marker carries an epoch and no sequence.
    if (batch.control() || batch.base_sequence < 0) return;
    if (state.batches.size() == kProducerBatchesKept) state.batches.erase(state.batches.begin());
    state.batches.push_back({batch.base_sequence, last_sequence_of(batch), batch.base_offset,
                             batch.last_offset(), batch.max_timestamp});
}

}  // namespace

std::int32_t advance_sequence(std::int32_t sequence, std::int32_t by) {
    HW_ASSERT(by >= 0, "{}", by);
    if (sequence > kLastSequence - by) return by - (kLastSequence - sequence) - 1;
    return sequence + by;
}

ProducerVerdict ProducerStates::check(const std::vector<wire::BatchView>& batches) const {
    for (const wire::BatchView& batch : batches) {
        const ProducerState* state = find(batch.header.producer_id);
        if (batch.header.producer_id < 0 || state == nullptr) continue;
        if (const ProducerBatch* duplicate = find_duplicate(*state, batch.header)) {
            return {.duplicate = *duplicate};
        }
    }
    std::map<ProducerId, ProducerState> staged;
    for (const wire::BatchView& batch : batches) {
        const ProducerId id = batch.header.producer_id;
        if (id < 0) continue;
        auto state = staged.find(id);
        if (state == staged.end()) {
            const ProducerState* held = find(id);
            state = staged.emplace(id, held == nullptr ? ProducerState{} : *held).first;
        }
        if (ProducerVerdict verdict = check_one(&state->second, batch.header);
            verdict.error != wire::ErrorCode::None) {
            return verdict;
        }
        note_in(state->second, batch.header);
    }
    return {};
}

void ProducerStates::note(const wire::BatchHeader& batch) {
    if (batch.producer_id >= 0) note_in(producers_[batch.producer_id], batch);
}

void ProducerStates::expire(std::int64_t now_ms, Duration expiration) {
    const std::int64_t keep_from = now_ms - expiration / milliseconds(1);
    std::erase_if(producers_, [&](const auto& entry) { return entry.second.last_timestamp < keep_from; });
}

const ProducerState* ProducerStates::find(ProducerId id) const {
    const auto found = producers_.find(id);
    return found == producers_.end() ? nullptr : &found->second;
}

Bytes format_producer_snapshot(const ProducerStates& states) {
    ByteWriter out;
    out.i16(kSnapshotVersion);
    out.u32(0);
    out.i32(static_cast<std::int32_t>(states.all().size()));
    for (const auto& [id, state] : states.all()) {
        const ProducerBatch last = state.batches.empty() ? ProducerBatch{} : state.batches.back();
        out.i64(id);
        out.i16(state.epoch);
        out.i32(last.last_sequence);
        out.i64(last.last_offset);
        out.i32(static_cast<std::int32_t>(last.last_offset - last.first_offset));
        out.i64(state.last_timestamp);
        out.i32(-1);  // coordinator epoch and first offset of a transaction: there are none here
        out.i64(-1);
    }
    out.patch_u32(2, crc32c(BytesView(out.bytes()).subspan(kSnapshotPrefix)));
    return out.take();
}

Result<ProducerStates> parse_producer_snapshot(BytesView bytes, const std::string& file_name) {
    ByteReader in(bytes);
    const std::int16_t version = in.i16();
    const std::uint32_t crc = in.u32();
    if (!in.failed() && version != kSnapshotVersion)
        return failure(
            fmt::format("{}: snapshot version {}, expected {}", file_name, version, kSnapshotVersion));
    if (in.failed() || crc32c(bytes.subspan(kSnapshotPrefix)) != crc)
        return failure(file_name + ": the snapshot fails its CRC");
    ProducerStates states;
    const std::int32_t count = in.i32();
    for (std::int32_t i = 0; i < count && !in.failed(); ++i) {
        wire::BatchHeader last;
        last.producer_id = in.i64();
        last.producer_epoch = in.i16();
        const std::int32_t last_sequence = in.i32();
        const Offset last_offset = in.i64();
        last.last_offset_delta = in.i32();
        last.max_timestamp = in.i64();
        in.i32();
        in.i64();
        if (in.failed() || last.producer_id < 0 || last.last_offset_delta < 0) break;
        last.base_offset = last_offset - last.last_offset_delta;
        if (last_sequence >= 0) {
            const std::int64_t first = std::int64_t{last_sequence} - last.last_offset_delta;
            last.base_sequence =
                static_cast<std::int32_t>(first >= 0 ? first : first + std::int64_t{kLastSequence} + 1);
        }
        states.note(last);
    }
    if (!in.at_end() || static_cast<std::int64_t>(states.all().size()) != count)
        return failure(file_name + ": the snapshot's entries are malformed");
    return states;
}

}  // namespace highwater::node
