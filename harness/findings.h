// What a run measured, as sentences: how long after which fault the ISR shrank, and which timer that was.
#pragma once

#include <string>
#include <vector>

#include "model/fault.h"
#include "model/history.h"
#include "model/scenario.h"
#include "model/trace.h"

namespace highwater::harness {

/// One sentence for each shrink of partition 0's ISR during the run, in order.
std::vector<std::string> shrink_findings(const Trace& trace, const std::vector<FaultRecord>& faults,
                                         const Scenario& scenario);

/// How long each restarted broker waited for its registration: until its old session is over the controller
/// refuses it (DUPLICATE_BROKER_REGISTRATION), and the broker asks again by itself.
std::vector<std::string> restart_findings(const Trace& trace, const std::vector<FaultRecord>& faults);

/// That what follows is the work of an attacker, if the run had one.
std::vector<std::string> attack_findings(const std::vector<FaultRecord>& faults);
/// What clients sent again without telling their user.
std::vector<std::string> client_findings(const History& history);

}  // namespace highwater::harness
