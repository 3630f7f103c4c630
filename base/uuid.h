// Kafka's 128-bit ids (topic, incarnation, directory, cluster), printed as unpadded base64url: 22 characters.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace highwater {

struct Uuid {
    std::array<std::uint8_t, 16> bytes{};

    [[nodiscard]] bool is_zero() const { return *this == Uuid{}; }
    /// 22 characters, e.g. "Yag0zed1TaqtJD_IdOE8Ag".
    [[nodiscard]] std::string to_string() const;
    /// Errors: wrong length or a character outside the base64url alphabet.
    static Result<Uuid> parse(std::string_view text);

    friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

}  // namespace highwater
