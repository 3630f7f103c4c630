// The declarative description of a message: every field with its protocol name, the versions that carry it,
// the versions in which it may be null, and its tag. One generic codec (codec_impl.h) walks these; nothing
// else knows the layout.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/uuid.h"
#include "wire/api_key.h"
#include "wire/error_code.h"

namespace highwater::wire {

/// A closed range of versions; empty if low > high.
struct Versions {
    std::int16_t low = 1;
    std::int16_t high = 0;
    [[nodiscard]] constexpr bool has(std::int16_t version) const { return version >= low && version <= high; }
};
constexpr Versions since(std::int16_t low) { return {low, std::numeric_limits<std::int16_t>::max()}; }
constexpr Versions between(std::int16_t low, std::int16_t high) { return {low, high}; }

/// One member of `Struct`. Tagged fields exist only in flexible versions and are left out when they have
/// their default.
template <class Struct, class T>
struct Field {
    std::string_view name;
    T Struct::* member;
    Versions versions;
    Versions nullable_in;
    Versions tagged_in;
    int tag = -1;

    [[nodiscard]] constexpr Field nullable(Versions range) const {
        Field copy = *this;
        copy.nullable_in = range;
        return copy;
    }
    [[nodiscard]] constexpr Field tagged(int number, Versions range) const {
        Field copy = *this;
        copy.tag = number;
        copy.tagged_in = range;
        return copy;
    }
};

template <class Struct, class T>
constexpr Field<Struct, T> field(std::string_view name, T Struct::* member, Versions versions) {
    return {name, member, versions, {}, {}};
}

}  // namespace highwater::wire
