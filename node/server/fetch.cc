// Fetch: consumers up to the high watermark of this replica, followers beyond it; both may wait for more.
#include <algorithm>

#include "node/server/broker_state.h"
#include "node/server/cluster_metadata.h"

namespace highwater::node {
namespace {

/// Topic ids replaced names in v13, ReplicaState the replica id in v15.
constexpr std::int16_t kTopicIdsSince = 13;
constexpr std::int16_t kReplicaStateSince = 15;
/// Consumers may read from followers since v11 (KIP-392).
constexpr std::int16_t kFollowerReadsSince = 11;

BrokerId replica_of(const wire::FetchRequest& fetch, std::int16_t version) {
    return version >= kReplicaStateSince ? fetch.replica_state.replica_id : fetch.replica_id;
}

}  // namespace

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header, wire::FetchRequest request) {
    if (request.session_id != 0) {
        // Answers never open a session, so nobody can be in one.
        wire::FetchResponse refused;
        refused.error_code = wire::ErrorCode::FetchSessionIdNotFound;
        return inbound.answer(id, wire::encode_response(refused, header.api_version, header.correlation_id));
    }
    FetchRead read = read_fetch(request, header.api_version, true);
    const bool enough = read.bytes >= static_cast<std::size_t>(std::max(request.min_bytes, 0));
    if (read.urgent || enough || request.max_wait_ms <= 0)
        return answer_fetch(id, header.api_version, header.correlation_id, read.response);
    DelayedFetch delayed;
    delayed.request = id;
    delayed.version = header.api_version;
    delayed.correlation_id = header.correlation_id;
    delayed.expires = now + milliseconds(request.max_wait_ms);
    for (const auto& topic : request.topics) {
        const TopicImage* by_id = image.topic(topic.topic_id);
        for (const auto& asked : topic.partitions) {
            const std::string& name =
                header.api_version >= kTopicIdsSince && by_id != nullptr ? by_id->name : topic.topic;
            if (Partition* held = partition({name, asked.partition}))
                delayed.seen[{name, asked.partition}] = held->revision();
        }
    }
    delayed.fetch = std::move(request);
    fetches.push_back(std::move(delayed));
}

BrokerState::FetchRead BrokerState::read_fetch(const wire::FetchRequest& fetch, std::int16_t version,
                                               bool update_state) {
    FetchRead read;
    const BrokerId replica = replica_of(fetch, version);
    std::size_t budget = static_cast<std::size_t>(std::max(fetch.max_bytes, 1));
    for (const auto& asked_topic : fetch.topics) {
        auto& topic = read.response.responses.emplace_back();
        topic.topic = asked_topic.topic;
        topic.topic_id = asked_topic.topic_id;
        const TopicImage* by_id = version >= kTopicIdsSince ? image.topic(asked_topic.topic_id) : nullptr;
        for (const auto& asked : asked_topic.partitions) {
            auto& answer = topic.partitions.emplace_back();
            answer.partition_index = asked.partition;
            answer.high_watermark = kUnknownOffset;
            const TopicPartition name{by_id != nullptr ? by_id->name : asked_topic.topic, asked.partition};
            Partition* held = partition(name);
            FetchAnswer got;
            const std::size_t limit =
                std::min(budget, static_cast<std::size_t>(std::max(asked.partition_max_bytes, 1)));
            if (version >= kTopicIdsSince && by_id == nullptr) {
                got.error = wire::ErrorCode::UnknownTopicId;
            } else if (held == nullptr) {
                got.error = why_not_held(name);
            } else if (replica >= 0) {
                FollowerFetch follower;
                follower.replica = replica;
                follower.broker_epoch =
                    version >= kReplicaStateSince ? fetch.replica_state.replica_epoch : kUnknownBrokerEpoch;
                follower.current_leader_epoch = asked.current_leader_epoch;
                follower.fetch_offset = asked.fetch_offset;
                follower.last_fetched_epoch = asked.last_fetched_epoch;
                follower.log_start_offset = asked.log_start_offset;
                follower.max_bytes = limit;
                got = held->fetch_for_follower(now, follower, update_state);
            } else if (version < kFollowerReadsSince && held->role() != Role::Leader) {
                got.error = wire::ErrorCode::NotLeaderOrFollower;
            } else {
                got = held->fetch_for_consumer(now, {asked.current_leader_epoch, asked.fetch_offset, limit});
            }
            answer.error_code = got.error;
            answer.high_watermark = got.high_watermark;
            answer.last_stable_offset = got.high_watermark;
            answer.log_start_offset = got.log_start_offset;
            if (got.diverging) answer.diverging_epoch = {got.diverging->epoch, got.diverging->offset};
            read.urgent = read.urgent || got.error != wire::ErrorCode::None || got.diverging.has_value();
            read.bytes += got.records.size();
            budget -= std::min(budget, got.records.size());
            answer.records = std::move(got.records);
        }
    }
    return read;
}

void BrokerState::answer_fetch(const RequestId& id, std::int16_t version, std::int32_t correlation_id,
                               wire::FetchResponse& response) {
    add_leader_hints(id, version, response);
    inbound.answer(id, wire::encode_response(response, version, correlation_id));
}

void BrokerState::look_at_fetches() {
    // Answering one may move a high watermark that another waits for; what it moved is seen at the next
    // settle().
    std::vector<DelayedFetch> waiting = std::exchange(fetches, {});
    for (DelayedFetch& delayed : waiting) {
        if (!inbound.open(delayed.request)) continue;
        bool changed = now >= delayed.expires;
        for (auto& [name, revision] : delayed.seen) {
            Partition* held = partition(name);
            if (held != nullptr && held->revision() == revision) continue;
            if (held != nullptr) revision = held->revision();  // else its topic was deleted
            changed = true;
        }
        if (changed) {
            FetchRead read = read_fetch(delayed.fetch, delayed.version, false);
            const bool enough = read.bytes >= static_cast<std::size_t>(std::max(delayed.fetch.min_bytes, 0));
            if (read.urgent || enough || now >= delayed.expires) {
                answer_fetch(delayed.request, delayed.version, delayed.correlation_id, read.response);
                continue;
            }
        }
        fetches.push_back(std::move(delayed));
    }
}

}  // namespace highwater::node
