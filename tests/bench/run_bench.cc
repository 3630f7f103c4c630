// highwater-run-bench: what `highwater run` costs beyond its own schedule (cluster, final reads, check,
// report), beside the budget. Prints figures, asserts nothing about them.
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace highwater {
namespace {

namespace fs = std::filesystem;

constexpr int kRepetitions = 3;
constexpr double kBudgetSeconds = 2;
/// Its first fault is due one second after the load began; what comes between that fault and the end of heal
/// is schedule.
constexpr const char* kScenario = "min-isr-rejection";
constexpr double kBeforeTheFirstFault = 1;

std::optional<double> overhead(const fs::path& out, int seed) {
    const std::string command = fmt::format("'{}/highwater' run {} --seed {} --out '{}' >'{}/said' 2>&1",
                                            HW_BIN_DIR, kScenario, seed, out.string(), out.string());
    const Instant began = monotonic_now();
    const int status = std::system(command.c_str());
    const double wall = to_seconds(monotonic_now() - began);
    if (status != 0) {
        fmt::print(stderr, "{} ended with {}: see {}/said\n", kScenario, WEXITSTATUS(status), out.string());
        return std::nullopt;
    }
    std::ifstream file(out / kScenario / "latest" / "run.json");
    if (!file) file.open(out / "latest" / "run.json");
    const nlohmann::json run = nlohmann::json::parse(file);
    const double schedule = (run.at("healed").get<double>() - run.at("first_fault").get<double>()) / 1e9;
    return wall - kBeforeTheFirstFault - schedule;
}

int run_bench() {
    std::string pattern = (fs::temp_directory_path() / "highwater-run-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
        fmt::print(stderr, "no temporary directory: {}\n", pattern);
        return 1;
    }
    const fs::path out = pattern;
    std::vector<double> seconds;
    for (int seed = 1; seed <= kRepetitions; ++seed) {
        const auto one = overhead(out, seed);
        if (!one) return 1;
        seconds.push_back(*one);
    }
    fs::remove_all(out);
    std::sort(seconds.begin(), seconds.end());
    fmt::print(
        "a run of {} beyond its own schedule: {:.2f} s (median of {}, worst {:.2f}), {:.2f} of the budget of "
        "{:.0f} s\n",
        kScenario, seconds[seconds.size() / 2], kRepetitions, seconds.back(),
        seconds[seconds.size() / 2] / kBudgetSeconds, kBudgetSeconds);
    return 0;
}

}  // namespace
}  // namespace highwater

int main() { return highwater::run_bench(); }
