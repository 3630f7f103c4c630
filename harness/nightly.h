// A night: every scenario once, the comparisons, a canary that must be found, then more seeds until the
// budget is used. Each run is a process of its own, so that one that fails takes nothing with it.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "results/night.h"

namespace highwater::harness {

struct NightOptions {
    Duration budget{0};
    /// First seed; round k uses seed + k.
    std::uint64_t seed = 0;
    /// Names of bundled scenarios, or files; empty: all that are bundled.
    std::vector<std::string> scenarios;
    /// Instead of scenarios that are there (`scenarios` may name some besides): drawn ones, another for each
    /// seed.
    bool directed = false;
    /// What every run is on, as for `highwater run`.
    std::string sut = "node";
    /// Sut::family() of it.
    std::string family = "node";
    /// A bug by name or id, or "none".
    std::string canary = "Z06";
    /// Bugs of every run but the canary.
    std::string bugs;
    /// Directory that holds run directories; the night's own is nightly/TIME-SEED below it.
    std::string out = "runs";
    /// Runs at a time.
    int jobs = 1;
    std::string command_line;
    const std::atomic<bool>* interrupted = nullptr;
};

/// Writes summary.md, junit.xml and nightly.json after every run; what is not as expected keeps its files.
/// `dir` becomes the night's directory. Errors: a scenario that is not known or cannot be read, files that
/// cannot be written.
Result<results::Night> spend_night(const NightOptions& options, std::string& dir);

}  // namespace highwater::harness
