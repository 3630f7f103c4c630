// highwater-kafka-bench: the same work on our node and on Apache Kafka, one run of each in turn, with the
// same client, the same batches, replication factor and timers, started as a run of the harness starts them.
// Prints medians and their ratios, asserts nothing. Usage: highwater-kafka-bench [ROUNDS [SUT]]
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "harness/sut.h"
#include "tests/node_broker/process_cluster.h"

namespace highwater::test {
namespace {

constexpr Duration kStartDeadline = seconds(60);
/// A JVM compiles what it runs often; nothing is counted before that.
constexpr Duration kWarmUp = seconds(4);
constexpr Duration kLoad = seconds(4);
constexpr int kPropagations = 200;

/// Of one system: what was measured in each round, by name.
using Figures = std::map<std::string, std::vector<double>>;

struct Row {
    std::string name;
    std::string unit;
    /// More is better.
    bool more = false;
};

double percentile(std::vector<double> values, double share) {
    if (values.empty()) throw std::runtime_error("nothing was measured");
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1,
                           static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

void await(const std::string& what, const std::function<bool()>& condition) {
    if (!eventually(seconds(60), condition)) throw std::runtime_error("not within 60 s: " + what);
}

Scenario bench_scenario() {
    Scenario scenario;
    scenario.name = "bench";
    scenario.cluster.brokers = 3;
    scenario.cluster.controllers = 1;
    scenario.cluster.properties = {{"broker.session.timeout.ms", "3000"},
                                   {"broker.heartbeat.interval.ms", "500"}};
    scenario.topic.name = "t";
    scenario.topic.assignment = {{1, 2, 3}};
    scenario.topic.configs = {{"min.insync.replicas", "2"}};
    return scenario;
}

Bytes batch_of_size(int records, std::size_t value_size) {
    wire::BatchSpec spec;
    for (int i = 0; i < records; ++i) {
        wire::Record record;
        record.value = Bytes(value_size, 0x61);
        spec.records.push_back(std::move(record));
    }
    return wire::encode_batch(spec);
}

std::optional<Offset> produce(WireClient& client, std::int16_t acks, const Bytes& batch) {
    const auto answer =
        client.call<wire::ProduceResponse>(produce_request("t", 0, acks, 5000, batch), kProduceVersion);
    if (!answer) return std::nullopt;
    const auto& partition = answer->responses.at(0).partition_responses.at(0);
    if (partition.error_code != wire::ErrorCode::None) return std::nullopt;
    return partition.base_offset;
}

/// One cluster, through all of the work.
class Round {
public:
    Round(const harness::Sut& sut, Figures& figures) : figures_(figures) {
        harness::ClusterOptions options;
        options.run_dir = directory_.path();
        options.seed = 1;
        options.clients = 1;
        cluster_ = harness::make_cluster(sut, scenario_, options);
        const Instant began = monotonic_now();
        if (Status started = cluster_->start(began + kStartDeadline); !started)
            throw std::runtime_error(started.error().message);
        WireClient first = client(1);
        const Bytes one = batch_of_size(1, 100);
        await("the first record", [&] { return produce(first, -1, one).has_value(); });
        note("start to the first acks=all ack", to_millis(monotonic_now() - began));
    }

    void work() {
        load("", -1, 8, 1, kWarmUp);
        load("", -1, 8, 160, kWarmUp);
        load("acks=1, 1 connection", 1, 1, 1, kLoad);
        load("acks=1, 8 connections", 1, 8, 1, kLoad);
        load("acks=all, 1 connection", -1, 1, 1, kLoad);
        load("acks=all, 8 connections", -1, 8, 1, kLoad);
        load("acks=all, 8 connections, batches of 160", -1, 8, 160, kLoad);
        propagation();
        double resident = 0;
        for (const BrokerId id : {1, 2, 3})
            resident = std::max(resident, static_cast<double>(resident_bytes(cluster_->pid(id))) / 1048576.0);
        note("resident memory of a broker, the largest", resident);
        failover();
    }

private:
    void note(const std::string& name, double figure) { figures_[name].push_back(figure); }
    WireClient client(BrokerId id) { return WireClient(cluster_->direct_address(id)); }

    /// Each connection has one batch under way. `name` "": warm-up.
    void load(const std::string& name, std::int16_t acks, int connections, int records, Duration time) {
        const Bytes batch = batch_of_size(records, 100);
        // What went before with acks=1 may have left followers behind.
        WireClient prober = client(1);
        await("acks=all", [&] { return produce(prober, -1, batch).has_value(); });
        std::vector<std::vector<double>> latencies(static_cast<std::size_t>(connections));
        std::atomic<bool> refused = false;
        const Instant began = monotonic_now();
        std::vector<std::thread> threads;
        for (auto& mine : latencies) {
            threads.emplace_back([&] {
                WireClient own = client(1);
                while (monotonic_now() < began + time && !refused) {
                    const Instant sent = monotonic_now();
                    if (!produce(own, acks, batch)) refused = true;
                    mine.push_back(to_millis(monotonic_now() - sent));
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        if (refused) throw std::runtime_error("a produce was refused: the figure would mean nothing");
        if (name.empty()) return;
        const double took = to_seconds(monotonic_now() - began);
        std::vector<double> all;
        for (const auto& mine : latencies) all.insert(all.end(), mine.begin(), mine.end());
        note(name + ": throughput", static_cast<double>(all.size()) * records / took);
        note(name + ": p50", percentile(all, 0.5));
        note(name + ": p99", percentile(all, 0.99));
    }

    /// From the ack of an acks=1 record to the moment when a consumer, which waits for it at the leader, has
    /// it.
    void propagation() {
        WireClient producer = client(1);
        WireClient consumer = client(1);
        const Bytes one = batch_of_size(1, 100);
        await("acks=all", [&] { return produce(producer, -1, one).has_value(); });
        std::vector<double> delays;
        for (int i = 0; i < kPropagations; ++i) {
            const auto offset = produce(producer, 1, one);
            if (!offset) throw std::runtime_error("no ack");
            const Instant acked = monotonic_now();
            await("the record", [&] {
                const auto answer =
                    consumer.call<wire::FetchResponse>(fetch_request("t", 0, *offset, 500), kFetchVersion);
                return answer && !answer->responses.empty() &&
                       answer->responses[0].partitions.at(0).high_watermark > *offset;
            });
            delays.push_back(to_millis(monotonic_now() - acked));
        }
        note("acks=1 ack until a consumer has the record: p50", percentile(delays, 0.5));
        note("acks=1 ack until a consumer has the record: p99", percentile(delays, 0.99));
    }

    void failover() {
        const Bytes one = batch_of_size(1, 100);
        const Instant killed = monotonic_now();
        if (!cluster_->kill(1).ok) throw std::runtime_error("the leader was not killed");
        WireClient second = client(2);
        WireClient third = client(3);
        await("the next leader",
              [&] { return produce(second, -1, one).has_value() || produce(third, -1, one).has_value(); });
        note("kill -9 of the leader to the next acks=all ack", to_millis(monotonic_now() - killed));
    }

    TemporaryDirectory directory_;
    const Scenario scenario_ = bench_scenario();
    Figures& figures_;
    std::unique_ptr<harness::ProcessCluster> cluster_;
};

std::vector<Row> rows() {
    std::vector<Row> rows{{"start to the first acks=all ack", "ms"},
                          {"resident memory of a broker, the largest", "MiB"}};
    for (const char* load : {"acks=1, 1 connection", "acks=1, 8 connections", "acks=all, 1 connection",
                             "acks=all, 8 connections", "acks=all, 8 connections, batches of 160"}) {
        rows.push_back({std::string(load) + ": throughput", "records/s", true});
        rows.push_back({std::string(load) + ": p50", "ms"});
        rows.push_back({std::string(load) + ": p99", "ms"});
    }
    rows.push_back({"acks=1 ack until a consumer has the record: p50", "ms"});
    rows.push_back({"acks=1 ack until a consumer has the record: p99", "ms"});
    rows.push_back({"kill -9 of the leader to the next acks=all ack", "ms"});
    return rows;
}

void print(Figures& node, Figures& kafka, const std::string& name, int rounds) {
    fmt::print(
        "\nmedian of {} rounds, one of each system in turn; ratio: how many times better our node is\n\n",
        rounds);
    fmt::print("{:<58} {:>12} {:>14} {:>8}\n", "", "our node", name, "ratio");
    for (const Row& row : rows()) {
        const double ours = percentile(node.at(row.name), 0.5);
        const double theirs = percentile(kafka.at(row.name), 0.5);
        fmt::print("{:<58} {:>12.2f} {:>14.2f} {:>8.2f}\n", row.name + " (" + row.unit + ")", ours, theirs,
                   row.more ? ours / theirs : theirs / ours);
    }
}

}  // namespace
}  // namespace highwater::test

int main(int argc, char** argv) {
    using namespace highwater::test;
    try {
        const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
        if (rounds < 1) throw std::runtime_error("ROUNDS: a number from 1");
        const auto kafka = highwater::harness::Sut::parse(argc > 2 ? argv[2] : "kafka");
        if (!kafka) throw std::runtime_error(kafka.error().message);
        Figures ours;
        Figures theirs;
        for (int round = 1; round <= rounds; ++round) {
            for (const bool node : {true, false}) {
                fmt::print(stderr, "round {} of {}: {}\n", round, rounds, node ? "our node" : kafka->name);
                Round(node ? highwater::harness::Sut{} : *kafka, node ? ours : theirs).work();
            }
        }
        print(ours, theirs, kafka->name, rounds);
    } catch (const std::exception& error) {
        fmt::print(stderr, "highwater-kafka-bench: {}\n", error.what());
        return 70;
    }
    return 0;
}
