// One seed: a cluster, clients and random faults, then heal; what must be true at the end beside the
// invariants.
#pragma once

#include <cstdint>
#include <string>

#include "tests/sim/cluster.h"

namespace highwater::sim {

struct SeedResult {
    /// Empty if all is well; else the invariant or the unmet expectation, and how to see it again.
    std::string failure;
    Cluster::Counts counts;
    Duration simulated{0};
};

/// The seed alone decides: even seeds allow unclean elections, and min ISR, partitions and bounds follow from
/// it too.
SeedResult run_seed(std::uint64_t seed, bool verbose);

}  // namespace highwater::sim
