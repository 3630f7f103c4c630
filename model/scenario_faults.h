// The [[fault]] and [[mix]] tables of a scenario.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/scenario.h"
#include "model/toml_section.h"

namespace highwater {

/// One table: one fault, or the steps of a named nemesis. `index` counts from 1 and names what has no id.
/// Errors go to the section.
std::vector<FaultSpec> read_fault(Section& section, std::size_t index);
MixSpec read_mix(Section& section, std::size_t index);

/// Only the [[fault]] tables of a text, as recipes have them.
Result<std::vector<FaultSpec>> parse_faults(std::string_view text, const std::string& file_name);

}  // namespace highwater
