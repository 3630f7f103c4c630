// A scenario drawn from a seed: a few of the directed nemeses one after another, at random times and of
// random lengths. What a night searches with (`highwater nightly --directed`).
#pragma once

#include <cstdint>
#include <string>

namespace highwater::harness {

/// "directed-7".
std::string directed_name(std::uint64_t seed);
/// The text of a scenario file: RF 3, min.insync.replicas 2, clean elections alone, nothing that loses data,
/// so that no configuration allows an anomaly. The same seed, the same text.
std::string directed_scenario(std::uint64_t seed);

}  // namespace highwater::harness
