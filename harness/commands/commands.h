// The verbs of the highwater command line. Each returns the process's exit code (0 valid, 1 invalid, 2
// unknown, 64 bad usage or input, 70 harness fault, 130 interrupted) and prints one JSON object on stdout
// with --json.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "model/scenario.h"

namespace highwater::harness {

inline constexpr int kExitUsage = 64;
inline constexpr int kExitHarness = 70;
inline constexpr int kExitInterrupted = 130;

struct CommonOptions {
    bool json = false;
    std::string command_line;
    const std::atomic<bool>* interrupted = nullptr;
};

struct RunArguments {
    std::string scenario;
    std::string sut = "node";
    std::uint64_t seed = 1;
    std::vector<std::string> settings;
    std::string bugs;
    std::string out = "runs";
};
int run_command(const RunArguments& arguments, const CommonOptions& common);

struct CompareArguments {
    /// Its `sut` may name several, separated by commas: then they are the sides.
    RunArguments run;
    /// "key=value,value", or "" with several systems.
    std::string param;
    int runs = 1;
};
int compare_command(const CompareArguments& arguments, const CommonOptions& common);

struct CheckArguments {
    /// A history file or a run directory.
    std::string path;
};
int check_command(const CheckArguments& arguments, const CommonOptions& common);

struct ReportArguments {
    /// A run directory.
    std::string path;
};
int report_command(const ReportArguments& arguments, const CommonOptions& common);

struct ExplainArguments {
    /// A run directory.
    std::string path;
    /// Which record; neither offset nor value: that of the first violation.
    std::optional<std::int32_t> partition;
    std::optional<Offset> offset;
    std::string value;
};
int explain_command(const ExplainArguments& arguments, const CommonOptions& common);

/// `out`: the directory that will hold run directories. Exit code 1 if the main job cannot run here.
int doctor_command(const std::string& out, const CommonOptions& common);

struct NightlyArguments {
    double minutes = 0;
    /// Unset: another one each day.
    std::optional<std::uint64_t> seed;
    /// Names or files, comma separated; "": all that are bundled.
    std::string scenarios;
    bool directed = false;
    std::string sut = "node";
    /// The bug that must be found, or "none". Unset: one that most scenarios find; on Kafka, which has none,
    /// none.
    std::optional<std::string> canary;
    std::string bugs;
    std::string out = "runs";
    int jobs = 1;
};
int nightly_command(const NightlyArguments& arguments, const CommonOptions& common);

int list_command(const CommonOptions& common);

/// "highwater: message" on stderr; returns `code`.
int report_error(const std::string& message, int code);
/// The command that runs this again: scenario, seed, settings (`more` too) and bugs, for a shell.
std::string reproduce_command(const RunArguments& arguments, std::uint64_t seed,
                              const std::vector<Setting>& more = {});
/// Loads a scenario by name or path with --set applied. Errors are bad input.
Result<Scenario> load_named_scenario(const RunArguments& arguments, const std::vector<Setting>& more = {});

}  // namespace highwater::harness
