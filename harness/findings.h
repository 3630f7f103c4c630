// What a run measured, as sentences: how long after which fault the ISR shrank, and which timer that was.
#pragma once

#include <string>
#include <vector>

#include "model/fault.h"
#include "model/scenario.h"
#include "model/trace.h"

namespace highwater::harness {

/// One sentence for each shrink of partition 0's ISR during the run, in order.
std::vector<std::string> shrink_findings(const Trace& trace, const std::vector<FaultRecord>& faults,
                                         const Scenario& scenario);

}  // namespace highwater::harness
