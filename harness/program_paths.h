// Where the harness finds what belongs to it: the node beside its own binary, the scenarios in the source
// tree or beside the binary.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace highwater::harness {

/// Path of highwater-node: HIGHWATER_NODE if set, else beside this program.
std::string node_program();
/// A path that exists is taken as it is; a bare name is looked up among the scenarios that came with the
/// program.
Result<std::string> find_scenario(const std::string& name);
/// Paths of all scenarios that came with the program, sorted.
std::vector<std::string> bundled_scenarios();

}  // namespace highwater::harness
