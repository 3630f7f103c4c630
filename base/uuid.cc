#include "base/uuid.h"

#include <fmt/format.h>

namespace highwater {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kTextLength = 22;

}  // namespace

std::string Uuid::to_string() const {
    std::string text;
    text.reserve(kTextLength);
    std::uint32_t pending = 0;
    int pending_bits = 0;
    for (const std::uint8_t byte : bytes) {
        pending = (pending << 8U) | byte;
        pending_bits += 8;
        while (pending_bits >= 6) {
            pending_bits -= 6;
            text.push_back(kAlphabet[(pending >> static_cast<unsigned>(pending_bits)) & 0x3FU]);
        }
    }
    text.push_back(kAlphabet[(pending << static_cast<unsigned>(6 - pending_bits)) & 0x3FU]);
    return text;
}

Result<Uuid> Uuid::parse(std::string_view text) {
    if (text.size() != kTextLength) {
        return failure(fmt::format("uuid '{}' has {} characters, not {}", text, text.size(), kTextLength));
    }
    Uuid uuid;
    std::uint32_t pending = 0;
    unsigned pending_bits = 0;
    std::size_t filled = 0;
    for (const char c : text) {
        const std::size_t value = kAlphabet.find(c);
        if (value == std::string_view::npos) {
            return failure(fmt::format("uuid '{}' has the character '{}', which is not base64url", text, c));
        }
        pending = (pending << 6U) | static_cast<std::uint32_t>(value);
        pending_bits += 6;
        if (pending_bits >= 8 && filled < uuid.bytes.size()) {
            pending_bits -= 8;
            uuid.bytes[filled++] = static_cast<std::uint8_t>(pending >> pending_bits);
        }
    }
    return uuid;
}

}  // namespace highwater
