// highwater-fuzz: mutates inputs of the decoders, keeps those that reach new edges, from one seed; or runs
// one given input. The work is done by a child process, so that whatever kills it (a sanitizer, an assertion,
// a signal) the parent still has the input, and a decoder that does not end is noticed.
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "base/time.h"
#include "tests/fuzz/coverage.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"

// A decoder that believes a length is caught by the allocation it makes. (ASan looks this name up.)
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "max_allocation_size_mb=64:detect_leaks=0"; }

namespace highwater::fuzz {
namespace {

constexpr std::size_t kLongestInput = 4096;
constexpr Duration kHang = seconds(20);

struct Options {
    std::uint64_t seed = 20261130;
    /// Whichever comes first; 0: no such bound.
    std::int64_t seconds = 10;
    std::uint64_t runs = 0;
    std::string crash_file = "fuzz-crash.bin";
    std::string input_file;
};

/// What parent and child share.
struct Shared {
    std::atomic<std::uint64_t> runs;
    std::atomic<std::uint64_t> accepted;
    std::atomic<std::uint64_t> corpus;
    std::atomic<std::uint64_t> edges;
    std::size_t size;
    std::array<std::uint8_t, kLongestInput> input;
};

class Fuzzer {
public:
    Fuzzer(const Options& options, Shared& shared) : options_(options), shared_(shared), rng_(options.seed) {}

    void run() {
        for (Bytes& input : seed_corpus()) {
            if (input.size() > kLongestInput) input.resize(kLongestInput);
            execute(input);
            corpus_.push_back(std::move(input));
        }
        const Instant end = monotonic_now() + seconds(options_.seconds);
        while (options_.runs == 0 || shared_.runs < options_.runs) {
            if (options_.seconds > 0 && shared_.runs % 256 == 0 && monotonic_now() >= end) return;
            // What was found late leads on: half of the time one of the newest.
            const std::size_t newest = std::min<std::size_t>(corpus_.size(), 200);
            Bytes input =
                rng_.chance(50) ? corpus_[corpus_.size() - 1 - rng_.below(newest)] : rng_.pick(corpus_);
            mutate(rng_, input, rng_.pick(corpus_), kLongestInput);
            if (input.size() < kSelectorBytes) input.resize(kSelectorBytes);
            if (execute(input)) corpus_.push_back(std::move(input));
        }
    }

private:
    /// True if it reached what no input had reached.
    bool execute(const Bytes& input) {
        std::copy(input.begin(), input.end(), shared_.input.begin());
        shared_.size = input.size();
        edge_hits().fill(0);
        if (run_target(input)) ++shared_.accepted;
        ++shared_.runs;
        bool fresh = false;
        for (std::size_t edge = 0; edge < kEdges; ++edge) {
            const unsigned hits = edge_hits()[edge];
            if (hits == 0) continue;
            // One, two, three, four to seven, eight and more… count apart, as in AFL.
            std::uint8_t bucket = 1;
            for (unsigned left = hits; left > 1; left >>= 1U)
                bucket = static_cast<std::uint8_t>(bucket << 1U);
            if ((seen_[edge] & bucket) != 0) continue;
            if (seen_[edge] == 0) ++shared_.edges;
            seen_[edge] = static_cast<std::uint8_t>(seen_[edge] | bucket);
            fresh = true;
        }
        shared_.corpus = corpus_.size();
        return fresh;
    }

    const Options& options_;
    Shared& shared_;
    Rng rng_;
    std::vector<Bytes> corpus_;
    std::array<std::uint8_t, kEdges> seen_{};
};

std::uint64_t number(const std::string& text) {
    std::size_t used = 0;
    const std::uint64_t value = std::stoull(text, &used);
    if (used != text.size()) throw std::invalid_argument(text);
    return value;
}

Options parse(int argc, char** argv) {
    Options options;
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& name = arguments[i];
        if (!name.starts_with("--")) {
            options.input_file = name;
            continue;
        }
        if (++i == arguments.size()) throw std::invalid_argument(name + " without a value");
        if (name == "--seed")
            options.seed = number(arguments[i]);
        else if (name == "--seconds")
            options.seconds = static_cast<std::int64_t>(number(arguments[i]));
        else if (name == "--runs")
            options.runs = number(arguments[i]);
        else if (name == "--crash-file")
            options.crash_file = arguments[i];
        else
            throw std::invalid_argument(name);
    }
    // The long form of the tests (scripts/dev test --nightly).
    if (std::getenv("HIGHWATER_NIGHTLY") != nullptr) options.seconds *= 10;
    return options;
}

/// The status of the child as waitpid gives it; a child that hangs is killed.
int watch(pid_t child, const Shared& shared) {
    int status = 0;
    std::uint64_t last = 0;
    Instant changed = monotonic_now();
    while (waitpid(child, &status, WNOHANG) == 0) {
        const Instant now = monotonic_now();
        if (const std::uint64_t runs = shared.runs; runs != last) {
            last = runs;
            changed = now;
        }
        if (now - changed > kHang) {
            fmt::print(stderr, "an input takes more than {} s\n", to_seconds(kHang));
            ::kill(child, SIGKILL);
        }
        std::this_thread::sleep_for(milliseconds(20));
    }
    return status;
}

int report(const Options& options, const Shared& shared, int status) {
    fmt::print("seed {}: {} inputs, {} accepted, {} edges, corpus of {}\n", options.seed, shared.runs.load(),
               shared.accepted.load(), shared.edges.load(), shared.corpus.load());
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        // A fuzzer that accepts nothing, or only what it began with, tests nothing.
        if (shared.accepted > 0 && shared.accepted < shared.runs && shared.edges > 1000) return 0;
        fmt::print(stderr, "the decoders were not reached\n");
        return 1;
    }
    const BytesView input = BytesView(shared.input).first(shared.size);
    std::ofstream(options.crash_file, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
    fmt::print(stderr,
               "FAILED in {} at input {} of seed {}; the input is in {}; again: highwater-fuzz {}\n{}\n",
               target_name(input), shared.runs.load() + 1, options.seed, options.crash_file,
               options.crash_file, to_hex(input));
    return 1;
}

int fuzz(const Options& options) {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    auto* shared = new (memory) Shared{};
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("cannot fork");
    if (child == 0) {
        try {
            std::make_unique<Fuzzer>(options, *shared)->run();
        } catch (const std::exception& error) {
            fmt::print(stderr, "{}\n", error.what());
            std::_Exit(1);
        }
        std::_Exit(0);
    }
    return report(options, *shared, watch(child, *shared));
}

int run_one(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot open " + path);
    const Bytes input{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (input.size() < kSelectorBytes) throw std::runtime_error(path + " is too short");
    fmt::print("{}\n", target_name(input));
    fmt::print("{}\n", run_target(input) ? "accepted" : "refused");
    return 0;
}

}  // namespace
}  // namespace highwater::fuzz

int main(int argc, char** argv) {
    try {
        const auto options = highwater::fuzz::parse(argc, argv);
        return options.input_file.empty() ? highwater::fuzz::fuzz(options)
                                          : highwater::fuzz::run_one(options.input_file);
    } catch (const std::exception& error) {
        fmt::print(stderr,
                   "highwater-fuzz: {}\nusage: highwater-fuzz [--seed N] [--seconds S] [--runs N] "
                   "[--crash-file FILE] | INPUT-FILE\n",
                   error.what());
        return 64;
    }
}
