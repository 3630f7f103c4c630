// After every rule is away: which of the struck paths carry again, by what proof.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nemesis/grudge.h"
#include "nemesis/network.h"

namespace highwater::nemesis {

struct PathProof {
    /// conn(source, destination), both directions of it.
    BrokerId source = kNoBroker;
    BrokerId destination = kNoBroker;
    bool ok = false;
    /// A round trip of the peers' own; else a probe's.
    bool by_traffic = false;
    std::string detail;
};

struct ProofOptions {
    /// When the last rule was removed: older traffic proves nothing.
    Instant healed;
    /// How long to wait for traffic, and then for probes.
    Duration patience = seconds(5);
    /// Returns at `until`, or earlier when there may be something new to see.
    std::function<void(Instant until)> wait;
    std::function<bool()> interrupted = [] { return false; };
};

/// One proof for each connection kind that carries bytes of these paths, requests or responses. Where
/// connections are open a round trip of their own is waited for, by all of them together; where none came,
/// or none are open, a probe is sent until it is answered (a process that was restarted a moment ago may not
/// listen yet).
std::vector<PathProof> prove_healed(const Network& network, const Grudge& paths, const ProofOptions& options);

}  // namespace highwater::nemesis
