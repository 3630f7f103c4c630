#include "harness/final_read.h"

#include <fmt/format.h>

#include "workloads/broker_client.h"

namespace highwater::harness {
namespace {

constexpr Duration kPatience = seconds(5);
constexpr std::int32_t kChunk = 1 << 20;

struct Ends {
    std::vector<Offset> offsets;
    bool even = false;
    friend bool operator==(const Ends&, const Ends&) = default;
};

/// Nullopt while somebody has not answered since `since`.
std::optional<Ends> look(const Cluster& cluster, const Observer& observer, Instant since) {
    Ends ends;
    ends.even = true;
    for (const BrokerId broker : observer.replicas()) {
        if (!cluster.running(broker)) continue;
        const auto sample = observer.sample(broker, since);
        if (!sample || !sample->log_end_offset || !sample->high_watermark) return std::nullopt;
        ends.even = ends.even && *sample->log_end_offset == *sample->high_watermark &&
                    (ends.offsets.empty() || ends.offsets.front() == *sample->log_end_offset);
        ends.offsets.push_back(*sample->log_end_offset);
    }
    return ends;
}

void read_all(const std::string& reader, workloads::BrokerClient& client, const std::string& topic,
              std::int32_t partition, BrokerId broker, bool follower, workloads::Recorder& recorder) {
    Offset position = 0;
    while (true) {
        Operation operation;
        operation.invoked = monotonic_now();
        workloads::FetchOptions options;
        options.from = position;
        options.max_bytes = kChunk;
        auto reply = client.fetch(topic, partition, options, operation.invoked + kPatience);
        operation.completed = monotonic_now();
        const auto* code = std::get_if<wire::ErrorCode>(&reply.end);
        const bool ok = code != nullptr && *code == wire::ErrorCode::None;
        Poll poll;
        poll.partition = partition;
        poll.broker = broker;
        poll.from = position;
        poll.from_follower = follower;
        poll.final = true;
        poll.status = ok ? Outcome::Ok : Outcome::Info;
        poll.error = workloads::attempt_error(reply.end);
        poll.high_watermark = reply.high_watermark;
        poll.log_start = reply.log_start;
        poll.complete = ok && reply.next >= reply.high_watermark;
        const bool stuck = ok && !poll.complete && reply.next <= position;
        poll.records = std::move(reply.records);
        const bool done = !ok || poll.complete || stuck;
        operation.what = std::move(poll);
        recorder.record(reader, std::move(operation));
        if (done) return;
        position = reply.next;
    }
}

/// What the broker with the newest epoch says; kNoBroker: nobody leads, or nobody answered.
BrokerId leader_of(const Cluster& cluster, const std::string& topic, const std::string& run_id,
                   std::int32_t partition) {
    BrokerId leader = kNoBroker;
    LeaderEpoch newest = kNoEpoch;
    for (const BrokerId broker : cluster.brokers()) {
        if (!cluster.running(broker)) continue;
        workloads::BrokerClient client(cluster.direct_address(broker), "final", run_id);
        const auto metadata = client.metadata(topic, monotonic_now() + kPatience);
        if (!metadata || metadata->topics.size() != 1) continue;
        for (const auto& entry : metadata->topics[0].partitions) {
            if (entry.partition_index != partition || entry.leader_epoch <= newest) continue;
            newest = entry.leader_epoch;
            leader = entry.leader_id;
        }
    }
    return leader;
}

}  // namespace

bool wait_for_quiescence(const Cluster& cluster, const Scenario&, const Observer& observer,
                         Instant deadline) {
    std::optional<Ends> before;
    Instant since = monotonic_now();
    return observer.wait_for(
        [&] {
            const std::optional<Ends> now = look(cluster, observer, since);
            if (!now) return false;
            const bool still = now->even && !now->offsets.empty() && before == now;
            before = now;
            since = monotonic_now();  // the second look must be of answers that came later
            return still;
        },
        deadline);
}

void final_reads(const Cluster& cluster, const Scenario& scenario, const std::string& run_id, BrokerId leader,
                 workloads::Recorder& recorder) {
    for (std::size_t index = 0; index < scenario.topic.assignment.size(); ++index) {
        const auto partition = static_cast<std::int32_t>(index);
        // The observer watches the first partition.
        const BrokerId leads =
            index == 0 ? leader : leader_of(cluster, scenario.topic.name, run_id, partition);
        for (const BrokerId broker : scenario.topic.assignment[index]) {
            if (!cluster.running(broker)) continue;
            workloads::BrokerClient client(cluster.direct_address(broker), "final", run_id);
            const std::string reader = broker == leads ? "final" : fmt::format("final-{}", broker);
            read_all(reader, client, scenario.topic.name, partition, broker, broker != leads, recorder);
        }
    }
}

}  // namespace highwater::harness
