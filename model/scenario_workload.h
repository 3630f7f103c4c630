// [[workload]] tables of a scenario. Only model's loaders include this.
#pragma once

#include "model/scenario.h"
#include "model/toml_section.h"

namespace highwater {

/// Mistakes are told to the section.
WorkloadSpec read_workload(Section& section);

}  // namespace highwater
