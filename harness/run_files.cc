#include "harness/run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace highwater::harness {
namespace {

using Json = nlohmann::ordered_json;

Json time_or_null(const std::optional<Instant>& at) { return at ? Json(at->ns) : Json(nullptr); }

Json fault_json(const FaultRecord& record) {
    Json json{{"id", record.id},
              {"kind", fault_kind_name(record.kind)},
              {"asked", record.asked},
              {"targets", record.targets},
              {"paths", record.paths.empty() ? Json::array() : Json(record.paths)},
              {"planned", record.planned.ns},
              {"requested", record.requested.ns},
              {"effective", record.effective.ns},
              {"completed", time_or_null(record.completed)},
              {"undone", time_or_null(record.undone)},
              {"ok", record.ok},
              {"detail", record.detail},
              {"proof", record.proof}};
    if (!record.killed.empty()) json["ended_by"] = "SIGKILL";
    return json;
}

}  // namespace

Result<Trace> merge_traces(const std::vector<std::string>& files, const results::RunDir& dir) {
    std::vector<std::string> present;
    std::vector<std::pair<std::int64_t, std::string>> lines;
    for (const std::string& file : files) {
        std::ifstream in(file);
        if (!in) continue;  // a process that ended before its first line
        present.push_back(file);
        for (std::string line; std::getline(in, line);) {
            const std::size_t at = line.find("\"t\":");
            if (at == std::string::npos || !line.ends_with('}')) continue;
            lines.emplace_back(std::strtoll(line.c_str() + at + 4, nullptr, 10), std::move(line));
        }
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string text;
    for (const auto& [at, line] : lines) text += line + "\n";
    if (Status written = dir.write("trace.jsonl", text); !written)
        return tl::make_unexpected(written.error());
    return read_trace(present);
}

Status write_run_files(const results::RunDir& dir, const RunOptions& options, const Scenario& scenario,
                       const std::vector<FaultRecord>& faults, const results::Phases& phases,
                       const results::RunResult& result) {
    Json run{{"command", options.command_line},
             {"scenario", scenario.name},
             {"sut", result.sut},
             {"seed", options.seed},
             {"bugs", options.bugs},
             {"reproduce", options.reproduce},
             {"first_fault", time_or_null(phases.first_fault)},
             {"healed", time_or_null(phases.healed)},
             {"recovered", time_or_null(phases.recovered)},
             {"findings", result.findings}};
    // The scenario as it was played, mixes drawn: a run of this file plays the same faults.
    Json schedule = Json::parse(scenario_to_json(scenario));
    schedule["scenario"] = scenario.name;
    schedule["seed"] = options.seed;
    schedule["faults"] = Json::array();
    for (const FaultRecord& record : faults) schedule["faults"].push_back(fault_json(record));
    if (Status written = dir.write("run.json", run.dump(2) + "\n"); !written) return written;
    if (Status written = dir.write("schedule.json", schedule.dump(2) + "\n"); !written) return written;
    return dir.write("verdict.json", verdict_to_json(result.verdict) + "\n");
}

Result<std::string> write_report(const std::string& run_dir, const results::ReportInput& input) {
    const auto page = results::report_html(input);
    if (!page) return tl::make_unexpected(page.error());
    std::string path = run_dir + "/" + results::kReportFile;
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << *page;
    out.close();
    if (!out) return failure(fmt::format("{}: cannot be written", path));
    return path;
}

}  // namespace highwater::harness
