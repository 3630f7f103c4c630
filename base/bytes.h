// Byte strings and the bounds-checked big-endian reader and writer that every Kafka format is read and
// written with.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace highwater {

using Bytes = std::vector<std::uint8_t>;
using BytesView = std::span<const std::uint8_t>;

inline BytesView as_bytes_view(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(BytesView bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Lower-case hex. The parser's errors: odd length, a character that is no hex digit.
std::string to_hex(BytesView bytes);
Result<Bytes> from_hex(std::string_view hex);

/// Appends big-endian numbers and varints to a byte string it owns.
class ByteWriter {
public:
    void u8(std::uint8_t value) { bytes_.push_back(value); }
    void i8(std::int8_t value) { u8(static_cast<std::uint8_t>(value)); }
    void i16(std::int16_t value) { big_endian(static_cast<std::uint16_t>(value)); }
    void u16(std::uint16_t value) { big_endian(value); }
    void i32(std::int32_t value) { big_endian(static_cast<std::uint32_t>(value)); }
    void u32(std::uint32_t value) { big_endian(value); }
    void i64(std::int64_t value) { big_endian(static_cast<std::uint64_t>(value)); }
    void f64(double value) { big_endian(std::bit_cast<std::uint64_t>(value)); }
    void raw(BytesView value) { bytes_.insert(bytes_.end(), value.begin(), value.end()); }
    /// Unsigned LEB128, as Kafka's UNSIGNED_VARINT.
    void uvarint(std::uint64_t value);
    /// Zigzag, as Kafka's VARINT and VARLONG.
    void varint(std::int64_t value) {
        uvarint((static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U));
    }
    /// Overwrites four bytes at `at`, for lengths and checksums known only later. at + 4 <= size().
    void patch_u32(std::size_t at, std::uint32_t value);

    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    [[nodiscard]] const Bytes& bytes() const { return bytes_; }
    Bytes take() { return std::move(bytes_); }

private:
    template <class Unsigned>
    void big_endian(Unsigned value) {
        for (unsigned shift = sizeof(Unsigned) * 8; shift > 0;) {
            shift -= 8;
            u8(static_cast<std::uint8_t>(value >> shift));
        }
    }

    Bytes bytes_;
};

/// Reads big-endian numbers and varints. The first read past the end, or malformed varint, sets `failed()`;
/// from then on every read returns zero, so a decoder checks once at the end.
class ByteReader {
public:
    explicit ByteReader(BytesView bytes) : bytes_(bytes) {}

    std::uint8_t u8() { return big_endian<std::uint8_t>(); }
    std::int8_t i8() { return static_cast<std::int8_t>(u8()); }
    std::int16_t i16() { return static_cast<std::int16_t>(big_endian<std::uint16_t>()); }
    std::uint16_t u16() { return big_endian<std::uint16_t>(); }
    std::int32_t i32() { return static_cast<std::int32_t>(big_endian<std::uint32_t>()); }
    std::uint32_t u32() { return big_endian<std::uint32_t>(); }
    std::int64_t i64() { return static_cast<std::int64_t>(big_endian<std::uint64_t>()); }
    double f64() { return std::bit_cast<double>(big_endian<std::uint64_t>()); }
    std::uint64_t uvarint();
    std::int64_t varint() {
        const std::uint64_t raw = uvarint();
        return static_cast<std::int64_t>(raw >> 1U) ^ -static_cast<std::int64_t>(raw & 1U);
    }
    /// A view into the input; empty and failed if fewer than `count` bytes are left.
    BytesView raw(std::size_t count);

    void fail() { failed_ = true; }
    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] std::size_t position() const { return at_; }
    [[nodiscard]] std::size_t remaining() const { return failed_ ? 0 : bytes_.size() - at_; }
    [[nodiscard]] bool at_end() const { return remaining() == 0; }

private:
    template <class Unsigned>
    Unsigned big_endian() {
        if (failed_ || bytes_.size() - at_ < sizeof(Unsigned)) {
            failed_ = true;
            return 0;
        }
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < sizeof(Unsigned); ++i) value = (value << 8U) | bytes_[at_++];
        return static_cast<Unsigned>(value);
    }

    BytesView bytes_;
    std::size_t at_ = 0;
    bool failed_ = false;
};

}  // namespace highwater
