// The directed nemeses: named faults of several steps, each the shortest way to one dangerous moment of the
// protocol. A nemesis is written in the words of a scenario and read like one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/fault.h"

namespace highwater {

struct Nemesis {
    /// "N3": its number among the directed nemeses.
    std::string_view number;
    std::string_view name;
    std::string_view title;
    /// If the scenario does not say: whom, and how long.
    std::string_view target;
    std::string_view lasts;
    /// [[fault]] tables in which $id, $target, $for and $rate stand for what was asked. The last one is
    /// called $id, the others $id.something: `after = "x"` and `x.target` mean the end.
    std::string_view recipe;
};
std::span<const Nemesis> nemeses();

struct NemesisRequest {
    /// Name or number.
    std::string name;
    std::string id;
    std::optional<Role> target;
    std::optional<Duration> lasts;
    std::optional<std::int64_t> rate;
    /// Of each step.
    Duration deadline = seconds(60);
};
/// The steps; those without `after` are the first. Errors: no nemesis has this name; a rate where none is
/// used.
Result<std::vector<FaultSpec>> expand_nemesis(const NemesisRequest& request);

}  // namespace highwater
