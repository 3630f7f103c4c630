// What relays counted: frames and bytes per path and API, round trips per connection kind, lateness of
// delays.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "nemesis/network.h"

namespace highwater::nemesis {

/// Durations in buckets whose width is at most 1/16 of their value.
class LatenessMeter {
public:
    void add(Duration lateness);
    [[nodiscard]] Lateness summary() const;

private:
    static constexpr unsigned kSubBits = 4;
    static std::size_t bucket_of(std::uint64_t nanoseconds);
    static std::uint64_t upper_edge(std::size_t bucket);
    [[nodiscard]] Duration quantile(double q) const;

    std::array<std::uint64_t, (64 - kSubBits + 1) << kSubBits> buckets_{};
    std::uint64_t count_ = 0;
    Duration max_{0};
};

/// One path, both parts.
struct PathMeter {
    static constexpr std::size_t kRecent = 1024;

    PathStats stats;
    std::map<std::int16_t, std::uint64_t> frames_by_api;
    std::deque<Instant> recent;

    using Kind = std::pair<std::int16_t, FramePart>;
    std::map<Kind, std::deque<Instant>> recent_by_kind;

    void frame_passed(std::int16_t api_key, FramePart part, Instant now);
    [[nodiscard]] std::uint64_t frames_since(Instant since) const;
    /// Of one API; Both counts either part.
    [[nodiscard]] std::uint64_t frames_since(std::int16_t api_key, FramePart part, Instant since) const;
};

/// One kind of connection, conn(S,D).
struct LinkMeter {
    std::size_t open_connections = 0;
    /// When the latest request came that has been answered through the relay.
    Instant latest_answered_request{-1};
};

struct Meter {
    using Ends = std::pair<BrokerId, BrokerId>;
    // std::map: relays keep references to its elements.
    std::map<Ends, PathMeter> paths;
    std::map<Ends, LinkMeter> links;
    LatenessMeter lateness;
};

}  // namespace highwater::nemesis
