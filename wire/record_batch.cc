#include "wire/record_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "base/crc32c.h"

namespace highwater::wire {
namespace {

constexpr std::size_t kEpochAt = 12;
constexpr std::size_t kCrcAt = 17;
constexpr std::size_t kCrcFrom = 21;
/// Beyond it, base offset + last offset delta + 1 could overflow.
constexpr Offset kMaxBaseOffset = std::numeric_limits<Offset>::max() - (Offset{1} << 31U);

void write_optional_bytes(ByteWriter& out, const std::optional<Bytes>& bytes) {
    if (!bytes) return out.varint(-1);
    out.varint(static_cast<std::int64_t>(bytes->size()));
    out.raw(*bytes);
}

Bytes encode_record(const Record& record, std::int64_t base_timestamp, std::int64_t offset_delta) {
    ByteWriter out;
    out.i8(0);  // attributes: none are defined
    out.varint(record.timestamp - base_timestamp);
    out.varint(offset_delta);
    write_optional_bytes(out, record.key);
    write_optional_bytes(out, record.value);
    out.varint(static_cast<std::int64_t>(record.headers.size()));
    for (const RecordHeader& header : record.headers) {
        out.varint(static_cast<std::int64_t>(header.key.size()));
        out.raw(as_bytes_view(header.key));
        write_optional_bytes(out, header.value);
    }
    return out.take();
}

std::optional<Bytes> read_optional_bytes(ByteReader& in) {
    const std::int64_t size = in.varint();
    if (size < -1) in.fail();
    if (size < 0) return std::nullopt;
    const BytesView raw = in.raw(static_cast<std::size_t>(size));
    return Bytes(raw.begin(), raw.end());
}

Record read_record(ByteReader& in, const BatchHeader& header) {
    Record record;
    in.i8();
    if (__builtin_add_overflow(header.base_timestamp, in.varint(), &record.timestamp)) in.fail();
    if (header.log_append_time()) record.timestamp = header.max_timestamp;
    const std::int64_t offset_delta = in.varint();
    if (offset_delta < 0 || offset_delta > header.last_offset_delta)
        in.fail();
    else
        record.offset = header.base_offset + offset_delta;
    record.key = read_optional_bytes(in);
    record.value = read_optional_bytes(in);
    const std::int64_t headers = in.varint();
    if (headers < 0) in.fail();
    for (std::int64_t i = 0; i < headers && !in.failed(); ++i) {
        RecordHeader entry;
        const std::int64_t size = in.varint();
        if (size < 0) in.fail();
        entry.key = std::string(as_text(in.raw(static_cast<std::size_t>(std::max<std::int64_t>(size, 0)))));
        entry.value = read_optional_bytes(in);
        record.headers.push_back(std::move(entry));
    }
    return record;
}

}  // namespace

Bytes encode_batch(const BatchSpec& spec) {
    HW_ASSERT(!spec.records.empty());
    std::int64_t max_timestamp = spec.records.front().timestamp;
    for (const Record& record : spec.records) max_timestamp = std::max(max_timestamp, record.timestamp);
    const std::int64_t base_timestamp = spec.records.front().timestamp;
    ByteWriter out;
    out.i64(spec.base_offset);
    out.i32(0);  // length, known below
    out.i32(spec.leader_epoch);
    out.i8(2);
    out.u32(0);  // CRC, known below
    out.i16(static_cast<std::int16_t>((spec.transactional ? 0x10 : 0) | (spec.control ? 0x20 : 0)));
    out.i32(static_cast<std::int32_t>(spec.records.size()) - 1);
    out.i64(base_timestamp);
    out.i64(max_timestamp);
    out.i64(spec.producer_id);
    out.i16(spec.producer_epoch);
    out.i32(spec.base_sequence);
    out.i32(static_cast<std::int32_t>(spec.records.size()));
    for (std::size_t i = 0; i < spec.records.size(); ++i) {
        const Bytes record = encode_record(spec.records[i], base_timestamp, static_cast<std::int64_t>(i));
        out.varint(static_cast<std::int64_t>(record.size()));
        out.raw(record);
    }
    out.patch_u32(8, static_cast<std::uint32_t>(out.size() - kBatchPrefixSize));
    out.patch_u32(kCrcAt, crc32c(BytesView(out.bytes()).subspan(kCrcFrom)));
    return out.take();
}

Result<BatchHeader> read_batch_header(BytesView bytes) {
    if (bytes.size() < kBatchHeaderSize) {
        return failure(fmt::format("{} bytes are too few for a record batch header of {}", bytes.size(),
                                   kBatchHeaderSize));
    }
    ByteReader in(bytes);
    BatchHeader header;
    header.base_offset = in.i64();
    header.batch_length = in.i32();
    header.leader_epoch = in.i32();
    header.magic = in.i8();
    header.crc = in.u32();
    header.attributes = in.i16();
    header.last_offset_delta = in.i32();
    header.base_timestamp = in.i64();
    header.max_timestamp = in.i64();
    header.producer_id = in.i64();
    header.producer_epoch = in.i16();
    header.base_sequence = in.i32();
    header.count = in.i32();
    if (header.batch_length < static_cast<std::int32_t>(kBatchHeaderSize - kBatchPrefixSize)) {
        return failure(
            fmt::format("record batch at offset {} has length {}", header.base_offset, header.batch_length));
    }
    if (header.base_offset < 0 || header.base_offset > kMaxBaseOffset || header.last_offset_delta < 0) {
        return failure(fmt::format("record batch at offset {} has last offset delta {}", header.base_offset,
                                   header.last_offset_delta));
    }
    return header;
}

Result<BatchHeader> validate_batch(BytesView bytes) {
    auto header = read_batch_header(bytes);
    if (!header) return header;
    const std::string name = fmt::format("record batch at offset {}", header->base_offset);
    if (header->magic != 2) return failure(fmt::format("{} has magic {}, not 2", name, header->magic));
    if (bytes.size() < header->size()) {
        return failure(fmt::format("{} is cut: {} of {} bytes", name, bytes.size(), header->size()));
    }
    const std::uint32_t crc = crc32c(bytes.subspan(kCrcFrom, header->size() - kCrcFrom));
    if (crc != header->crc) {
        return failure(fmt::format("{} has CRC {:08x}, its bytes give {:08x}", name, header->crc, crc));
    }
    if (header->count < 0 || header->count > std::int64_t{header->last_offset_delta} + 1) {
        return failure(fmt::format("{} has {} records and last offset delta {}", name, header->count,
                                   header->last_offset_delta));
    }
    return header;
}

Result<std::vector<BatchView>> split_batches(BytesView bytes) {
    std::vector<BatchView> batches;
    while (bytes.size() >= kBatchHeaderSize) {
        const auto header = read_batch_header(bytes);
        if (!header) return tl::make_unexpected(header.error());
        if (bytes.size() < header->size()) break;
        batches.push_back({*header, bytes.first(header->size())});
        bytes = bytes.subspan(header->size());
    }
    return batches;
}

Result<std::vector<Record>> decode_records(BytesView batch) {
    const auto header = validate_batch(batch);
    if (!header) return tl::make_unexpected(header.error());
    if (header->compression() != Compression::None) {
        return failure(fmt::format("record batch at offset {} is compressed (codec {})", header->base_offset,
                                   static_cast<int>(header->compression())));
    }
    ByteReader in(batch.subspan(kBatchHeaderSize, header->size() - kBatchHeaderSize));
    std::vector<Record> records;
    for (std::int32_t i = 0; i < header->count; ++i) {
        const std::int64_t size = in.varint();
        const std::size_t begin = in.position();
        records.push_back(read_record(in, *header));
        if (in.failed() || size < 0 || in.position() - begin != static_cast<std::size_t>(size)) {
            return failure(
                fmt::format("record {} of the batch at offset {} is malformed", i, header->base_offset));
        }
        if (i > 0 && records[records.size() - 2].offset >= records.back().offset) {
            return failure(
                fmt::format("record {} of the batch at offset {} has offset {}, not above the one before", i,
                            header->base_offset, records.back().offset));
        }
    }
    if (!in.at_end()) {
        return failure(
            fmt::format("the batch at offset {} has bytes after its records", header->base_offset));
    }
    return records;
}

void set_offset_and_epoch(Bytes& bytes, std::size_t at, Offset base_offset, LeaderEpoch epoch) {
    HW_ASSERT(at + kBatchHeaderSize <= bytes.size(), "batch at {} of {} bytes", at, bytes.size());
    const auto offset = static_cast<std::uint64_t>(base_offset);
    for (std::size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<std::uint8_t>(offset >> (56U - 8U * i));
    const auto number = static_cast<std::uint32_t>(epoch);
    for (std::size_t i = 0; i < 4; ++i) {
        bytes[at + kEpochAt + i] = static_cast<std::uint8_t>(number >> (24U - 8U * i));
    }
}

}  // namespace highwater::wire
