// Goal: what encode_batch writes reads back; every kind of damage is refused with its own words; a leader's
// rewrite of offset and epoch keeps the CRC valid.
#include "wire/record_batch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/crc32c.h"
#include "base/rng.h"
#include "wire/control_record.h"

namespace highwater::wire {
namespace {

constexpr std::uint64_t kSeed = 7;
constexpr std::size_t kAttributesAt = 21;
constexpr std::size_t kDeltaAt = 23;
constexpr std::size_t kCountAt = 57;

Bytes bytes_of(std::string_view text) { return {as_bytes_view(text).begin(), as_bytes_view(text).end()}; }

Record record_of(std::string_view value, std::int64_t timestamp) {
    Record record;
    record.timestamp = timestamp;
    record.value = bytes_of(value);
    return record;
}

BatchSpec three_records() {
    BatchSpec spec;
    spec.base_offset = 100;
    spec.leader_epoch = 4;
    spec.producer_id = 9;
    spec.producer_epoch = 2;
    spec.base_sequence = 30;
    spec.records = {record_of("a", 5000), record_of("b", 4000), record_of("c", 7000)};
    spec.records[1].key = bytes_of("key");
    spec.records[1].headers = {{"h1", bytes_of("x")}, {"h2", std::nullopt}};
    spec.records[2].value = std::nullopt;
    return spec;
}

void patch(Bytes& bytes, std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::uint8_t>(value >> (24U - 8U * i));
}
void seal(Bytes& bytes) { patch(bytes, 17, crc32c(BytesView(bytes).subspan(kAttributesAt))); }

std::string refusal(const Bytes& bytes) {
    const auto header = validate_batch(bytes);
    return header ? "valid" : header.error().message;
}
std::string records_refusal(const Bytes& bytes) {
    const auto records = decode_records(bytes);
    return records ? "valid" : records.error().message;
}

TEST(RecordBatch, header_and_records_read_back) {
    const BatchSpec spec = three_records();
    const Bytes bytes = encode_batch(spec);
    const auto header = validate_batch(bytes);
    ASSERT_TRUE(header) << header.error().message;
    EXPECT_EQ(header->size(), bytes.size());
    EXPECT_EQ(header->base_offset, 100);
    EXPECT_EQ(header->last_offset(), 102);
    EXPECT_EQ(header->next_offset(), 103);
    EXPECT_EQ(header->leader_epoch, 4);
    EXPECT_EQ(header->base_timestamp, 5000);
    EXPECT_EQ(header->max_timestamp, 7000);
    EXPECT_EQ(header->producer_id, 9);
    EXPECT_EQ(header->producer_epoch, 2);
    EXPECT_EQ(header->base_sequence, 30);
    EXPECT_EQ(header->count, 3);
    EXPECT_FALSE(header->control());
    EXPECT_FALSE(header->transactional());
    const auto records = decode_records(bytes);
    ASSERT_TRUE(records) << records.error().message;
    ASSERT_EQ(records->size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        Record expected = spec.records[i];
        expected.offset = 100 + static_cast<Offset>(i);
        EXPECT_EQ((*records)[i], expected) << i;
    }
}

TEST(RecordBatch, leader_sets_offset_and_epoch_without_touching_the_crc) {
    const Bytes first = encode_batch(three_records());
    Bytes bytes = first;
    bytes.insert(bytes.end(), first.begin(), first.end());
    set_offset_and_epoch(bytes, first.size(), 1'000'000'000'000, 77);
    const auto batches = split_batches(bytes);
    ASSERT_TRUE(batches);
    ASSERT_EQ(batches->size(), 2U);
    EXPECT_EQ((*batches)[0].header.base_offset, 100);
    EXPECT_EQ((*batches)[1].header.base_offset, 1'000'000'000'000);
    EXPECT_EQ((*batches)[1].header.leader_epoch, 77);
    EXPECT_TRUE(validate_batch((*batches)[1].bytes));
    EXPECT_EQ(decode_records((*batches)[1].bytes)->back().offset, 1'000'000'000'002);
}

TEST(RecordBatch, a_partial_last_batch_is_left_out) {
    const Bytes whole = encode_batch(three_records());
    Bytes bytes = whole;
    bytes.insert(bytes.end(), whole.begin(), whole.end());
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        const auto batches = split_batches(BytesView(bytes).first(size));
        ASSERT_TRUE(batches) << size << ": " << batches.error().message;
        ASSERT_EQ(batches->size(), size / whole.size()) << size;
    }
}

TEST(RecordBatch, every_damaged_byte_is_seen) {
    const Bytes whole = encode_batch(three_records());
    for (std::size_t at = 8; at < whole.size(); ++at) {
        if (at >= 12 && at < 16) continue;  // the leader epoch is not covered by the CRC
        for (unsigned bit = 0; bit < 8; ++bit) {
            Bytes damaged = whole;
            damaged[at] ^= static_cast<std::uint8_t>(1U << bit);
            ASSERT_FALSE(validate_batch(damaged)) << "byte " << at << " bit " << bit;
        }
    }
    EXPECT_EQ(refusal(Bytes(60)), "60 bytes are too few for a record batch header of 61");
    Bytes cut = whole;
    cut.pop_back();
    EXPECT_EQ(refusal(cut),
              fmt::format("record batch at offset 100 is cut: {} of {} bytes", cut.size(), whole.size()));
    Bytes old = whole;
    old[16] = 1;
    EXPECT_EQ(refusal(old), "record batch at offset 100 has magic 1, not 2");
    Bytes small = whole;
    patch(small, 8, 48);
    EXPECT_EQ(refusal(small), "record batch at offset 100 has length 48");
}

TEST(RecordBatch, sealed_lies_are_seen) {
    Bytes more = encode_batch(three_records());
    patch(more, kCountAt, 4);
    seal(more);
    EXPECT_EQ(refusal(more), "record batch at offset 100 has 4 records and last offset delta 2");
    Bytes fewer = encode_batch(three_records());
    patch(fewer, kCountAt, 2);
    seal(fewer);
    EXPECT_EQ(refusal(fewer), "valid") << "compaction may have removed one";
    EXPECT_EQ(records_refusal(fewer), "the batch at offset 100 has bytes after its records");
    Bytes wide = encode_batch(three_records());
    patch(wide, kDeltaAt, 0x7FFFFFFF);
    patch(wide, kCountAt, 0x7FFFFFFF);
    seal(wide);
    EXPECT_EQ(records_refusal(wide), "record 3 of the batch at offset 100 is malformed");
    Bytes narrow = encode_batch(three_records());
    patch(narrow, kDeltaAt, 1);
    patch(narrow, kCountAt, 2);
    seal(narrow);
    EXPECT_EQ(records_refusal(narrow), "the batch at offset 100 has bytes after its records");
    Bytes negative = encode_batch(three_records());
    patch(negative, kDeltaAt, 0xFFFFFFFF);
    EXPECT_EQ(refusal(negative), "record batch at offset 100 has last offset delta -1");
    Bytes high = encode_batch(three_records());
    set_offset_and_epoch(high, 0, std::numeric_limits<Offset>::max() - 1, 0);
    EXPECT_EQ(refusal(high), "record batch at offset 9223372036854775806 has last offset delta 2");
}

TEST(RecordBatch, offsets_must_grow_within_the_batch) {
    BatchSpec spec;
    spec.base_offset = 10;
    spec.records = {record_of("a", 0), record_of("b", 0), record_of("c", 0)};
    // Each record takes 8 bytes, its offset delta is the fourth.
    const std::size_t second = kBatchHeaderSize + 8 + 3;
    Bytes bytes = encode_batch(spec);
    ASSERT_EQ(bytes.size(), kBatchHeaderSize + 24);
    ASSERT_EQ(bytes[second], 2) << "zigzag of 1";
    bytes[second] = 0;
    seal(bytes);
    EXPECT_EQ(records_refusal(bytes),
              "record 1 of the batch at offset 10 has offset 10, not above the one before");
    for (const std::uint8_t outside : {std::uint8_t{1}, std::uint8_t{6}}) {  // -1 and 3
        bytes[second] = outside;
        seal(bytes);
        EXPECT_EQ(records_refusal(bytes), "record 1 of the batch at offset 10 is malformed");
    }
}

TEST(RecordBatch, compressed_records_are_said_to_be_compressed) {
    Bytes bytes = encode_batch(three_records());
    bytes[kAttributesAt + 1] |= 3;
    seal(bytes);
    EXPECT_EQ(refusal(bytes), "valid");
    EXPECT_EQ(records_refusal(bytes), "record batch at offset 100 is compressed (codec 3)");
}

TEST(RecordBatch, log_append_time_is_the_time_of_every_record) {
    Bytes bytes = encode_batch(three_records());
    bytes[kAttributesAt + 1] |= 8;
    seal(bytes);
    const auto records = decode_records(bytes);
    ASSERT_TRUE(records) << records.error().message;
    for (const Record& record : *records) EXPECT_EQ(record.timestamp, 7000);
}

TEST(RecordBatch, sealed_random_records_never_crash) {
    Rng rng(kSeed);
    const std::size_t whole = encode_batch(three_records()).size();
    int accepted = 0;
    for (int i = 0; i < 5000; ++i) {
        Bytes bytes = encode_batch(three_records());
        for (std::uint64_t n = 1 + rng.below(3); n > 0; --n) {
            bytes[kDeltaAt + rng.below(whole - kDeltaAt)] = static_cast<std::uint8_t>(rng.next());
        }
        seal(bytes);
        const auto records = decode_records(bytes);
        if (!records) continue;
        ++accepted;
        for (std::size_t k = 1; k < records->size(); ++k) {
            ASSERT_LT((*records)[k - 1].offset, (*records)[k].offset);
        }
    }
    EXPECT_GT(accepted, 0);
}

TEST(RecordBatch, control_records_tell_their_type) {
    LeaderChangeMessage message;
    message.leader_id = 100;
    message.voters.push_back({100, {}});
    BatchSpec spec;
    spec.control = true;
    spec.records = {encode_leader_change(message, 12)};
    const Bytes bytes = encode_batch(spec);
    EXPECT_TRUE(read_batch_header(bytes)->control());
    auto record = decode_records(bytes)->front();
    EXPECT_EQ(control_type(record), ControlType::LeaderChange);
    EXPECT_EQ(decode_leader_change(record), message);
    record.key->back() = 1;
    EXPECT_EQ(control_type(record), ControlType::Commit);
    EXPECT_EQ(decode_leader_change(record).error().message,
              "control record at offset 0 is no leader change, its type is 1");
    record.key->resize(3);
    EXPECT_EQ(control_type(record).error().message, "control record at offset 0 has a key of 3 bytes");
    record.key.reset();
    EXPECT_EQ(control_type(record).error().message, "control record at offset 0 has no key");
}

}  // namespace
}  // namespace highwater::wire
