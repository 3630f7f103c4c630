// The vocabulary of faults: what a scenario asks for and what really happened. One vocabulary for every
// cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/condition.h"

namespace highwater {

enum class FaultKind : std::uint8_t {
    Pause,      // SIGSTOP, confirmed
    Resume,     // SIGCONT
    Terminate,  // SIGTERM
    Kill,       // SIGKILL
    Restart,    // start again what ended
    Delay,      // on a path: later, in order
    Hold,       // on a path: nothing passes until released
    Cut,        // on a path: connections reset, new ones too
    Refuse,     // on a path: new connections refused
    Release,    // undo an earlier path fault, named by its id
};
std::string_view fault_kind_name(FaultKind kind);
Result<FaultKind> parse_fault_kind(std::string_view text);
/// Acts on a path (delay, hold, cut, refuse) rather than on processes.
bool acts_on_path(FaultKind kind);

/// Who is meant, resolved when the fault strikes: "leader", "follower:any", "follower:all", "isr:last",
/// "controller", "all", "id:2", "client", or "<fault id>.target" for whoever an earlier fault struck.
struct Role {
    enum class Kind : std::uint8_t {
        Leader,
        FollowerAny,
        FollowerAll,
        IsrLast,
        Controller,
        All,
        Client,
        Id,
        TargetOf
    };
    Kind kind = Kind::Leader;
    BrokerId id = kNoBroker;
    std::string fault_id;
    [[nodiscard]] std::string to_string() const;
};
Result<Role> parse_role(std::string_view text);

/// What travels from source to destination: the request bytes of conn(source, destination) plus the response
/// bytes of conn(destination, source). Written "leader->follower:any".
struct PathSpec {
    Role source;
    Role destination;
    [[nodiscard]] std::string to_string() const {
        return source.to_string() + "->" + destination.to_string();
    }
};
Result<PathSpec> parse_path(std::string_view text);

enum class FramePart : std::uint8_t { Both, Request, Response };

/// One [[fault]] of a scenario.
struct FaultSpec {
    std::string id;
    FaultKind kind = FaultKind::Pause;
    /// When: `at` after the workload started, or `after` another fault completed, plus `after_delay`.
    Duration at{0};
    std::string after;
    Duration after_delay{0};
    std::optional<Role> target;
    std::optional<PathSpec> path;
    /// Release: id of the fault to undo.
    std::string release_of;
    /// Narrows a path fault to one API ("Fetch") and part.
    std::string api;
    FramePart part = FramePart::Both;
    Duration delay{0};
    Duration jitter{0};
    /// Undone after this time.
    std::optional<Duration> lasts;
    /// Complete when true; until then the next ones wait. An unmet one by `deadline` makes the run unknown.
    std::optional<Condition> until;
    Duration deadline = seconds(60);
};

/// What became of one fault.
struct FaultRecord {
    std::string id;
    FaultKind kind = FaultKind::Pause;
    std::string asked;              // role or path as written
    std::vector<BrokerId> targets;  // resolved processes
    /// Path faults: (source, destination) of the traffic struck.
    std::vector<std::pair<BrokerId, BrokerId>> paths;
    Instant planned;
    Instant requested;
    Instant effective;  // confirmed
    std::optional<Instant> completed;
    std::optional<Instant> undone;
    bool ok = false;
    std::string detail;

    /// Whom it struck: "2,3", or "1->2,1->3".
    [[nodiscard]] std::string struck() const;
};

}  // namespace highwater
