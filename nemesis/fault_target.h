// What the nemesis can do to a cluster, whichever it is. Process faults, path rules, and proof of when each
// took effect.
#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"
#include "base/time.h"
#include "model/fault.h"

namespace highwater::nemesis {

/// One fault on one path. Path S->D is what travels from S to D: the request bytes of conn(S,D) and the
/// response bytes of conn(D,S); `part` Request or Response narrows it to one of the two.
struct PathRule {
    /// Names the rule for its removal; unique among the rules in force.
    std::string id;
    BrokerId source = kNoBroker;
    BrokerId destination = kNoBroker;
    /// Delay, Throttle, Hold, Cut or Refuse.
    FaultKind kind = FaultKind::Delay;
    /// Delay only: each frame is delayed by a value in [delay - jitter, delay + jitter]; order is kept.
    Duration delay{0};
    Duration jitter{0};
    /// Throttle only: bytes a second, over all connections that carry bytes of the path; above 0.
    std::int64_t rate = 0;
    /// "Fetch": only frames of this API; "" for all. Not with Refuse.
    std::string api;
    FramePart part = FramePart::Both;
    /// Hold only: what becomes, at release, of bytes whose sender has closed meanwhile. False: delivered
    /// late.
    bool discard_if_closed = false;
};

/// What became of a request to the cluster. The fault is in force from `effective` on.
struct FaultEffect {
    Instant requested;
    /// When the effect was confirmed (or given up on, if not ok).
    Instant effective;
    bool ok = false;
    /// Why it failed, or what to know about the success; may be empty.
    std::string detail;
    /// What shows the effect.
    std::string proof{};
};

class FaultTarget {
public:
    virtual ~FaultTarget() = default;

    /// Each returns when the effect is confirmed or its deadline has passed.
    virtual FaultEffect pause(BrokerId id) = 0;
    virtual FaultEffect resume(BrokerId id) = 0;
    virtual FaultEffect terminate(BrokerId id) = 0;
    virtual FaultEffect kill(BrokerId id) = 0;
    /// Waits for an end that a fault has asked for, by SIGKILL if it does not come. What waits for the old
    /// session of a broker is its registration, not this call.
    virtual FaultEffect restart(BrokerId id) = 0;
    /// Its data are gone; kills it first if it runs. It stays down until restart.
    virtual FaultEffect wipe(BrokerId id) = 0;
    /// Asks the controller for an election of the topic's partitions, unclean or of the preferred replicas.
    virtual FaultEffect elect(bool unclean) = 0;
    /// Tells the leader of each partition, as if it were follower `as`, that it has everything the leader
    /// has. An attack that a cluster without authentication cannot tell from the truth.
    virtual FaultEffect forge_fetch(BrokerId as) = 0;
    [[nodiscard]] virtual bool running(BrokerId id) const = 0;
    virtual FaultEffect add_rule(const PathRule& rule) = 0;
    virtual FaultEffect remove_rule(const std::string& id) = 0;
};

}  // namespace highwater::nemesis
