// The path rules in force, and what they say about one frame. Pure: no time, no sockets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "nemesis/address_plan.h"
#include "nemesis/fault_target.h"
#include "nemesis/frame_cutter.h"

namespace highwater::nemesis {

/// "Fetch", or a number for an API that our table does not name; "": kUnknownApi. Error: neither.
Result<std::int16_t> parse_api(const std::string& api);

/// One direction of a kind of connection: requests of conn(S,D) travel S->D, its responses D->S.
struct Path {
    BrokerId source = kNoBroker;
    BrokerId destination = kNoBroker;
    /// Request or Response.
    FramePart part = FramePart::Request;
};

class RuleSet {
public:
    struct Judgement {
        bool cut = false;
        bool hold = false;
        Duration delay{0};
        Duration jitter{0};
        /// Most bytes to send at once; 0: no rule throttles.
        std::size_t chunk = 0;
    };

    /// Errors: see Network::add_rule.
    Status add(const PathRule& rule, const Members& members);
    /// Error: no rule has this id.
    Result<PathRule> remove(const std::string& id);

    /// About a frame of this API; kUnknownApi also stands for the connection itself, which only rules for all
    /// APIs touch.
    [[nodiscard]] Judgement judge(const Path& path, std::int16_t api_key) const;
    /// Books so many bytes on every Throttle that matches and returns when they may leave: callers take
    /// turns.
    Instant book(const Path& path, std::int16_t api_key, std::size_t bytes, Instant now);
    /// Source may not connect to destination.
    [[nodiscard]] bool refuses(BrokerId source, BrokerId destination) const;
    /// Whether this one rule is a Hold that matches the frame.
    [[nodiscard]] static bool holds(const PathRule& rule, const Path& path, std::int16_t api_key);

    [[nodiscard]] std::vector<PathRule> rules() const;

private:
    struct Entry {
        PathRule rule;
        std::int16_t api_key = kUnknownApi;
        /// Throttle: when what is booked so far will have left.
        Instant free_at{};
    };
    static bool matches(const Entry& entry, const Path& path, std::int16_t api_key);

    std::vector<Entry> entries_;
};

}  // namespace highwater::nemesis
