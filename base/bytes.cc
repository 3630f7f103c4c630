#include "base/bytes.h"

#include <fmt/format.h>

#include "base/assert.h"

namespace highwater {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

std::string to_hex(BytesView bytes) {
    std::string hex;
    hex.reserve(bytes.size() * 2);
    for (const std::uint8_t byte : bytes) {
        hex.push_back(kHexDigits[byte >> 4U]);
        hex.push_back(kHexDigits[byte & 0xFU]);
    }
    return hex;
}

Result<Bytes> from_hex(std::string_view hex) {
    if (hex.size() % 2 != 0) return failure(fmt::format("hex text has an odd length, {}", hex.size()));
    Bytes bytes;
    bytes.reserve(hex.size() / 2);
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        const int high = hex_value(hex[i]);
        const int low = hex_value(hex[i + 1]);
        if (high < 0 || low < 0) return failure(fmt::format("'{}' at {} is no hex", hex.substr(i, 2), i));
        bytes.push_back(static_cast<std::uint8_t>(high * 16 + low));
    }
    return bytes;
}

void ByteWriter::uvarint(std::uint64_t value) {
    while (value >= 0x80U) {
        u8(static_cast<std::uint8_t>(value | 0x80U));
        value >>= 7U;
    }
    u8(static_cast<std::uint8_t>(value));
}

void ByteWriter::patch_u32(std::size_t at, std::uint32_t value) {
    HW_ASSERT(at + 4 <= bytes_.size(), "{} + 4 > {}", at, bytes_.size());
    for (std::size_t i = 0; i < 4; ++i) {
        bytes_[at + i] = static_cast<std::uint8_t>(value >> (24U - 8U * static_cast<unsigned>(i)));
    }
}

std::uint64_t ByteReader::uvarint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const std::uint8_t byte = u8();
        if (failed_) return 0;
        value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
        if ((byte & 0x80U) == 0) return value;
    }
    failed_ = true;
    return 0;
}

BytesView ByteReader::raw(std::size_t count) {
    if (failed_ || bytes_.size() - at_ < count) {
        failed_ = true;
        return {};
    }
    const BytesView view = bytes_.subspan(at_, count);
    at_ += count;
    return view;
}

}  // namespace highwater
