// report.html: one run on one page that needs nothing else, neither network nor files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/fault.h"
#include "model/history.h"
#include "model/scenario.h"
#include "model/trace.h"
#include "results/run_result.h"

namespace highwater::results {

struct ReportInput {
    const RunResult& result;
    const History& history;
    const std::vector<FaultRecord>& faults;
    Phases phases;
    /// nullptr: not known.
    const Scenario* scenario = nullptr;
    const Trace* trace = nullptr;
    std::string bugs;
    /// The command that makes this run again.
    std::string reproduce;
};

/// The whole page. Errors: the data cannot be packed.
Result<std::string> report_html(const ReportInput& input);

/// What a run showed, in one sentence: the first violation, else the first reason for unknown, else what was
/// tested without finding anything.
std::string headline(const RunResult& result);

/// The name of the page's file in a run directory.
inline constexpr const char* kReportFile = "report.html";

}  // namespace highwater::results
