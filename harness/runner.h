// One run of one scenario, from nothing to a verdict and the files that explain it.
#pragma once

#include <atomic>
#include <string>

#include "harness/sut.h"
#include "model/scenario.h"
#include "results/run_result.h"

namespace highwater::harness {

struct RunOptions {
    std::uint64_t seed = 1;
    Sut sut;
    /// Directory that holds runs; "runs" unless --out says otherwise.
    std::string out = "runs";
    /// Of every node: "ack_on_append,Z06".
    std::string bugs;
    /// What the user typed, for run.json.
    std::string command_line;
    /// The command that makes this very run again, for its report.
    std::string reproduce;
    /// Set by SIGINT and SIGTERM.
    const std::atomic<bool>* interrupted = nullptr;
    /// Progress lines to stderr.
    bool verbose = true;
    /// And a line about what is going on, if stderr is a terminal.
    bool live = false;
};

/// Errors are harness faults (exit code 70): a cluster that does not start, files that cannot be written.
/// Whatever the cluster did wrong is in the verdict. "interrupted" if the user asked.
Result<results::RunResult> run_scenario(const Scenario& scenario, const RunOptions& options);

inline constexpr const char* kInterrupted = "interrupted";

}  // namespace highwater::harness
