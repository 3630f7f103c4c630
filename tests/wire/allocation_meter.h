// Counts what operator new hands out, so that a test can tell how much a decoder allocates for a hostile
// input.
#pragma once

#include <cstddef>

namespace highwater::test {

/// The largest single allocation since the last reset, bytes.
void reset_largest_allocation();
std::size_t largest_allocation();

}  // namespace highwater::test
