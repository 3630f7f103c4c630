// One seed: a cluster, clients and random faults, then heal; what must be true at the end beside the
// invariants.
#pragma once

#include <cstdint>
#include <string>

#include "tests/sim/cluster.h"

namespace highwater::sim {

struct SeedResult {
    /// Empty if all is well; else the invariant, anomaly or expectation that was first seen broken.
    std::string broken;
    /// In full, and how to see it again.
    std::string failure;
    Cluster::Counts counts;
    Duration simulated{0};
};

/// The seed alone decides: every fourth allows unclean elections, every fourth has power losses, and min ISR,
/// the number of partitions, load and bounds follow from it too.
SeedResult run_seed(std::uint64_t seed, const node::Bugs& bugs = {}, bool verbose = false);

}  // namespace highwater::sim
