// A run directory read back: everything its files say, for commands that tell about a run without judging it
// again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/fault.h"
#include "model/history.h"
#include "model/scenario.h"
#include "model/trace.h"
#include "results/run_result.h"

namespace highwater::results {

struct StoredRun {
    /// Verdict, findings and measures as they were; run_dir is absolute.
    RunResult result;
    History history;
    std::optional<Trace> trace;
    std::optional<Scenario> scenario;
    std::vector<FaultRecord> faults;
    Phases phases;
    std::string bugs;
    /// The command that makes this run again.
    std::string reproduce;
};

/// Errors: no history or verdict there, or a file that is there and cannot be read; they name file and line.
Result<StoredRun> read_run(const std::string& directory);

/// As one word of a shell's command line.
std::string shell_quoted(const std::string& word);

}  // namespace highwater::results
