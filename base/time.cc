#include "base/time.h"

#include <ctime>

namespace highwater {
namespace {

std::int64_t nanoseconds_of(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

Instant monotonic_now() { return {nanoseconds_of(CLOCK_MONOTONIC)}; }

std::int64_t wall_clock_ms() { return nanoseconds_of(CLOCK_REALTIME) / 1'000'000; }

}  // namespace highwater
