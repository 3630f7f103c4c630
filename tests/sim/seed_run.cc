#include "tests/sim/seed_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/sim/chaos.h"
#include "tests/sim/ending.h"

namespace highwater::sim {
namespace {

/// Unclean elections and power losses never together: then nothing is promised.
bool has_unclean(std::uint64_t seed) { return seed % 4 == 0; }
bool has_power_losses(std::uint64_t seed) { return seed % 4 == 1; }

ClusterOptions options_of(std::uint64_t seed, const node::Bugs& bugs, bool verbose) {
    static const std::vector<std::vector<BrokerId>> kAssignment = {{1, 2, 3}, {2, 3, 1}, {3, 1, 2}};
    ClusterOptions options;
    options.seed = seed;
    options.unclean = has_unclean(seed);
    options.min_isr = 1 + static_cast<std::int32_t>(seed / 4 % 2);
    options.assignment.assign(kAssignment.begin(), kAssignment.begin() + 1 + static_cast<int>(seed / 8 % 3));
    if (seed / 24 % 4 == 0) options.fetch_max_bytes = 1;
    options.elr = seed / 32 % 4 != 0;
    options.bugs = bugs;
    options.verbose = verbose;
    return options;
}

class SeedRun {
public:
    SeedRun(std::uint64_t seed, const node::Bugs& bugs, bool verbose)
        : cluster_(options_of(seed, bugs, verbose)),
          rng_(~seed),
          chaos_(cluster_, rng_.fork(), has_power_losses(seed)),
          ending_(cluster_) {
        Scheduler& scheduler = cluster_.scheduler();
        Network& network = cluster_.network();
        // Busy logs and nearly idle ones: some mistakes need an election with no write around it.
        const Duration interval = milliseconds(rng_.pick(std::vector{20, 80, 400, 1500}));
        for (const BrokerId id : {150, 151}) {
            producers_.push_back(
                std::make_unique<Producer>(Producer::Options{id, cluster_.partitions(), interval, id == 151},
                                           scheduler, network, rng_.fork(), cluster_, box_));
        }
        BrokerId next = 160;
        for (const TopicPartition& partition : cluster_.partitions()) {
            consumers_.push_back(std::make_unique<Consumer>(next++, scheduler, network, rng_.fork(),
                                                            partition, milliseconds(60), box_));
        }
    }

    /// Judges what was seen, the earliest first.
    void run(SeedResult& result) {
        std::string wrong = play();
        const auto& violations = cluster_.invariants().violations();
        if (!violations.empty()) {
            const Violation& first = violations.front();
            result.broken = first.invariant;
            result.failure = fmt::format("{}: {}, at {:.6f} s", first.invariant, first.detail,
                                         static_cast<double>(first.at.ns) / 1e9);
        } else if (!anomalies().empty()) {
            result.broken = anomalies().front().kind;
            result.failure = fmt::format("{}: {}", result.broken, anomalies().front().detail);
        } else if (!wrong.empty()) {
            result.broken = wrong.substr(0, wrong.find(':'));
            result.failure = std::move(wrong);
        }
        result.counts = cluster_.counts();
        result.simulated = cluster_.now() - Instant{0};
    }

    [[nodiscard]] const Cluster& cluster() const { return cluster_; }

private:
    /// "" or "kind: what is wrong" at the end. Returns early when an invariant is broken.
    std::string play() {
        if (!cluster_.start()) return "stuck: the cluster did not start";
        for (const auto& producer : producers_) producer->start();
        for (const auto& consumer : consumers_) consumer->start();
        chaos_.start();
        cluster_.run_for(seconds(rng_.between(10, 40)));
        chaos_.stop();
        for (const auto& producer : producers_) producer->stop();
        for (const auto& consumer : consumers_) consumer->stop();
        cluster_.network().set_delay(std::chrono::microseconds(50), std::chrono::microseconds(500));
        cluster_.heal();
        if (!cluster_.run_until(kLiveness, [&] { return cluster_.settled() && quiet(); }))
            return ending_.stuck();
        for (const TopicPartition& partition : cluster_.partitions()) {
            if (std::string wrong = ending_.append_and_read(partition); !wrong.empty()) return wrong;
        }
        if (cluster_.invariants().unclean_elections() > 0) return {};  // what clients saw may be gone
        for (const TopicPartition& partition : cluster_.partitions()) {
            box_.judge(partition, cluster_.invariants().replica(cluster_.leader(partition), partition).log);
        }
        return {};
    }

    [[nodiscard]] std::vector<Anomaly> anomalies() const {
        return cluster_.invariants().unclean_elections() > 0 ? std::vector<Anomaly>{} : box_.anomalies();
    }

    [[nodiscard]] bool quiet() const {
        return std::all_of(producers_.begin(), producers_.end(),
                           [](const auto& producer) { return producer->idle(); });
    }

    Cluster cluster_;
    Rng rng_;
    Chaos chaos_;
    Ending ending_;
    BlackBox box_;
    std::vector<std::unique_ptr<Producer>> producers_;
    std::vector<std::unique_ptr<Consumer>> consumers_;
};

}  // namespace

SeedResult run_seed(std::uint64_t seed, const node::Bugs& bugs, bool verbose) {
    SeedRun run(seed, bugs, verbose);
    SeedResult result;
    run.run(result);
    if (!result.failure.empty()) {
        const ClusterOptions& options = run.cluster().options();
        result.failure = fmt::format(
            "seed {} (unclean {}, elr {}, min isr {}, {} partitions{}): {}\n  again: HIGHWATER_SIM_SEED={} "
            "sim_tests "
            "--gtest_filter=Sim.OneSeed",
            seed, options.unclean, options.elr, options.min_isr, options.assignment.size(),
            has_power_losses(seed) ? ", power losses" : "", result.failure, seed);
    }
    return result;
}

}  // namespace highwater::sim
