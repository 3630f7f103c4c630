// highwater report RUNDIR: writes the run's page again, from its files.
#include "results/report.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/commands/commands.h"
#include "harness/run_files.h"
#include "results/stored_run.h"

namespace highwater::harness {

int report_command(const ReportArguments& arguments, const CommonOptions& common) {
    const auto run = results::read_run(arguments.path);
    if (!run) return report_error(run.error().message, kExitUsage);
    results::ReportInput input{run->result, run->history, run->faults, run->phases};
    input.scenario = run->scenario ? &*run->scenario : nullptr;
    input.trace = run->trace ? &*run->trace : nullptr;
    input.bugs = run->bugs;
    input.reproduce = run->reproduce;
    const auto file = write_report(run->result.run_dir, input);
    if (!file) return report_error(file.error().message, kExitHarness);
    fmt::print(common.json ? stderr : stdout, "{}: {}\n{}\n", verdict_name(run->result.verdict.kind),
               results::headline(run->result), *file);
    if (common.json) fmt::print("{}\n", nlohmann::ordered_json{{"report", *file}}.dump());
    return 0;
}

}  // namespace highwater::harness
