// Columns for the report's page: delta coding, gzip by ISA-L, base64.
#include "results/columns.h"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

#include <array>
#include <limits>

namespace highwater::results {
namespace {

/// Bytes of the compressor's scratch memory at level 1.
constexpr std::size_t kLevelBuffer = ISAL_DEF_LVL1_DEFAULT;

std::string little_endian(const std::vector<std::int32_t>& words) {
    std::string bytes;
    bytes.reserve(words.size() * 4);
    for (const std::int32_t word : words) {
        const auto bits = static_cast<std::uint32_t>(word);
        for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xffU);
    }
    return bytes;
}

Result<std::string> gzip(std::string bytes) {
    std::vector<std::uint8_t> level_buffer(kLevelBuffer);
    std::array<std::uint8_t, 1U << 16U> chunk{};
    isal_zstream stream;
    isal_deflate_init(&stream);
    stream.gzip_flag = IGZIP_GZIP;
    stream.level = 1;
    stream.level_buf = level_buffer.data();
    stream.level_buf_size = static_cast<std::uint32_t>(level_buffer.size());
    stream.end_of_stream = 1;
    if (bytes.size() > std::numeric_limits<std::uint32_t>::max()) {
        return failure(fmt::format("report: {} bytes of columns are too many for one page", bytes.size()));
    }
    stream.next_in = reinterpret_cast<std::uint8_t*>(bytes.data());
    stream.avail_in = static_cast<std::uint32_t>(bytes.size());
    std::string packed;
    do {
        stream.next_out = chunk.data();
        stream.avail_out = static_cast<std::uint32_t>(chunk.size());
        if (const int error = isal_deflate(&stream); error != COMP_OK) {
            return failure(fmt::format("report: the columns cannot be compressed (ISA-L error {})", error));
        }
        packed.append(reinterpret_cast<const char*>(chunk.data()), chunk.size() - stream.avail_out);
    } while (stream.internal_state.state != ZSTATE_END);
    return packed;
}

}  // namespace

std::size_t Columns::add(const std::vector<std::int32_t>& numbers, bool delta) {
    entries_.push_back({words_.size(), numbers.size(), delta});
    std::uint32_t before = 0;
    for (const std::int32_t number : numbers) {
        // Unsigned: differences wrap as the page's Int32Array does.
        const auto bits = static_cast<std::uint32_t>(number);
        words_.push_back(static_cast<std::int32_t>(delta ? bits - before : bits));
        before = bits;
    }
    return entries_.size() - 1;
}

std::string Columns::directory_json() const {
    std::string text = "[";
    for (const Entry& entry : entries_) {
        text += fmt::format("{}[{},{},{}]", text.size() == 1 ? "" : ",", entry.first, entry.count,
                            entry.delta ? 1 : 0);
    }
    return text + "]";
}

Result<std::string> Columns::packed() const {
    auto bytes = gzip(little_endian(words_));
    if (!bytes) return bytes;
    return base64(*bytes);
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            group = group << 8U | (at + i < bytes.size() ? static_cast<std::uint8_t>(bytes[at + i]) : 0U);
        }
        const std::size_t digits = std::min<std::size_t>(bytes.size() - at, 3) + 1;
        for (std::size_t i = 0; i < 4; ++i) {
            text += i < digits ? kDigits[group >> (18 - 6 * i) & 63U] : '=';
        }
    }
    return text;
}

}  // namespace highwater::results
