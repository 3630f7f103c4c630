// After heal: wait until nothing moves any more, then read the whole log from the leader and from every
// replica.
#pragma once

#include <string>

#include "harness/cluster.h"
#include "harness/observer.h"
#include "workloads/recorder.h"

namespace highwater::harness {

/// HW = LEO and the same on all running replicas, in two looks one after the other. False if `deadline` came
/// first.
bool wait_for_quiescence(const Cluster& cluster, const Scenario& scenario, const Observer& observer,
                         Instant deadline);
/// Every record from the log's start to the high watermark, recorded as final polls of `final` (the leader)
/// and `final-N`. What cannot be read to its end is recorded incomplete.
void final_reads(const Cluster& cluster, const Scenario& scenario, const std::string& run_id, BrokerId leader,
                 workloads::Recorder& recorder);

}  // namespace highwater::harness
