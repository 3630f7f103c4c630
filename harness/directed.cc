#include "harness/directed.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/rng.h"
#include "model/nemeses.h"

namespace highwater::harness {
namespace {

/// A nemesis that waits in vain (the leader it wants to change has just changed) is given up after this time;
/// longer than the longest lag time and a half.
constexpr int kDeadlineSeconds = 20;
/// Timers that stand in different relations: which one takes a replica out of the ISR is part of the search.
struct Timers {
    int session_ms;
    int lag_ms;
};
constexpr std::array kTimers{Timers{3000, 2000}, Timers{2000, 4000}, Timers{3000, 10'000}};
constexpr std::array kLengthsMs{200, 500, 1000, 2000, 4000};
constexpr std::array kDelaysMs{20, 100, 300, 1000};
/// Its length lies between two restarts: drawn, it would be most of the run.
constexpr std::string_view kOrdered = "kill-all-restart-in-order";

template <class T, std::size_t N>
const T& one_of(Rng& rng, const std::array<T, N>& values) {
    return values.at(static_cast<std::size_t>(rng.below(N)));
}

std::string cluster(Rng& rng) {
    const Timers& timers = one_of(rng, kTimers);
    return fmt::format(
        "[cluster]\n"
        "brokers = 3\n"
        "broker.session.timeout.ms = {}\n"
        "broker.heartbeat.interval.ms = 500\n"
        "replica.lag.time.max.ms = {}\n\n"
        "[topic]\n"
        "assignment = [[1, 2, 3], [2, 3, 1]]\n"
        "min.insync.replicas = 2\n"
        "unclean.leader.election.enable = false\n\n"
        "[[workload]]\n"
        "kind = \"append\"\n"
        "acks = [\"all\", \"all\", \"1\"]\n"
        "rate = \"{}/s\"\n"
        "producers = 4\n"
        "consumers = 2\n\n",
        timers.session_ms, timers.lag_ms, rng.between(5, 30) * 10);
}

/// All the time, so that what is asked and what is answered cross each other.
std::string slow_metadata(Rng& rng) {
    return fmt::format(
        "[[fault]]\n"
        "id = \"slow\"\n"
        "at = \"200ms\"\n"
        "kind = \"delay\"\n"
        "path = \"controller->broker:any\"\n"
        "delay = \"{}ms\"\n\n",
        one_of(rng, kDelaysMs));
}

std::string strike(Rng& rng, int number) {
    const auto all = nemeses();
    const Nemesis& nemesis = all[static_cast<std::size_t>(rng.below(all.size()))];
    const auto wait_ms = rng.between(0, 3000);
    // Whom a nemesis strikes must be there; healthy the cluster need not be.
    std::string fault = fmt::format("[[fault]]\nid = \"ready{}\"\nkind = \"await\"\n", number);
    fault += number == 1 ? fmt::format("at = \"{}ms\"\n", 500 + wait_ms)
                         : fmt::format("after = \"n{} + {}ms\"\n", number - 1, wait_ms);
    fault += fmt::format("until = \"leader != none and isr.size >= 2\"\ndeadline = \"{}s\"\n\n",
                         2 * kDeadlineSeconds);
    fault += fmt::format("[[fault]]\nid = \"n{}\"\nafter = \"ready{}\"\nnemesis = \"{}\"\n", number, number,
                         nemesis.name);
    const int length_ms = one_of(rng, kLengthsMs);
    if (nemesis.name != kOrdered) fault += fmt::format("for = \"{}ms\"\n", length_ms);
    return fault + fmt::format("deadline = \"{}s\"\n\n", kDeadlineSeconds);
}

}  // namespace

std::string directed_name(std::uint64_t seed) { return fmt::format("directed-{}", seed); }

std::string directed_scenario(std::uint64_t seed) {
    Rng rng(seed);
    std::string text = fmt::format(
        "name = \"{}\"\n"
        "title = \"directed nemeses one after another, at times drawn from seed {}\"\n\n",
        directed_name(seed), seed);
    text += cluster(rng);
    if (rng.below(3) == 0) text += slow_metadata(rng);
    const auto strikes = rng.between(1, 3);
    for (int number = 1; number <= strikes; ++number) text += strike(rng, number);
    return text +
           "[heal]\n"
           "restart = \"all\"\n"
           "progress_within = \"60s\"\n\n"
           "[expect]\n"
           "never = [\"unclean-election\"]\n";
}

}  // namespace highwater::harness
