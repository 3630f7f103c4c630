// Time as the sans-IO rooms see it: an argument, never a clock. Nanoseconds of CLOCK_MONOTONIC in processes
// (one clock for all processes of a machine), virtual nanoseconds in simulation.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace highwater {

using Duration = std::chrono::nanoseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A moment on the monotonic clock, in nanoseconds since an arbitrary start.
struct Instant {
    std::int64_t ns = 0;

    friend auto operator<=>(const Instant&, const Instant&) = default;
    friend Instant operator+(Instant at, Duration by) { return {at.ns + by.count()}; }
    friend Instant operator-(Instant at, Duration by) { return {at.ns - by.count()}; }
    friend Duration operator-(Instant a, Instant b) { return Duration{a.ns - b.ns}; }

    static constexpr Instant never() { return {std::numeric_limits<std::int64_t>::max()}; }
};

/// CLOCK_MONOTONIC now. Only shells (broker, harness, nemesis, workloads) may call it.
Instant monotonic_now();
/// Milliseconds since 1970. Only shells may call it; records carry it as their timestamp.
std::int64_t wall_clock_ms();

inline double to_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }
inline double to_millis(Duration duration) {
    return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace highwater
