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
    Pause,       // SIGSTOP, confirmed
    Resume,      // SIGCONT
    Terminate,   // SIGTERM
    Kill,        // SIGKILL
    Restart,     // start again what ended
    Wipe,        // SIGKILL if it runs, and its data are gone
    Elect,       // an election by request
    Await,       // nothing is done: complete when its `until` holds
    Delay,       // on a path: later, in order
    Throttle,    // on a path: so many bytes a second
    Hold,        // on a path: nothing passes until released
    Cut,         // on a path: connections reset, new ones too
    Refuse,      // on a path: new connections refused
    Flaky,       // on paths: stopped one by one, restored in another order
    Partition,   // every path between two sides
    Isolate,     // every path between some and everybody else
    Ring,        // each broker reaches only its two neighbours
    Bridge,      // two halves that only one broker reaches both of
    Release,     // undo an earlier path fault, named by its id
    ForgeFetch,  // a follower fetch in somebody's name: an attack, not a fault of the cluster
};
std::string_view fault_kind_name(FaultKind kind);
Result<FaultKind> parse_fault_kind(std::string_view text);
/// A rule on one path: delay, throttle, hold, cut, refuse.
bool is_path_rule(FaultKind kind);
/// Its paths are computed: partition, isolate, ring, bridge.
bool is_partition(FaultKind kind);
/// Acts on paths (rules, partitions, flaky) rather than on processes.
bool acts_on_path(FaultKind kind);
/// Ends a process: terminate, kill, wipe.
bool ends_process(FaultKind kind);
/// Over as soon as it has happened, and nothing to undo: resume, restart, elect, await, release, forge-fetch.
bool is_momentary(FaultKind kind);
/// Strikes nobody by itself: elect, await, release.
bool has_no_target(FaultKind kind);

/// Who is meant, resolved when the fault strikes: "leader", "follower:any", "follower:all", "isr:last",
/// "controller", "all" (every replica), "brokers", "broker:any", "minority", "majority", "id:2", "client",
/// "<fault id>.target" for whoever an earlier fault struck, or several joined by '+', in that order.
struct Role {
    enum class Kind : std::uint8_t {
        Leader,
        FollowerAny,
        FollowerAll,
        IsrLast,
        Controller,
        All,
        Brokers,
        BrokerAny,
        Minority,
        Majority,
        Client,
        Id,
        TargetOf,
        Several
    };
    Kind kind = Kind::Leader;
    BrokerId id = kNoBroker;
    std::string fault_id;
    /// Several: none of them Several itself.
    std::vector<Role> members{};
    [[nodiscard]] std::string to_string() const;
    /// The parts of Several, or itself.
    [[nodiscard]] std::vector<Role> parts() const;
    void collect_fault_ids(std::vector<std::string>& into) const;
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

/// Which of the connections: among brokers, to controllers, of clients.
struct Planes {
    bool data = true;
    bool controller = true;
    bool client = true;
    [[nodiscard]] bool all() const { return data && controller && client; }
    friend bool operator==(const Planes&, const Planes&) = default;
    /// "data+controller".
    [[nodiscard]] std::string to_string() const;
};
Result<Planes> parse_planes(std::string_view text);

/// Of a partition: both ways, only what leaves the (first) side, only what comes to it.
enum class Way : std::uint8_t { Both, Out, In };
std::string_view way_name(Way way);
Result<Way> parse_way(std::string_view text);

/// "64KB/s", "1MB/s", "500B/s" (K = 1000): bytes a second. Errors: anything else, nothing at all.
Result<std::int64_t> parse_byte_rate(std::string_view text);
std::string format_byte_rate(std::int64_t bytes_per_second);

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
    /// Partition: its two sides.
    std::optional<std::pair<Role, Role>> between;
    Way way = Way::Both;
    /// Partitions and flaky: what is done to each path: hold, cut or refuse.
    FaultKind by = FaultKind::Hold;
    Planes planes;
    /// Release: id of the fault to undo.
    std::string release_of;
    /// Narrows a path fault to one API ("Fetch") and part.
    std::string api;
    FramePart part = FramePart::Both;
    Duration delay{0};
    Duration jitter{0};
    /// Throttle: bytes a second.
    std::int64_t rate = 0;
    /// Hold: what becomes, at release, of bytes whose sender has closed meanwhile: delivered late, or
    /// dropped.
    bool discard_if_closed = false;
    /// Flaky: between two changes.
    Duration step = milliseconds(200);
    /// Terminate: complete when the process is gone; SIGKILL if it is not after this time.
    std::optional<Duration> kill_after;
    /// Elect: an unclean election, else the preferred one.
    bool unclean = false;
    /// Left out, not a reason to doubt the run, if nobody holds its role or it has no effect.
    bool optional = false;
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
    /// What shows the effect: "every thread stopped", "7 frames waited, 2 of closed senders delivered late".
    std::string proof;
    /// Terminate with kill_after: who had to be ended by SIGKILL, and when they were gone.
    std::vector<std::pair<BrokerId, Instant>> killed;

    /// Whom it struck: "2,3", or "1->2,1->3".
    [[nodiscard]] std::string struck() const;
};

}  // namespace highwater
