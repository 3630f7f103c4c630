// highwater-lag-bench: the third way out of the ISR, measured: how long after a follower was last caught up
// (as its leader tells) it is out of the ISR (by the timestamp of the controller's record), as a ratio to
// replica.lag.time.max.ms. Runs isr-shrink-lagging again and again, each time with the hold at another phase
// of the leader's check, which comes every half lag. Prints figures, asserts nothing about them. Usage:
// highwater-lag-bench [SUT [LAG_SECONDS [RUNS]]], "kafka", 3 and 10 unless said.
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

#include "model/trace.h"

namespace highwater {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScenario = "isr-shrink-lagging";
constexpr const char* kFault = "starved";

struct Asked {
    std::string sut = "kafka";
    double lag_seconds = 3;
    int runs = 10;
};

struct Shrink {
    std::string verdict;
    /// From when the leader last saw it caught up to the controller's record, by that record's timestamp.
    double seconds = 0;
    /// What the controller wrote it for: "alter-partition" is the leader's own request.
    std::string cause;
    bool fenced = false;
};

std::string program() {
    const char* const given = std::getenv("HIGHWATER_PROGRAM");
    return given != nullptr ? given : std::string(HW_BIN_DIR) + "/highwater";
}

nlohmann::json read_json(const fs::path& file) {
    std::ifstream in(file);
    return nlohmann::json::parse(in);
}

/// When the hold was in force; whom it starved.
std::pair<Instant, BrokerId> strike_of(const fs::path& run_dir) {
    const nlohmann::json schedule = read_json(run_dir / "schedule.json");
    for (const nlohmann::json& fault : schedule.at("faults")) {
        if (fault.at("id") == kFault)
            return {Instant{fault.at("effective").get<std::int64_t>()},
                    fault.at("paths").at(0).at(1).get<BrokerId>()};
    }
    return {Instant{}, kNoBroker};
}

/// nullopt: it did not leave, or the trace cannot be read.
std::optional<Shrink> shrink_in(const fs::path& run_dir) {
    const auto trace = read_trace({(run_dir / "trace.jsonl").string()});
    if (!trace) {
        fmt::print(stderr, "{}\n", trace.error().message);
        return std::nullopt;
    }
    const auto [strike, starved] = strike_of(run_dir);
    const auto in = [](const std::vector<BrokerId>& ids, BrokerId id) {
        return std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    Shrink shrink;
    bool left = false;
    std::optional<Instant> caught_up;
    for (const TraceEvent& line : trace->events) {
        if (line.kind == TraceKind::Fence && line.broker == starved && line.text != "registered")
            shrink.fenced = true;
        if (!left && line.kind == TraceKind::IsrProposed) {
            for (const TraceReplica& replica : line.replicas) {
                if (replica.id == starved) caught_up = line.at - replica.behind;
            }
        }
        if (left || line.kind != TraceKind::Partition || line.at < strike || in(line.isr, starved)) continue;
        left = true;
        // A fence needs no proposal: then what counts is the strike.
        shrink.seconds = to_seconds(line.at - caught_up.value_or(strike));
        shrink.cause = line.text;
    }
    return left ? std::optional(shrink) : std::nullopt;
}

std::optional<Shrink> run_once(const Asked& asked, const fs::path& out, int run) {
    // The leader looks every half lag, from whenever it started: phases are spread over one round.
    const double phase = asked.lag_seconds / 2 * run / asked.runs;
    const fs::path said = out / fmt::format("said-{}.json", run);
    const std::string command = fmt::format(
        "'{}' run {} --sut {} --seed {} --set replica.lag.time.max.ms={} --set fault.{}.at={}ms --out '{}' "
        "--json "
        ">'{}' 2>'{}.log'",
        program(), kScenario, asked.sut, run + 1, static_cast<int>(asked.lag_seconds * 1000), kFault,
        1000 + static_cast<int>(phase * 1000), out.string(), said.string(), said.string());
    const int status = std::system(command.c_str());
    const nlohmann::json result = nlohmann::json::parse(std::ifstream(said), nullptr, false);
    if (!result.is_object()) {
        fmt::print(stderr, "run {} ended with {}: see {}.log\n", run + 1, WEXITSTATUS(status), said.string());
        return std::nullopt;
    }
    const fs::path run_dir = result.at("run_dir").get<std::string>();
    auto shrink = shrink_in(run_dir);
    if (shrink) shrink->verdict = result.at("verdict");
    return shrink;
}

int lag_bench(const Asked& asked) {
    std::string pattern = (fs::temp_directory_path() / "highwater-lag-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
        fmt::print(stderr, "no temporary directory: {}\n", pattern);
        return 1;
    }
    std::vector<double> ratios;
    int by_leader = 0;
    int fenced = 0;
    for (int run = 0; run < asked.runs; ++run) {
        const auto shrink = run_once(asked, pattern, run);
        if (!shrink) {
            fmt::print("{:>2}  the starved follower did not leave the ISR; files: {}\n", run + 1, pattern);
            return 1;
        }
        ratios.push_back(shrink->seconds / asked.lag_seconds);
        by_leader += shrink->cause == "alter-partition" ? 1 : 0;
        fenced += shrink->fenced ? 1 : 0;
        fmt::print("{:>2}  {}  left after {:.3f} s = {:.2f} of the lag time, {}, {}\n", run + 1,
                   shrink->verdict, shrink->seconds, ratios.back(), shrink->cause,
                   shrink->fenced ? "FENCED" : "never fenced");
        std::fflush(stdout);
    }
    fs::remove_all(pattern);
    std::sort(ratios.begin(), ratios.end());
    fmt::print(
        "{}, replica.lag.time.max.ms {:.0f}: {} of {} left by the leader's AlterPartition, {} fenced; ratio "
        "to the "
        "lag time {:.2f} to {:.2f}, median {:.2f} (rule: above 1, at most 1.5)\n",
        asked.sut, asked.lag_seconds * 1000, by_leader, asked.runs, fenced, ratios.front(), ratios.back(),
        ratios[ratios.size() / 2]);
    return 0;
}

}  // namespace
}  // namespace highwater

int main(int argc, char** argv) {
    highwater::Asked asked;
    if (argc > 1) asked.sut = argv[1];
    if (argc > 2) asked.lag_seconds = std::strtod(argv[2], nullptr);
    if (argc > 3) asked.runs = std::atoi(argv[3]);
    const bool plain = std::all_of(asked.sut.begin(), asked.sut.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.' || c == '/' ||
               c == '-';
    });
    if (!plain || asked.lag_seconds <= 0 || asked.runs < 1) {
        fmt::print(stderr, "usage: highwater-lag-bench [SUT [LAG_SECONDS [RUNS]]]\n");
        return 64;
    }
    return highwater::lag_bench(asked);
}
