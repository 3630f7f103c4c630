// All relays of a run and the rules on their paths. A thread of its own carries the bytes; every method here
// may be called from any other thread and returns when its effect is in force there.
//
// What a rule on path S->D does to a connection that carries bytes of the path:
// - Delay: each frame leaves `delay` +- jitter after it came, in order.
// - Throttle: so many bytes a second over all connections of the path, in parts of at most 16 KiB.
// - Hold: that direction waits at the first matching frame, with all behind it, also the end of the
//   connection; new connections wait too. After removal everything is delivered in order, or discarded
//   (discard_if_closed).
// - Cut without an API: connections are reset, new ones too. With one: a connection is reset at a matching
//   frame.
// - Refuse acts on connections that S opens to D: new ones are refused, old ones stay.
//
// A TCP connection has two directions and can only be reset as a whole: a Cut of S->D ends conn(S,D) and
// conn(D,S); narrowed to a part, one of the two. When several rules match, Cut beats Hold beats Delay and
// Throttle; delays add up, and bytes must pass every limit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/fault.h"
#include "nemesis/address_plan.h"
#include "nemesis/fault_target.h"

namespace highwater::nemesis {

/// A frame whose last byte was handed to the receiver's socket.
struct PassedFrame {
    /// The path: for a response, source is the process that answered.
    BrokerId source = kNoBroker;
    BrokerId destination = kNoBroker;
    /// -1: not known (no Kafka frame, or a response to nothing).
    std::int16_t api_key = -1;
    FramePart part = FramePart::Request;
    Instant at;
};

struct NetworkOptions {
    /// Of the jitter.
    std::uint64_t seed = 0;
    /// Each direction of each connection keeps at most about this much; then the relay stops reading and the
    /// sender feels it. The same when held; a close behind bytes not read yet is then seen only after the
    /// release.
    std::size_t max_queued_bytes = std::size_t{4} << 20U;
    /// Called in the relay thread for every frame of peers and clients (not of probes): must be quick, and
    /// must not call the Network.
    std::function<void(const PassedFrame&)> on_frame;
};

/// Counted per path, from the start of the run. Probes are not counted.
struct PathStats {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    /// Of connections whose sender had closed while they were held.
    std::uint64_t frames_delivered_late = 0;
    std::uint64_t frames_discarded = 0;
    /// Connections reset by rules.
    std::uint64_t connections_cut = 0;
    /// Bytes that were no Kafka frames, passed on as they came.
    std::uint64_t unframed_bytes = 0;
};

/// How late delayed bytes left, against the plan. A run decided by a late relay is `timing-degraded`.
struct Lateness {
    std::uint64_t count = 0;
    Duration p50{0};
    Duration p99{0};
    Duration max{0};
};

class Network {
public:
    /// Listens for every connection of AddressPlan::links. Error: an address is taken, naming it.
    static Result<std::unique_ptr<Network>> start(const AddressPlan& plan, const Members& members,
                                                  NetworkOptions options);
    /// Closes everything; what is queued is lost.
    ~Network();
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    /// Errors: an id in use, an API nobody knows, a path that no connection carries, a kind or combination
    /// that is no path fault. `effective`: no matching byte was passed on from then on (but see
    /// PathRule::kind).
    FaultEffect add_rule(const PathRule& rule);
    /// `proof`: what the rule did while it was in force, frames and connections counted. Errors: no such
    /// rule; a refusing listener that could not be opened again.
    FaultEffect remove_rule(const std::string& id);
    /// Removes every rule.
    FaultEffect heal();
    [[nodiscard]] std::vector<PathRule> rules() const;

    [[nodiscard]] PathStats stats(BrokerId source, BrokerId destination) const;
    /// Frames of one API passed on this path, requests and responses.
    [[nodiscard]] std::uint64_t passed(BrokerId source, BrokerId destination, std::int16_t api_key) const;
    /// Frames passed on this path at `since` or later; counts the last 1024 only.
    [[nodiscard]] std::uint64_t frames_since(BrokerId source, BrokerId destination, Instant since) const;
    /// The same for one API and part (Both: either); counts the last 1024 of each.
    [[nodiscard]] std::uint64_t passed_since(BrokerId source, BrokerId destination, std::int16_t api_key,
                                             FramePart part, Instant since) const;
    /// Frames of one API and part that wait in relays on this path now.
    [[nodiscard]] std::size_t waiting(BrokerId source, BrokerId destination, std::int16_t api_key,
                                      FramePart part) const;
    /// True when a request that came to the relay of conn(source, destination) at `since` or later has been
    /// answered through it: traffic of the peers' own proves both paths between them.
    [[nodiscard]] bool round_trip_since(BrokerId source, BrokerId destination, Instant since) const;
    /// Open connections from source to destination now (probes not counted).
    [[nodiscard]] std::size_t connections(BrokerId source, BrokerId destination) const;
    /// Bytes waiting in relays on this path now.
    [[nodiscard]] std::size_t queued_bytes(BrokerId source, BrokerId destination) const;
    [[nodiscard]] Lateness lateness() const;
    /// How the relay thread is scheduled: "SCHED_FIFO" where that is allowed.
    [[nodiscard]] std::string scheduling() const;

    /// A round trip of ApiVersions v0 on a fresh connection through the relay of conn(source, destination).
    /// Rules apply to it. The error says how far it came.
    [[nodiscard]] Status probe(BrokerId source, BrokerId destination, Instant deadline) const;

    /// Established connections at real INTERNAL, CLIENT and CONTROLLER listeners of this slot whose far end
    /// is neither a relay nor the observer, nor, as `owns` tells, the listening process itself:
    /// "127.0.0.1:43210 -> 127.1.2.2:19091". Must be none. Error: /proc is not readable.
    [[nodiscard]] Result<std::vector<std::string>> bypasses(
        const std::function<bool(BrokerId id, std::uint64_t inode)>& owns = {}) const;

private:
    class Impl;
    explicit Network(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace highwater::nemesis
