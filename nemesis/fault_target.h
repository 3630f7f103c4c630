// What the nemesis can do to a cluster, whichever it is. Process faults, path rules, and proof of when each
// took effect.
#pragma once

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
    /// Delay, Hold, Cut or Refuse.
    FaultKind kind = FaultKind::Delay;
    /// Delay only: each frame is delayed by a value in [delay - jitter, delay + jitter]; order is kept.
    Duration delay{0};
    Duration jitter{0};
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
};

class FaultTarget {
public:
    virtual ~FaultTarget() = default;

    /// Each returns when the effect is confirmed or its deadline has passed.
    virtual FaultEffect pause(BrokerId id) = 0;
    virtual FaultEffect resume(BrokerId id) = 0;
    virtual FaultEffect terminate(BrokerId id) = 0;
    virtual FaultEffect kill(BrokerId id) = 0;
    virtual FaultEffect restart(BrokerId id) = 0;
    virtual FaultEffect add_rule(const PathRule& rule) = 0;
    virtual FaultEffect remove_rule(const std::string& id) = 0;
};

}  // namespace highwater::nemesis
