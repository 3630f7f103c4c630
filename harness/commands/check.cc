#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "checker/checker.h"
#include "harness/commands/commands.h"
#include "results/run_result.h"

namespace highwater::harness {
namespace {

/// What only the runner could know stands: judging again cannot prove a heal that was not proven.
void add_run_reasons(const std::filesystem::path& file, checker::CheckInput& input) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    const auto earlier = in ? verdict_from_json(text.str(), file.string()) : Result<Verdict>(failure("none"));
    if (!earlier) return;
    for (std::size_t i = 0; i < earlier->reasons.size(); ++i) {
        const std::string& reason = earlier->reasons[i];
        const bool runners = reason == "fault-not-effective" || reason == "not-healed" ||
                             reason == "target-unresolved" || reason == "timing-degraded";
        if (!runners) continue;
        input.run_reasons.push_back(reason);
        input.run_reason_details.push_back(i < earlier->reason_details.size() ? earlier->reason_details[i]
                                                                              : "");
    }
}

/// What the files of a run say about it beside its history.
void add_run_facts(const std::filesystem::path& file, results::RunResult& result, results::Phases& phases) {
    std::ifstream in(file);
    const nlohmann::json run = nlohmann::json::parse(in, nullptr, false);
    if (!run.is_object()) return;
    if (const auto sut = run.find("sut"); sut != run.end() && sut->is_string()) result.sut = *sut;
    if (const auto seed = run.find("seed"); seed != run.end() && seed->is_number_unsigned())
        result.seed = *seed;
    const auto time = [&run](const char* key, std::optional<Instant>& into) {
        if (const auto at = run.find(key); at != run.end() && at->is_number_integer())
            into = Instant{at->get<std::int64_t>()};
    };
    time("first_fault", phases.first_fault);
    time("healed", phases.healed);
    time("recovered", phases.recovered);
    if (const auto found = run.find("findings"); found != run.end() && found->is_array()) {
        for (const auto& finding : *found) {
            if (finding.is_string()) result.findings.push_back(finding);
        }
    }
}

}  // namespace

int check_command(const CheckArguments& arguments, const CommonOptions& common) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path given = arguments.path;
    const bool directory = fs::is_directory(given, error);
    const fs::path file = directory ? given / "history.jsonl" : given;
    const auto history = read_history(file.string());
    if (!history) return report_error(history.error().message, kExitUsage);
    std::optional<Trace> trace;
    if (const fs::path trace_file = given / "trace.jsonl"; directory && fs::exists(trace_file, error)) {
        auto read = read_trace({trace_file.string()});
        if (!read) return report_error(read.error().message, kExitUsage);
        trace = std::move(*read);
    }
    results::RunResult result;
    result.scenario = history->meta.case_name;
    result.sut = history->meta.broker;
    result.run_dir = directory ? fs::absolute(given).string() : "";
    results::Phases phases;
    if (directory) add_run_facts(given / "run.json", result, phases);
    checker::CheckInput input{*history, trace ? &*trace : nullptr, {}, {}};
    if (directory) add_run_reasons(given / "verdict.json", input);
    result.verdict = checker::check(input);
    if (const auto scenario = load_scenario((given / "scenario.json").string(), {}); directory && scenario) {
        checker::expect_evidence(result.verdict, scenario->expect.sometimes, scenario->expect.never);
    }
    result.measures = results::measure(*history, result.verdict, phases);
    for (const std::string& warning : history->warnings) fmt::print(stderr, "warning: {}\n", warning);
    fmt::print(common.json ? stderr : stdout, "{}", results::run_result_to_text(result));
    if (common.json) fmt::print("{}\n", results::run_result_to_json(result));
    return exit_code(result.verdict.kind);
}

}  // namespace highwater::harness
