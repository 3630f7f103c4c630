#include "node/broker/log_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace highwater::node {
namespace {

/// Long enough to tell messages apart, short enough to keep what a peer chose out of the kind.
constexpr std::size_t kKindLength = 30;

std::string kind_of(const std::string& line) {
    std::string kind;
    for (const char letter : line) {
        if (letter == ':' || kind.size() == kKindLength) break;
        const bool digit = letter >= '0' && letter <= '9';
        if (digit && !kind.empty() && kind.back() == '#') continue;
        kind.push_back(digit ? '#' : letter);
    }
    return kind;
}

}  // namespace

LogLimit::Verdict LogLimit::admit(Instant now, const std::string& line) {
    if (!line.starts_with("WARN")) return {};
    std::string kind = kind_of(line);
    if (!kinds_.contains(kind) && kinds_.size() >= kKinds) kind = "other";
    Allowance& allowance = kinds_.try_emplace(kind, Allowance{kBurst, now, 0}).first->second;
    allowance.left = std::min<double>(kBurst, allowance.left + to_seconds(now - allowance.at));
    allowance.at = now;
    if (allowance.left < 1) {
        ++allowance.left_out;
        return {false, std::nullopt};
    }
    allowance.left -= 1;
    const std::uint64_t left_out = std::exchange(allowance.left_out, 0);
    if (left_out == 0) return {};
    return {true, fmt::format("WARN {} lines like the next one were left out", left_out)};
}

}  // namespace highwater::node
