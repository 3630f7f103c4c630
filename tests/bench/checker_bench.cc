// highwater-bench: how fast a history is read and judged, beside the budget. Prints ratios, asserts nothing.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/time.h"
#include "checker/checker.h"
#include "model/history.h"

namespace highwater {
namespace {

constexpr double kBudget = 1.5e6;  // operations a second, load and check, one core

std::string make_history(std::int64_t appends) {
    HistoryMeta meta;
    meta.case_name = "bench";
    std::string text = format_meta(meta) + "\n";
    for (std::int64_t n = 0; n < appends; ++n) {
        Produce produce;
        produce.value = make_value(1, n + 1);
        produce.offset = n;
        produce.status = Outcome::Ok;
        produce.acks = std::int16_t{-1};
        text += format_operation({{n * 1000}, {n * 1000 + 500}, 0, std::move(produce)}, "p1") + "\n";
    }
    constexpr std::int64_t kChunk = 500;
    for (std::int64_t from = 0; from < appends; from += kChunk) {
        Poll poll;
        poll.from = from;
        poll.final = true;
        poll.high_watermark = appends;
        poll.complete = from + kChunk >= appends;
        for (std::int64_t n = from; n < std::min(from + kChunk, appends); ++n) {
            poll.records.push_back({n, make_value(1, n + 1)});
        }
        const std::int64_t at = appends * 1000 + from + 1000;
        text += format_operation({{at}, {at + 500}, 0, std::move(poll)}, "final") + "\n";
    }
    return text;
}

int run(std::int64_t appends) {
    const std::string text = make_history(appends);
    const Instant began = monotonic_now();
    const auto history = parse_history(text, "bench");
    const Instant loaded = monotonic_now();
    if (!history) {
        fmt::print(stderr, "{}\n", history.error().message);
        return 70;
    }
    const Verdict verdict = checker::check({*history, nullptr, {}, {}});
    const Instant checked = monotonic_now();
    const double rate = static_cast<double>(history->operations.size()) / to_seconds(checked - began);
    fmt::print(
        "checker: {} operations, load {:.2f} s, check {:.2f} s, {:.2f} M ops/s, {:.2f} of the budget, "
        "verdict {}\n",
        history->operations.size(), to_seconds(loaded - began), to_seconds(checked - loaded), rate / 1e6,
        rate / kBudget, verdict_name(verdict.kind));
    return 0;
}

}  // namespace
}  // namespace highwater

int main(int argc, char** argv) { return highwater::run(argc > 1 ? std::atoll(argv[1]) : 1'000'000); }
