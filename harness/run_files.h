// The JSON files of a run directory that are not the history: run.json, schedule.json, verdict.json,
// trace.jsonl.
#pragma once

#include <string>
#include <vector>

#include "harness/runner.h"
#include "model/fault.h"
#include "model/trace.h"
#include "results/report.h"
#include "results/run_dir.h"

namespace highwater::harness {

/// Merges the nodes' traces and writes trace.jsonl.
Result<Trace> merge_traces(const std::vector<std::string>& files, const results::RunDir& dir);
Status write_run_files(const results::RunDir& dir, const RunOptions& options, const Scenario& scenario,
                       const std::vector<FaultRecord>& faults, const results::Phases& phases,
                       const results::RunResult& result);
/// Writes report.html into the run directory; returns its path.
Result<std::string> write_report(const std::string& run_dir, const results::ReportInput& input);

}  // namespace highwater::harness
