// Changes an input as broken or hostile peers do.
#pragma once

#include <vector>

#include "base/bytes.h"
#include "base/rng.h"

namespace highwater::fuzz {

/// One to four changes: bytes and bits flipped, cut, lengthened, a piece repeated, interesting numbers of one
/// to eight bytes (lengths that lie), a piece of `other` put in. Never longer than `limit` bytes.
void mutate(Rng& rng, Bytes& bytes, const Bytes& other, std::size_t limit);

}  // namespace highwater::fuzz
