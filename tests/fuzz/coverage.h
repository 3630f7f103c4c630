// Which edges of the decoders an input reaches: g++'s -fsanitize-coverage=trace-pc calls back at each.
#pragma once

#include <array>
#include <cstdint>

namespace highwater::fuzz {

inline constexpr std::size_t kEdges = 1U << 16U;

/// Hits of the running input, by edge. Addresses count from the program's beginning, so that a seed finds the
/// same inputs wherever the program is loaded.
std::array<std::uint8_t, kEdges>& edge_hits();

}  // namespace highwater::fuzz
