// What a log knows of idempotent producers (Kafka: ProducerStateManager): the epoch of each and its last five
// batches, so that a batch sent twice is appended once and one that skips another is refused.
//   check    a leader's question before it appends: refused, appended before, or neither
//   note     a batch was appended, as leader or follower
// It is rebuilt from the batches of the log; a snapshot (Kafka's `<offset>.snapshot` files) shortens that.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "wire/error_code.h"
#include "wire/record_batch.h"

namespace highwater::node {

inline constexpr std::int32_t kNoSequence = -1;
/// Kafka's ProducerStateEntry.NUM_BATCHES_TO_RETAIN: as many as an idempotent client may have in flight.
inline constexpr std::size_t kProducerBatchesKept = 5;

/// The sequence `by` records after `sequence`; after 2^31-1 comes 0.
std::int32_t advance_sequence(std::int32_t sequence, std::int32_t by);

struct ProducerBatch {
    std::int32_t first_sequence = kNoSequence;
    std::int32_t last_sequence = kNoSequence;
    Offset first_offset = kUnknownOffset;
    Offset last_offset = kUnknownOffset;
    /// The batch's max timestamp, ms.
    std::int64_t timestamp = -1;
    friend bool operator==(const ProducerBatch&, const ProducerBatch&) = default;
};

struct ProducerState {
    /// -1: nothing is known yet.
    std::int16_t epoch = -1;
    /// Newest last, at most kProducerBatchesKept. Empty after a new epoch came without records.
    std::vector<ProducerBatch> batches;
    std::int64_t last_timestamp = -1;

    [[nodiscard]] std::int32_t last_sequence() const {
        return batches.empty() ? kNoSequence : batches.back().last_sequence;
    }
    friend bool operator==(const ProducerState&, const ProducerState&) = default;
};

/// What append_as_leader must do with batches; neither field set: append them.
struct ProducerVerdict {
    /// OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH or, for a batch without a sequence,
    /// INVALID_RECORD.
    wire::ErrorCode error = wire::ErrorCode::None;
    /// Why, naming producer, sequence and epoch; empty without an error.
    std::string reason;
    /// Appended before, there.
    std::optional<ProducerBatch> duplicate;
};

class ProducerStates {
public:
    /// Looks at every batch with a producer id, each in the light of those before it. A duplicate of one of
    /// the last five batches is told before anything else, as Kafka does.
    [[nodiscard]] ProducerVerdict check(const std::vector<wire::BatchView>& batches) const;
    /// Without judging: what lies in the log was accepted once. Batches without a producer id are ignored.
    void note(const wire::BatchHeader& batch);
    /// Forgets producers whose last batch is more than `expiration` older than `now_ms`
    /// (producer.id.expiration.ms).
    void expire(std::int64_t now_ms, Duration expiration);
    void clear() { producers_.clear(); }

    [[nodiscard]] const ProducerState* find(ProducerId id) const;
    [[nodiscard]] const std::map<ProducerId, ProducerState>& all() const { return producers_; }

private:
    std::map<ProducerId, ProducerState> producers_;
};

/// Kafka's snapshot file, version 1, CRC-32C from byte 6 on. Only the last batch of each producer is in it.
Bytes format_producer_snapshot(const ProducerStates& states);
/// Errors name the file: another version, CRC, a torn or overlong file.
Result<ProducerStates> parse_producer_snapshot(BytesView bytes, const std::string& file_name);

}  // namespace highwater::node
