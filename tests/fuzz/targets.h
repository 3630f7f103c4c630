// What is fuzzed: every decoder of the wire room, each with one byte string as its input.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"

namespace highwater::fuzz {

/// An input is [target, version, body...]: so a mutation may change the decoder, too.
inline constexpr std::size_t kSelectorBytes = 2;

/// Decodes the input with the target it selects. What is accepted must mean what it encodes to: aborts with a
/// message otherwise. True if it was accepted.
bool run_target(BytesView input);

/// The inputs to begin with: golden frames (testdata of tests/wire), whole requests, batches and metadata
/// records of a Kafka data directory. Throws std::runtime_error.
std::vector<Bytes> seed_corpus();

/// "FetchRequest v11", "record batches"…
std::string target_name(BytesView input);

}  // namespace highwater::fuzz
