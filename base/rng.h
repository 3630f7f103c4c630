// The only source of randomness: xoshiro256** seeded by splitmix64. Same seed, same sequence, on every
// machine (std's distributions differ between libraries, so none is used).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "base/uuid.h"

namespace highwater {

class Rng {
public:
    /// No default: a seed is always given by the run.
    explicit Rng(std::uint64_t seed) {
        for (std::uint64_t& word : state_) {
            seed += 0x9E3779B97F4A7C15ULL;
            std::uint64_t mixed = seed;
            mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
            mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBULL;
            word = mixed ^ (mixed >> 31U);
        }
    }

    std::uint64_t next() {
        const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
        const std::uint64_t shifted = state_[1] << 17U;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    /// Uniform in [0, bound). bound > 0. (The bias of the modulo is below 2^-32 for the bounds in use.)
    std::uint64_t below(std::uint64_t bound) {
        HW_ASSERT(bound > 0);
        return next() % bound;
    }

    /// Uniform in [low, high], both included.
    std::int64_t between(std::int64_t low, std::int64_t high) {
        HW_ASSERT(low <= high, "{} > {}", low, high);
        return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
    }

    /// True with probability percent / 100. percent in [0, 100].
    bool chance(unsigned percent) { return below(100) < percent; }

    /// Uniform in [0, 1).
    double unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

    template <class T>
    const T& pick(const std::vector<T>& from) {
        HW_ASSERT(!from.empty());
        return from[below(from.size())];
    }

    /// An independent stream derived from this one, so that adding a user does not shift the others.
    Rng fork() { return Rng(next()); }

    Uuid uuid() {
        Uuid id;
        for (std::uint8_t& byte : id.bytes) byte = static_cast<std::uint8_t>(next() >> 56U);
        return id;
    }

private:
    std::array<std::uint64_t, 4> state_{};
};

}  // namespace highwater
