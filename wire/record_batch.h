// Record batches, format v2: what logs and the Produce and Fetch APIs are made of.
//   byte  0 base offset i64     8 length i32 (of what follows)  12 leader epoch i32  16 magic i8 = 2
//        17 CRC-32C u32        21 attributes i16                23 last offset delta i32
//        27 base timestamp i64 35 max timestamp i64             43 producer id i64
//        51 producer epoch i16 53 base sequence i32             57 count i32         61 records
// The CRC covers everything from byte 21 on, so a leader sets base offset and epoch without touching it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

namespace highwater::wire {

inline constexpr std::size_t kBatchHeaderSize = 61;
/// Base offset and length: what must be read to know where a batch ends.
inline constexpr std::size_t kBatchPrefixSize = 12;

enum class Compression : std::uint8_t { None = 0, Gzip = 1, Snappy = 2, Lz4 = 3, Zstd = 4 };

struct BatchHeader {
    Offset base_offset = 0;
    std::int32_t batch_length = 0;
    LeaderEpoch leader_epoch = kNoEpoch;
    std::int8_t magic = 2;
    std::uint32_t crc = 0;
    std::int16_t attributes = 0;
    std::int32_t last_offset_delta = 0;
    std::int64_t base_timestamp = -1;
    std::int64_t max_timestamp = -1;
    ProducerId producer_id = -1;
    std::int16_t producer_epoch = -1;
    std::int32_t base_sequence = -1;
    std::int32_t count = 0;

    [[nodiscard]] Offset last_offset() const { return base_offset + last_offset_delta; }
    [[nodiscard]] Offset next_offset() const { return last_offset() + 1; }
    /// Whole batch in bytes, prefix included.
    [[nodiscard]] std::size_t size() const {
        return kBatchPrefixSize + static_cast<std::size_t>(batch_length);
    }
    [[nodiscard]] Compression compression() const { return static_cast<Compression>(attributes & 0x07); }
    /// The broker's clock at the append stamped all records: their time is max_timestamp.
    [[nodiscard]] bool log_append_time() const { return (attributes & 0x08) != 0; }
    [[nodiscard]] bool transactional() const { return (attributes & 0x10) != 0; }
    [[nodiscard]] bool control() const { return (attributes & 0x20) != 0; }
};

struct RecordHeader {
    std::string key;
    std::optional<Bytes> value;
    friend bool operator==(const RecordHeader&, const RecordHeader&) = default;
};
struct Record {
    Offset offset = 0;
    std::int64_t timestamp = 0;
    std::optional<Bytes> key;
    std::optional<Bytes> value;
    std::vector<RecordHeader> headers;
    friend bool operator==(const Record&, const Record&) = default;
};

/// What a producer, leader or controller puts into one uncompressed batch.
struct BatchSpec {
    Offset base_offset = 0;
    LeaderEpoch leader_epoch = kNoEpoch;
    ProducerId producer_id = -1;
    std::int16_t producer_epoch = -1;
    std::int32_t base_sequence = -1;
    bool control = false;
    bool transactional = false;
    /// Offsets are base_offset + index; only timestamp, key, value and headers of each record are used.
    std::vector<Record> records;
};
/// At least one record.
Bytes encode_batch(const BatchSpec& spec);

/// The header of the batch at the beginning of `bytes`. Errors: fewer than 61 bytes, a length below the
/// header's, offsets below 0 or beyond what an Offset holds. Neither magic nor CRC is checked.
Result<BatchHeader> read_batch_header(BytesView bytes);
/// The whole batch `bytes` begins with: complete, magic 2, CRC, counts that agree. Errors say which.
Result<BatchHeader> validate_batch(BytesView bytes);

/// One batch within a longer byte string.
struct BatchView {
    BatchHeader header;
    BytesView bytes;
};
/// Splits complete batches; a partial one at the end is left out, as in Fetch responses. Errors: a malformed
/// header.
Result<std::vector<BatchView>> split_batches(BytesView bytes);

/// The records of one whole batch, validated first. Errors: what validate_batch says, compressed (the records
/// cannot be seen), a malformed record, offsets that do not grow within the batch's own range.
Result<std::vector<Record>> decode_records(BytesView batch);

/// Writes base offset and leader epoch into the batch that begins at `at`; the CRC stays valid.
void set_offset_and_epoch(Bytes& bytes, std::size_t at, Offset base_offset, LeaderEpoch epoch);

}  // namespace highwater::wire
