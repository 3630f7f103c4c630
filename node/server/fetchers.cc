// Following: for each leader one connection that fetches every partition led by it.
#include <algorithm>
#include <set>

#include "node/server/broker_state.h"
#include "node/server/cluster_metadata.h"

namespace highwater::node {
namespace {

constexpr Duration kFetchTimeout = milliseconds(30000);
/// Over all partitions of one response (replica.fetch.response.max.bytes).
constexpr std::int32_t kResponseMaxBytes = 10 << 20;

}  // namespace

void BrokerState::run_fetchers() {
    std::set<BrokerId> followed;
    for (const auto& [name, held] : partitions) {
        const auto position = held->fetch_position();
        if (!position) continue;
        followed.insert(position->leader);
        const BrokerImage* leader = image.broker(position->leader);
        if (leader == nullptr) continue;
        const auto endpoint = std::find_if(
            leader->endpoints.begin(), leader->endpoints.end(),
            [this](const Endpoint& one) { return one.listener == config.inter_broker_listener; });
        if (endpoint == leader->endpoints.end()) continue;
        Fetcher& fetcher = fetchers[position->leader];
        if (fetcher.channel && fetcher.endpoint == *endpoint) continue;
        if (fetcher.channel) fetcher.channel->reset(now, "the leader moved");
        fetcher.leader = position->leader;
        fetcher.endpoint = *endpoint;
        fetcher.channel = std::make_unique<Channel>(
            outbox, fmt::format("broker-{}-fetcher-{}", config.node_id, position->leader), endpoint->host,
            endpoint->port, kFetchTimeout);
    }
    for (auto fetcher = fetchers.begin(); fetcher != fetchers.end();) {
        if (!followed.contains(fetcher->first)) {
            // Its fetch may hang at a process that is frozen or cut off; it must not be found hanging if that
            // one leads again.
            if (fetcher->second.channel)
                fetcher->second.channel->reset(now, "nothing here follows this broker any more");
            fetcher = fetchers.erase(fetcher);
            continue;
        }
        if (fetcher->second.channel && fetcher->second.channel->idle()) send_fetch(fetcher->second);
        ++fetcher;
    }
}

void BrokerState::send_fetch(Fetcher& fetcher) {
    wire::FetchRequest request;
    request.replica_state.replica_id = config.node_id;
    request.replica_state.replica_epoch = broker_epoch;
    request.max_wait_ms = static_cast<std::int32_t>(config.replica_fetch_wait_max / milliseconds(1));
    request.min_bytes = config.replica_fetch_min_bytes;
    request.max_bytes = kResponseMaxBytes;
    fetcher.asked.clear();
    // All that have passed, also of partitions that follow somebody else by now: the deadline looks at what
    // is left.
    std::erase_if(fetcher.backing_off, [this](const auto& entry) { return now >= entry.second; });
    for (const auto& [name, held] : partitions) {
        const auto position = held->fetch_position();
        if (!position || position->leader != fetcher.leader) continue;
        if (fetcher.backing_off.contains(name)) continue;
        // Partitions come in the order of their topics.
        const Uuid& topic_id = held->id().topic_id;
        if (request.topics.empty() || request.topics.back().topic_id != topic_id)
            request.topics.emplace_back().topic_id = topic_id;
        auto& asked = request.topics.back().partitions.emplace_back();
        asked.partition = name.partition;
        asked.current_leader_epoch = position->leader_epoch;
        asked.fetch_offset = position->fetch_offset;
        asked.last_fetched_epoch = position->last_fetched_epoch;
        asked.log_start_offset = position->log_start_offset;
        asked.partition_max_bytes = config.replica_fetch_max_bytes;
        fetcher.asked[name] = *position;
    }
    if (request.topics.empty()) return;
    const std::int32_t correlation = fetcher.channel->correlation_id() + 1;
    const BrokerId leader = fetcher.leader;
    fetcher.channel->request(now, request, kInternalFetchVersion,
                             [this, leader, correlation](Instant, const Result<BytesView>& frame) {
                                 fetch_answered(leader, frame, correlation);
                             });
}

void BrokerState::fetch_answered(BrokerId leader, const Result<BytesView>& frame,
                                 std::int32_t correlation_id) {
    Fetcher& fetcher = fetchers.at(leader);
    const std::map<TopicPartition, FetchPosition> asked = std::exchange(fetcher.asked, {});
    const auto back_off = [&](const TopicPartition& name) {
        fetcher.backing_off[name] = now + config.replica_fetch_backoff;
    };
    const auto back_off_all = [&](const std::string& why) {
        outbox.info(fmt::format("fetch from broker {}: {}", leader, why));
        for (const auto& [name, position] : asked) back_off(name);
    };
    // The channel paces reconnecting itself; a partition that may have moved meanwhile must not wait a second
    // more.
    if (!frame) return outbox.info(fmt::format("fetch from broker {}: {}", leader, frame.error().message));
    auto response = wire::decode_response<wire::FetchResponse>(*frame, kInternalFetchVersion, correlation_id);
    if (!response) return back_off_all(response.error().message);
    if (response->error_code != wire::ErrorCode::None)
        return back_off_all(wire::error_name(response->error_code));
    for (auto& topic : response->responses) {
        for (auto& got : topic.partitions) {
            const TopicImage* by_id = image.topic(topic.topic_id);
            if (by_id == nullptr) continue;
            const TopicPartition name{by_id->name, got.partition_index};
            const auto position = asked.find(name);
            Partition* held = partition(name);
            if (position == asked.end() || held == nullptr) continue;
            FetchAnswer answer;
            answer.error = got.error_code;
            answer.high_watermark = got.high_watermark;
            answer.log_start_offset = got.log_start_offset;
            if (got.diverging_epoch.end_offset >= 0) {
                answer.diverging = OffsetAndEpoch{got.diverging_epoch.end_offset, got.diverging_epoch.epoch};
            }
            if (got.records) answer.records = std::move(*got.records);
            if (!held->apply_fetch_response(now, position->second, answer)) back_off(name);
        }
    }
}

}  // namespace highwater::node
