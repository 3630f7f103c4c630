// highwater check: judges again what a history file or a run directory holds, also one whose run was killed.
#include <fmt/format.h>

#include <algorithm>
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

/// What is judged.
struct Material {
    History history;
    std::optional<Trace> trace;
};

/// The verdict is written last: without a whole one the harness was killed before it had judged.
bool was_cut_short(const std::filesystem::path& directory) {
    const std::filesystem::path file = directory / "verdict.json";
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    return !in || !verdict_from_json(text.str(), file.string());
}

/// Killed before the history's first line was whole: there is a scenario, and nothing that happened.
bool has_no_history_yet(const std::filesystem::path& directory) {
    std::error_code error;
    if (!std::filesystem::exists(directory / "scenario.json", error)) return false;
    std::ifstream in(directory / "history.jsonl");
    std::string first;
    return !std::getline(in, first) || in.eof();
}

std::vector<std::string> node_traces(const std::filesystem::path& directory) {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& node : std::filesystem::directory_iterator(directory / "nodes", error)) {
        for (const auto& entry : std::filesystem::directory_iterator(node.path(), error)) {
            const std::string name = entry.path().filename().string();
            if (name.starts_with("trace-") && name.ends_with(".jsonl"))
                files.push_back(entry.path().string());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

Result<Material> read_directory(const std::filesystem::path& directory) {
    Material material;
    const bool cut_short = was_cut_short(directory);
    if (!(cut_short && has_no_history_yet(directory))) {
        auto history = read_history((directory / "history.jsonl").string());
        if (!history) return tl::make_unexpected(history.error());
        material.history = std::move(*history);
    }
    material.history.cut_short = material.history.cut_short || cut_short;
    // trace.jsonl is written when everything has ended, from the files of the nodes.
    std::vector<std::string> files{(directory / "trace.jsonl").string()};
    if (cut_short) files = node_traces(directory);
    std::error_code error;
    std::erase_if(files, [&error](const std::string& file) { return !std::filesystem::exists(file, error); });
    if (files.empty()) return material;
    auto trace = read_trace(files);
    if (!trace) return tl::make_unexpected(trace.error());
    material.trace = std::move(*trace);
    return material;
}

Result<Material> read_material(const std::filesystem::path& given, bool directory) {
    if (directory) return read_directory(given);
    auto history = read_history(given.string());
    if (!history) return tl::make_unexpected(history.error());
    return Material{std::move(*history), std::nullopt};
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
    const auto material = read_material(given, directory);
    if (!material) return report_error(material.error().message, kExitUsage);
    const History& history = material->history;
    results::RunResult result;
    result.scenario = history.meta.case_name;
    result.sut = history.meta.broker;
    result.run_dir = directory ? fs::absolute(given).string() : "";
    results::Phases phases;
    if (directory) add_run_facts(given / "run.json", result, phases);
    checker::CheckInput input{history, material->trace ? &*material->trace : nullptr, {}, {}};
    if (directory) add_run_reasons(given / "verdict.json", input);
    result.verdict = checker::check(input);
    if (const auto scenario = load_scenario((given / "scenario.json").string(), {}); directory && scenario) {
        if (result.scenario.empty()) result.scenario = scenario->name;
        checker::expect_evidence(result.verdict, scenario->expect.sometimes, scenario->expect.never);
    }
    result.measures = results::measure(history, result.verdict, phases);
    for (const std::string& warning : history.warnings) fmt::print(stderr, "warning: {}\n", warning);
    fmt::print(common.json ? stderr : stdout, "{}", results::run_result_to_text(result));
    if (common.json) fmt::print("{}\n", results::run_result_to_json(result));
    return exit_code(result.verdict.kind);
}

}  // namespace highwater::harness
