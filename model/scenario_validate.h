// The rules of a scenario that span its sections.
#pragma once

#include <string>

#include "base/result.h"
#include "model/scenario.h"

namespace highwater {

/// Errors name `file`, the fault and its key: an id that does not exist, a replica named twice, a fault id
/// used twice or that is no earlier fault's, a client that is no end of a path.
Status validate_scenario(const Scenario& scenario, const std::string& file);

}  // namespace highwater
