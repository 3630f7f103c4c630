// For each deliberate bug of the node the least run of a whole cluster in which it shows.
#pragma once

#include <string_view>
#include <vector>

#include "node/log/bugs.h"
#include "tests/sim/script.h"

namespace highwater::sim {

struct BugScript {
    node::Bug bug;
    /// Of the script, as docs/bugs.md has it.
    std::string_view name;
    /// Invariant or anomaly that is seen first.
    std::string_view broken;
    void (*play)(Script& script);
    std::int32_t min_isr = 2;
    /// The first is the preferred leader.
    std::vector<BrokerId> assignment = {1, 2, 3};
    /// replica.fetch.max.bytes is 1: a follower gets one batch per fetch.
    bool batch_by_batch = false;
};

/// In the order of node/bugs.def, one for each bug.
const std::vector<BugScript>& bug_scripts();

/// The script on a cluster with these bugs, to its end. The seed decides the delays of messages.
ScriptResult play(const BugScript& script, const node::Bugs& bugs, std::uint64_t seed);

}  // namespace highwater::sim
