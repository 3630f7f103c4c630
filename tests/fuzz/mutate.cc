#include "tests/fuzz/mutate.h"

#include <algorithm>

namespace highwater::fuzz {
namespace {

using Difference = std::ptrdiff_t;

/// Lengths and counts that decoders must not believe, in one to eight bytes.
void write_number(Rng& rng, Bytes& bytes, std::size_t at) {
    static const std::vector<std::uint64_t> kNumbers = {0,
                                                        1,
                                                        2,
                                                        0x7F,
                                                        0x80,
                                                        0xFF,
                                                        0x7FFF,
                                                        0x8000,
                                                        0xFFFF,
                                                        0x7FFFFFFF,
                                                        0x80000000,
                                                        0xFFFFFFFF,
                                                        0x7FFFFFFFFFFFFFFFULL,
                                                        0x8000000000000000ULL,
                                                        0xFFFFFFFFFFFFFFFFULL};
    const std::uint64_t number = rng.chance(80) ? rng.pick(kNumbers) : bytes.size() - at;
    const std::size_t width = std::size_t{1} << rng.below(4);
    for (std::size_t i = 0; i < width && at + i < bytes.size(); ++i)
        bytes[at + i] = static_cast<std::uint8_t>(number >> (8 * (width - 1 - i)));
}

void insert_piece(Rng& rng, Bytes& bytes, std::size_t at, const Bytes& from) {
    if (from.empty()) return;
    const std::size_t begin = rng.below(from.size());
    const std::size_t size = 1 + rng.below(std::min<std::size_t>(from.size() - begin, 64));
    const Bytes piece(from.begin() + static_cast<Difference>(begin),
                      from.begin() + static_cast<Difference>(begin + size));
    bytes.insert(bytes.begin() + static_cast<Difference>(at), piece.begin(), piece.end());
}

void change(Rng& rng, Bytes& bytes, const Bytes& other) {
    if (bytes.empty()) {
        bytes.push_back(static_cast<std::uint8_t>(rng.next() >> 56U));
        return;
    }
    const std::size_t at = rng.below(bytes.size());
    switch (rng.below(8)) {
        case 0:
            bytes[at] = static_cast<std::uint8_t>(rng.next() >> 56U);
            break;
        case 1:
            bytes[at] ^= static_cast<std::uint8_t>(1U << rng.below(8));
            break;
        case 2:
            bytes.resize(at);
            break;
        case 3:
            bytes.erase(
                bytes.begin() + static_cast<Difference>(at),
                bytes.begin() + static_cast<Difference>(std::min(bytes.size(), at + 1 + rng.below(8))));
            break;
        case 4:
            bytes.insert(bytes.begin() + static_cast<Difference>(at), 1 + rng.below(8),
                         static_cast<std::uint8_t>(rng.next() >> 56U));
            break;
        case 5:
            insert_piece(rng, bytes, at, Bytes(bytes));
            break;
        case 6:
            insert_piece(rng, bytes, at, other);
            break;
        default:
            write_number(rng, bytes, at);
    }
}

}  // namespace

void mutate(Rng& rng, Bytes& bytes, const Bytes& other, std::size_t limit) {
    for (std::uint64_t left = 1 + rng.below(4); left > 0; --left) change(rng, bytes, other);
    if (bytes.size() > limit) bytes.resize(limit);
}

}  // namespace highwater::fuzz
