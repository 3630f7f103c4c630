#include "tests/sim/seed_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/sim/chaos.h"

namespace highwater::sim {
namespace {

constexpr Duration kLiveness = seconds(60);

ClusterOptions options_of(std::uint64_t seed, bool verbose) {
    ClusterOptions options;
    options.seed = seed;
    options.unclean = seed % 2 == 0;
    options.min_isr = 1 + static_cast<std::int32_t>(seed / 2 % 2);
    if (seed / 4 % 2 == 1) options.assignment = {{1, 2, 3}, {2, 3, 1}};
    options.verbose = verbose;
    return options;
}

class SeedRun {
public:
    SeedRun(std::uint64_t seed, bool verbose)
        : cluster_(options_of(seed, verbose)),
          rng_(~seed),
          chaos_(cluster_, rng_.fork()),
          reader_(240, cluster_.scheduler(), cluster_.network()) {
        Scheduler& scheduler = cluster_.scheduler();
        Network& network = cluster_.network();
        // Busy logs and nearly idle ones: some mistakes need an election with no write around it.
        const Duration interval = milliseconds(rng_.pick(std::vector{20, 80, 400, 1500}));
        for (const BrokerId id : {150, 151}) {
            producers_.push_back(std::make_unique<Producer>(id, scheduler, network, rng_.fork(), cluster_,
                                                            cluster_.partitions(), interval));
        }
        BrokerId next = 160;
        for (const TopicPartition& partition : cluster_.partitions()) {
            consumers_.push_back(std::make_unique<Consumer>(next++, scheduler, network, rng_.fork(),
                                                            partition, milliseconds(60)));
        }
    }

    /// "" or what is wrong.
    std::string run() {
        if (!cluster_.start()) return "the cluster did not start";
        for (const auto& producer : producers_) producer->start();
        for (const auto& consumer : consumers_) consumer->start();
        chaos_.start();
        cluster_.run_for(seconds(rng_.between(10, 40)));
        chaos_.stop();
        for (const auto& producer : producers_) producer->stop();
        for (const auto& consumer : consumers_) consumer->stop();
        cluster_.network().set_delay(std::chrono::microseconds(50), std::chrono::microseconds(500));
        cluster_.heal();
        if (!cluster_.run_until(kLiveness, [&] { return cluster_.settled() && quiet(); })) return stuck();
        for (const TopicPartition& partition : cluster_.partitions()) {
            if (std::string wrong = append_and_read(partition); !wrong.empty()) return wrong;
        }
        return acknowledged_is_there();
    }

    [[nodiscard]] const Cluster& cluster() const { return cluster_; }

private:
    [[nodiscard]] bool quiet() const {
        return std::all_of(producers_.begin(), producers_.end(),
                           [](const auto& producer) { return producer->idle(); });
    }

    std::string stuck() const {
        std::string text = "after heal the cluster did not settle:";
        for (const TopicPartition& id : cluster_.partitions()) {
            text += fmt::format(" {} leader {} isr of {};", id.to_string(), cluster_.leader(id),
                                cluster_.isr(id).size());
            for (const BrokerId broker : kBrokers) {
                const node::Partition* replica = cluster_.partition(broker, id);
                if (replica == nullptr)
                    text += fmt::format(" {}: none", broker);
                else
                    text += fmt::format(" {}: hw {} leo {} epoch {}", broker, replica->high_watermark(),
                                        replica->log().log_end_offset(), replica->leader_epoch());
            }
        }
        return text;
    }

    /// An acks=all append succeeds, and every replica then serves the same log.
    std::string append_and_read(const TopicPartition& id) {
        wire::ErrorCode error = wire::ErrorCode::UnknownServerError;
        reader_.call<wire::ProduceResponse>(
            cluster_.leader(id),
            test::produce_request(id.topic, id.partition, -1, 5000, test::batch_of({1}, 0)),
            test::kProduceVersion, seconds(10), [&](const Result<wire::ProduceResponse>& answer) {
                if (answer) error = answer->responses.at(0).partition_responses.at(0).error_code;
            });
        cluster_.run_until(seconds(10), [&] { return !reader_.busy(); });
        if (error != wire::ErrorCode::None)
            return fmt::format("after heal an append failed: {}", wire::error_name(error));
        if (!cluster_.run_until(seconds(10), [&] { return cluster_.settled(); })) return stuck();
        const std::vector<LogRecord>& log = cluster_.invariants().replica(cluster_.leader(id), id).log;
        for (const BrokerId broker : kBrokers) {
            if (cluster_.invariants().replica(broker, id).log != log)
                return fmt::format("broker {} has another log", broker);
            if (read_all(broker, id) != log.size())
                return fmt::format("broker {} does not serve its whole log", broker);
        }
        return {};
    }

    std::size_t read_all(BrokerId broker, const TopicPartition& id) {
        const std::vector<LogRecord>& log = cluster_.invariants().replica(broker, id).log;
        std::size_t read = 0;
        for (bool more = true; more && read < log.size();) {
            more = false;
            reader_.call<wire::FetchResponse>(
                broker, test::fetch_request(id.topic, id.partition, static_cast<Offset>(read), 0),
                test::kFetchVersion, seconds(5), [&](const Result<wire::FetchResponse>& answer) {
                    if (!answer) return;
                    const auto records =
                        test::records_of(answer->responses.at(0).partitions.at(0).records.value_or(Bytes{}));
                    if (!records) return;
                    for (const wire::Record& record : *records) {
                        if (record.offset != static_cast<Offset>(read)) continue;
                        if (read >= log.size() || test::value_of(record) != log[read].value) return;
                        ++read;
                        more = true;
                    }
                });
            cluster_.run_until(seconds(10), [&] { return !reader_.busy(); });
        }
        return read;
    }

    /// What the clients were told; with an unclean election only what the invariants still remember must be
    /// there.
    std::string acknowledged_is_there() const {
        if (cluster_.invariants().unclean_elections() > 0) return {};
        for (const auto& producer : producers_) {
            for (const Producer::Acknowledged& of : producer->acknowledged()) {
                const auto& log =
                    cluster_.invariants().replica(cluster_.leader(of.partition), of.partition).log;
                const auto at = static_cast<std::size_t>(of.offset);
                if (at < log.size() && log[at].value == of.value) continue;
                return fmt::format("{} at {} was acknowledged with acks=all and is lost", of.value,
                                   of.offset);
            }
        }
        return {};
    }

    Cluster cluster_;
    Rng rng_;
    Chaos chaos_;
    Client reader_;
    std::vector<std::unique_ptr<Producer>> producers_;
    std::vector<std::unique_ptr<Consumer>> consumers_;
};

}  // namespace

SeedResult run_seed(std::uint64_t seed, bool verbose) {
    SeedRun run(seed, verbose);
    SeedResult result;
    result.failure = run.run();
    const Cluster& cluster = run.cluster();
    if (const auto& violations = cluster.invariants().violations(); !violations.empty()) {
        result.failure =
            fmt::format("{}: {}, at {:.6f} s", violations.front().invariant, violations.front().detail,
                        static_cast<double>(violations.front().at.ns) / 1e9);
    }
    if (!result.failure.empty()) {
        result.failure = fmt::format(
            "seed {} (unclean {}, min isr {}): {}\n  again: HIGHWATER_SIM_SEED={} sim_tests "
            "--gtest_filter=Sim.OneSeed",
            seed, cluster.options().unclean, cluster.options().min_isr, result.failure, seed);
    }
    result.counts = cluster.counts();
    result.simulated = cluster.now() - Instant{0};
    return result;
}

}  // namespace highwater::sim
