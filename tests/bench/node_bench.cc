// highwater-node-bench: three brokers and a controller as processes, measured from outside beside the budgets
// of docs/performance.md. Prints figures, asserts nothing about them. Usage: highwater-node-bench [PART...]
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "model/trace.h"
#include "tests/node_broker/process_cluster.h"

namespace highwater::test {
namespace {

const std::string kTopic = "bench";
constexpr const char* kNoTrace = "highwater.trace.file=\n";
constexpr const char* kNoBudget = "no budget";

/// Until `condition` holds; the benchmark ends if it does not.
void await(const std::string& what, const std::function<bool()>& condition) {
    const Instant deadline = monotonic_now() + seconds(30);
    while (!condition()) {
        if (monotonic_now() > deadline) throw std::runtime_error("not within 30 s: " + what);
        std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
}

std::int64_t percentile(std::vector<std::int64_t> values, double share) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1,
                           static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}
double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

void print(const std::string& what, const std::string& figure, const std::string& budget) {
    fmt::print("{:<58} {:<44} {}\n", what, figure, budget);
    std::fflush(stdout);
}

bool create(WireClient& client) {
    const auto made = client.call<wire::CreateTopicsResponse>(
        create_topic_request(kTopic, {{1, 2, 3}}, {{"min.insync.replicas", "2"}}), kCreateTopicsVersion);
    return made && (made->topics.at(0).error_code == wire::ErrorCode::None ||
                    made->topics.at(0).error_code == wire::ErrorCode::TopicAlreadyExists);
}

/// The base offset, if it was acknowledged.
std::optional<Offset> produce(WireClient& client, std::int16_t acks, const Bytes& batch) {
    const auto answer =
        client.call<wire::ProduceResponse>(produce_request(kTopic, 0, acks, 5000, batch), kProduceVersion);
    if (!answer) return std::nullopt;
    const auto& partition = answer->responses.at(0).partition_responses.at(0);
    if (partition.error_code != wire::ErrorCode::None) return std::nullopt;
    return partition.base_offset;
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

/// Started, with the topic and its first record acknowledged by all.
struct Running {
    explicit Running(const std::string& properties) : cluster(properties) {
        const Instant began = monotonic_now();
        cluster.launch_all();
        WireClient first = cluster.client(1);
        await("the topic", [&] { return create(first); });
        // Whoever was unfenced when it was created leads.
        const Bytes one = batch_of_size(1, 8);
        await("the first record", [&] {
            for (const BrokerId id : {1, 2, 3}) {
                WireClient client = cluster.client(id);
                if (!produce(client, -1, one)) continue;
                leader = id;
                return true;
            }
            return false;
        });
        first_ack = monotonic_now() - began;
    }
    /// As `asked` sees it.
    std::optional<wire::MetadataResponse::MetadataResponseTopic::MetadataResponsePartition> view(
        BrokerId asked) {
        const auto answer =
            cluster.client(asked).call<wire::MetadataResponse>(metadata_request(kTopic), kMetadataVersion);
        if (!answer || answer->topics.empty() || answer->topics[0].partitions.empty()) return std::nullopt;
        return answer->topics[0].partitions[0];
    }

    ProcessCluster cluster;
    BrokerId leader = kNoBroker;
    Duration first_ack{};
};

void start() {
    std::vector<std::int64_t> times;
    for (int i = 0; i < 7; ++i) times.push_back(Running("").first_ack.count());
    print("start of four processes to the first acks=all ack",
          fmt::format("{:.0f} ms (median of {}, worst {:.0f})", ms(percentile(times, 0.5)), times.size(),
                      ms(percentile(times, 1))),
          "budget 500 ms");
}

/// Each connection has one batch under way.
void load(Running& running, std::int16_t acks, int connections, const Bytes& batch, int records) {
    constexpr auto kTime = seconds(4);
    // What went before with acks=1 may have left followers behind.
    WireClient prober = running.cluster.client(running.leader);
    await("acks=all", [&] { return produce(prober, -1, batch).has_value(); });
    std::vector<std::vector<std::int64_t>> latencies(static_cast<std::size_t>(connections));
    const Instant began = monotonic_now();
    std::vector<std::thread> threads;
    std::atomic<bool> refused = false;
    for (auto& mine : latencies) {
        threads.emplace_back([&] {
            WireClient client = running.cluster.client(running.leader);
            while (monotonic_now() < began + kTime) {
                const Instant sent = monotonic_now();
                if (!produce(client, acks, batch)) {
                    refused = true;
                    return;
                }
                mine.push_back((monotonic_now() - sent).count());
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    if (refused) throw std::runtime_error("a produce was refused: the figure would mean nothing");
    const double took = to_seconds(monotonic_now() - began);
    std::vector<std::int64_t> all;
    for (const auto& mine : latencies) all.insert(all.end(), mine.begin(), mine.end());
    const auto batches = static_cast<double>(all.size());
    print(fmt::format("acks={}, {} connection{}, batches of {} ({} B)", acks == -1 ? "all" : "1", connections,
                      connections == 1 ? "" : "s", records, batch.size()),
          fmt::format("{:.0f} records/s {:.1f} MB/s p50 {:.2f} p99 {:.2f} ms", batches * records / took,
                      batches * static_cast<double>(batch.size()) / took / 1e6, ms(percentile(all, 0.5)),
                      ms(percentile(all, 0.99))),
          acks == -1 && connections > 1 ? "budget: at least real Kafka's (not run here)" : kNoBudget);
}

void throughput() {
    Running running(kNoTrace);
    for (const std::int16_t acks : {std::int16_t{1}, std::int16_t{-1}}) {
        load(running, acks, 1, batch_of_size(1, 100), 1);
        load(running, acks, 8, batch_of_size(1, 100), 1);
        load(running, acks, 8, batch_of_size(160, 100), 160);
    }
    Running traced("");
    load(traced, -1, 8, batch_of_size(1, 100), 1);
    fmt::print("  (the last one writes the white-box trace, as in a run)\n");
}

/// From the traces, whose clock is one: when the leader acknowledged, when each follower had the high
/// watermark.
void propagation() {
    Running running("");
    WireClient client = running.cluster.client(running.leader);
    const Bytes one = batch_of_size(1, 100);
    for (int i = 0; i < 500; ++i) {
        if (!produce(client, -1, one)) throw std::runtime_error("no ack");
        std::this_thread::sleep_for(milliseconds(2));
    }
    await("followers' high watermarks",
          [&] { return read_file(running.cluster.directory(2) + "/trace.jsonl").size() > 1000; });
    std::vector<std::string> paths;
    for (const BrokerId id : {1, 2, 3}) {
        running.cluster.terminate(id);
        paths.push_back(running.cluster.directory(id) + "/trace.jsonl");
    }
    const auto trace = read_trace(paths);
    if (!trace) throw std::runtime_error(trace.error().message);
    std::map<Offset, Instant> acked;
    std::vector<std::int64_t> lags;
    for (const TraceEvent& event : trace->events) {
        if (event.kind == TraceKind::Ack && event.node == running.leader) acked.emplace(event.last, event.at);
        if (event.kind != TraceKind::Hw || event.node == running.leader) continue;
        const auto of = acked.find(event.to - 1);
        if (of != acked.end()) lags.push_back((event.at - of->second).count());
    }
    print("high watermark: ack at the leader to the follower's",
          fmt::format("p50 {:.2f} p99 {:.2f} ms ({} seen)", ms(percentile(lags, 0.5)),
                      ms(percentile(lags, 0.99)), lags.size()),
          kNoBudget);
}

void failover() {
    std::vector<std::int64_t> session;
    std::vector<std::int64_t> rest;
    Running running("");
    const Bytes one = batch_of_size(1, 100);
    for (int round = 0; round < 5; ++round) {
        BrokerId leader = kNoBroker;
        await("rest", [&] {
            const auto seen = running.view(1);
            if (!seen || seen->isr_nodes.size() != 3) return false;
            leader = seen->leader_id;
            return leader > 0;
        });
        // The brokers are at rest, so whoever is asked knows.
        const Instant killed = monotonic_now();
        running.cluster.kill(leader);
        std::map<BrokerId, WireClient> clients;
        for (const BrokerId id : {1, 2, 3}) {
            if (id != leader) clients.emplace(id, running.cluster.client(id));
        }
        await("the next ack", [&] {
            return std::any_of(clients.begin(), clients.end(),
                               [&](auto& entry) { return produce(entry.second, -1, one).has_value(); });
        });
        const Instant served = monotonic_now();
        const auto trace =
            read_trace({running.cluster.directory(ProcessCluster::kController) + "/trace.jsonl"});
        if (!trace) throw std::runtime_error(trace.error().message);
        for (const TraceEvent& event : trace->events) {
            if (event.kind != TraceKind::Fence || event.at < killed) continue;
            session.push_back((event.at - killed).count());
            rest.push_back((served - event.at).count());
            break;
        }
        running.cluster.launch(leader);
        await("the return", [&] {
            const auto seen = running.view(leader);
            return seen && seen->isr_nodes.size() == 3;
        });
    }
    print("kill -9 of the leader: to the controller's fencing",
          fmt::format("median {:.0f} worst {:.0f} ms", ms(percentile(session, 0.5)),
                      ms(percentile(session, 1))),
          "broker.session.timeout.ms, 2000 here");
    print("                       fencing to the next acks=all ack",
          fmt::format("median {:.1f} worst {:.1f} ms", ms(percentile(rest, 0.5)), ms(percentile(rest, 1))),
          kNoBudget);
}

}  // namespace
}  // namespace highwater::test

int main(int argc, char** argv) {
    using namespace highwater::test;
    const std::vector<std::pair<std::string, void (*)()>> parts = {
        {"start", start}, {"throughput", throughput}, {"propagation", propagation}, {"failover", failover}};
    const std::vector<std::string> wanted(argv + 1, argv + argc);
    try {
        for (const std::string& name : wanted) {
            const bool known =
                std::any_of(parts.begin(), parts.end(), [&](const auto& part) { return part.first == name; });
            if (!known)
                throw std::runtime_error(name + ": no such part (start, throughput, propagation, failover)");
        }
        for (const auto& [name, part] : parts) {
            if (wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end()) part();
        }
    } catch (const std::exception& error) {
        fmt::print(stderr, "highwater-node-bench: {}\n", error.what());
        return 70;
    }
    return 0;
}
