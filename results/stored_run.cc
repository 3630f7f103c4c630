// Reads run.json, schedule.json, scenario.json, history, trace and verdict of a run directory.
#include "results/stored_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "model/text_file.h"
#include "results/changes.h"

namespace highwater::results {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

bool is_there(const fs::path& file) {
    std::error_code error;
    return fs::exists(file, error);
}

Result<Json> read_object(const fs::path& file) {
    const auto text = read_text_file(file.string());
    if (!text) return tl::make_unexpected(text.error());
    Json json = Json::parse(*text, nullptr, false);
    if (!json.is_object()) return failure(fmt::format("{}: not a JSON object", file.string()));
    return json;
}

std::optional<Instant> time_of(const Json& object, const char* key) {
    const auto at = object.find(key);
    if (at == object.end() || !at->is_number_integer()) return std::nullopt;
    return Instant{at->get<std::int64_t>()};
}

void read_facts(const Json& run, StoredRun& stored) {
    stored.result.scenario = run.value("scenario", stored.result.scenario);
    stored.result.sut = run.value("sut", stored.result.sut);
    stored.result.seed = run.value("seed", stored.result.seed);
    stored.bugs = run.value("bugs", "");
    stored.reproduce = run.value("reproduce", "");
    stored.result.findings = run.value("findings", std::vector<std::string>{});
    stored.phases = {time_of(run, "first_fault"), time_of(run, "healed"), time_of(run, "recovered")};
}

Result<FaultRecord> fault_of(const Json& json) {
    FaultRecord fault;
    auto kind = parse_fault_kind(json.value("kind", ""));
    if (!kind) return tl::make_unexpected(kind.error());
    fault.kind = *kind;
    fault.id = json.value("id", "");
    fault.asked = json.value("asked", "");
    fault.targets = json.value("targets", std::vector<BrokerId>{});
    fault.paths = json.value("paths", std::vector<std::pair<BrokerId, BrokerId>>{});
    fault.planned = time_of(json, "planned").value_or(Instant{});
    fault.requested = time_of(json, "requested").value_or(Instant{});
    fault.effective = time_of(json, "effective").value_or(Instant{});
    fault.completed = time_of(json, "completed");
    fault.undone = time_of(json, "undone");
    fault.ok = json.value("ok", false);
    fault.detail = json.value("detail", "");
    fault.proof = json.value("proof", "");
    return fault;
}

Status read_json_files(const fs::path& dir, StoredRun& stored) {
    // A field of another type than it should have throws.
    try {
        if (is_there(dir / "run.json")) {
            const auto run = read_object(dir / "run.json");
            if (!run) return tl::make_unexpected(run.error());
            read_facts(*run, stored);
        }
        if (!is_there(dir / "schedule.json")) return {};
        const auto schedule = read_object(dir / "schedule.json");
        if (!schedule) return tl::make_unexpected(schedule.error());
        for (const Json& one : schedule->value("faults", Json::array())) {
            auto fault = fault_of(one);
            if (!fault) return failure((dir / "schedule.json").string(), fault.error());
            stored.faults.push_back(std::move(*fault));
        }
    } catch (const Json::exception& error) {
        return failure(fmt::format("{}: run.json or schedule.json: {}", dir.string(), error.what()));
    }
    return {};
}

}  // namespace

Result<StoredRun> read_run(const std::string& directory) {
    std::error_code error;
    const fs::path dir = fs::canonical(directory, error);
    if (error) return failure(fmt::format("{}: {}", directory, error.message()));
    if (!fs::is_directory(dir, error)) return failure(fmt::format("{}: not a run directory", directory));
    StoredRun stored;
    auto history = read_history((dir / "history.jsonl").string());
    if (!history) return tl::make_unexpected(history.error());
    stored.history = std::move(*history);
    stored.result.scenario = stored.history.meta.case_name;
    stored.result.sut = stored.history.meta.broker;
    stored.result.run_dir = dir.string();
    if (Status read = read_json_files(dir, stored); !read) return tl::make_unexpected(read.error());
    const fs::path verdict_file = dir / "verdict.json";
    const auto text = read_text_file(verdict_file.string());
    if (!text) return tl::make_unexpected(text.error());
    auto verdict = verdict_from_json(*text, verdict_file.string());
    if (!verdict) return tl::make_unexpected(verdict.error());
    stored.result.verdict = std::move(*verdict);
    if (const fs::path file = dir / "trace.jsonl"; is_there(file)) {
        auto trace = read_trace({file.string()});
        if (!trace) return tl::make_unexpected(trace.error());
        stored.trace = std::move(*trace);
    }
    if (const fs::path file = dir / "scenario.json"; is_there(file)) {
        auto scenario = load_scenario(file.string(), {});
        if (!scenario) return tl::make_unexpected(scenario.error());
        stored.scenario = std::move(*scenario);
    }
    if (stored.reproduce.empty()) {
        stored.reproduce =
            fmt::format("highwater run {} --seed {}{}{}", shell_quoted((dir / "scenario.json").string()),
                        stored.result.seed, stored.bugs.empty() ? "" : " --bug ", stored.bugs);
    }
    if (stored.trace) stored.result.changes = leadership_changes(*stored.trace);
    stored.result.error_codes = error_codes(stored.history);
    stored.result.measures = measure(stored.history, stored.result.verdict, stored.phases);
    return stored;
}

std::string shell_quoted(const std::string& word) {
    const auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               std::string_view("-_./=:,+@%").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace highwater::results
