// Random mixes: from a seed to a schedule of plain faults, which is played, written down and played again
// like any other.
#pragma once

#include <vector>

#include "base/rng.h"
#include "model/scenario.h"

namespace highwater::nemesis {

/// The faults of one mix, in the order of their times, each with `at`, `for` and `optional`. At no planned
/// moment are more nodes affected than `most`: a broker counts from its fault's strike until `settle` after
/// its end; a path counts as its destination; a fault of the leader as a node of its own; ring, bridge and
/// flaky as everybody, so they come only when nothing else is in force.
std::vector<FaultSpec> generate(const MixSpec& mix, const Scenario& scenario, Rng rng);

/// The scenario with every mix drawn: no mixes, more faults.
Scenario with_mixes_drawn(Scenario scenario, Rng rng);

}  // namespace highwater::nemesis
