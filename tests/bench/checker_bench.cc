// highwater-bench: how fast a history is read and judged, and how much memory that takes, beside the budgets.
// The history is what a run writes: several producers, consumers that follow, a complete final read. Prints
// figures, asserts nothing.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "base/rng.h"
#include "base/time.h"
#include "checker/checker.h"
#include "model/history.h"

namespace highwater {
namespace {

constexpr double kBudgetRate = 1.5e6;   // operations a second, load and check, one core
constexpr double kBudgetBytes = 300.0;  // of memory at the peak, per operation
constexpr std::int64_t kProducers = 8;
constexpr std::int64_t kChunk = 500;  // records a read
constexpr std::int64_t kTimedOutOf = 100;

class Writer {
public:
    explicit Writer(const std::string& path) : file_(std::fopen(path.c_str(), "wb"), &std::fclose) {}
    void line(const std::string& text) {
        std::fwrite(text.data(), 1, text.size(), file_.get());
        std::fputc('\n', file_.get());
    }

private:
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

Value value_at(std::int64_t n) { return make_value(1 + n % kProducers, 1 + n / kProducers); }

Operation read_of(std::int64_t from, std::int64_t end, std::int64_t at) {
    Poll poll;
    poll.from = from;
    poll.high_watermark = end;
    poll.broker = 1;
    for (std::int64_t n = from; n < end; ++n) poll.records.push_back({n, value_at(n)});
    return {{at}, {at + 500}, 0, std::move(poll)};
}

/// One client in a hundred is not told, and its record is there all the same.
void write_history(const std::string& path, std::int64_t appends) {
    Writer writer(path);
    Rng rng(1);
    HistoryMeta meta;
    meta.case_name = "bench";
    writer.line(format_meta(meta));
    constexpr std::int64_t kGap = 100'000;
    for (std::int64_t n = 0; n < appends; ++n) {
        Produce produce;
        produce.value = value_at(n);
        const bool told = n % kTimedOutOf != 0;
        produce.status = told ? Outcome::Ok : Outcome::Info;
        produce.offset = told ? n : kUnknownOffset;
        if (!told) produce.error = "REQUEST_TIMED_OUT";
        produce.acks = std::int16_t{-1};
        produce.broker = 1;
        const std::int64_t at = n * kGap;
        const std::int64_t took = kGap + static_cast<std::int64_t>(rng.below(4 * kGap));
        writer.line(format_operation({{at}, {at + took}, 0, std::move(produce)},
                                     fmt::format("p{}", 1 + n % kProducers)));
        if ((n + 1) % kChunk == 0)
            writer.line(format_operation(read_of(n + 1 - kChunk, n + 1, at + 5 * kGap), "c1"));
    }
    for (std::int64_t from = 0; from < appends; from += kChunk) {
        Operation operation =
            read_of(from, std::min(from + kChunk, appends), appends * kGap + from + 10 * kGap);
        auto& poll = *operation.as<Poll>();
        poll.final = true;
        poll.high_watermark = appends;
        poll.complete = from + kChunk >= appends;
        writer.line(format_operation(operation, "final"));
    }
}

double peak_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024;
}

/// Of this process, user and system: other work on the machine must not count.
Duration cpu_time() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto of = [](const timeval& time) {
        return seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

int run(std::int64_t appends) {
    const std::string path =
        (std::filesystem::temp_directory_path() / fmt::format("highwater-bench-{}.jsonl", monotonic_now().ns))
            .string();
    write_history(path, appends);
    const double before = peak_bytes();
    const Duration began = cpu_time();
    const auto history = read_history(path);
    const Duration loaded = cpu_time();
    std::filesystem::remove(path);
    if (!history) {
        fmt::print(stderr, "{}\n", history.error().message);
        return 70;
    }
    const double held = peak_bytes();
    const Verdict verdict = checker::check({*history, nullptr, {}, {}});
    const Duration checked = cpu_time();
    const auto operations = static_cast<double>(history->operations.size());
    const double rate = operations / to_seconds(checked - began);
    fmt::print(
        "checker: {} operations, CPU time: load {:.2f} s, check {:.2f} s, {:.2f} M ops/s ({:.2f} of the "
        "budget), "
        "{:.0f} B per operation at the peak ({:.0f} after loading; budget {:.0f}), verdict {}\n",
        history->operations.size(), to_seconds(loaded - began), to_seconds(checked - loaded), rate / 1e6,
        rate / kBudgetRate, (peak_bytes() - before) / operations, (held - before) / operations, kBudgetBytes,
        verdict_name(verdict.kind));
    return 0;
}

}  // namespace
}  // namespace highwater

int main(int argc, char** argv) { return highwater::run(argc > 1 ? std::atoll(argv[1]) : 1'000'000); }
