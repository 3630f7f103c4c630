// DescribeTopicPartitions: what the cluster knows of partitions, eligible leaders included, page by page.
#include <algorithm>
#include <set>

#include "node/server/broker_state.h"

namespace highwater::node {
namespace {

using wire::ErrorCode;
using Request = wire::DescribeTopicPartitionsRequest;
using Response = wire::DescribeTopicPartitionsResponse;
using Topic = Response::DescribeTopicPartitionsResponseTopic;

/// max.request.partition.size.limit of Kafka, which no key changes here.
constexpr std::int32_t kMaxPartitions = 2000;

/// The names to describe, from the cursor on, in their order.
std::set<std::string> names_from_cursor(const MetadataImage& image, const Request& request) {
    const std::string first = request.cursor ? request.cursor->topic_name : "";
    std::set<std::string> names;
    const auto add = [&](const std::string& name) {
        if (name >= first) names.insert(name);
    };
    for (const auto& asked : request.topics) add(asked.name);
    if (request.topics.empty()) {
        for (const auto& [name, topic] : image.topics()) add(name);
    }
    return names;
}

/// A page begins at a topic that is asked for, and at a partition.
bool is_valid(const Request& request, const std::set<std::string>& names) {
    if (!request.cursor) return true;
    const bool asked = request.topics.empty() || names.contains(request.cursor->topic_name);
    return asked && request.cursor->partition_index >= 0;
}

void describe(const MetadataImage& image, std::int32_t index, const PartitionImage& partition,
              Topic& answer) {
    auto& entry = answer.partitions.emplace_back();
    entry.partition_index = index;
    entry.leader_id = partition.leader;
    entry.leader_epoch = partition.leader_epoch;
    entry.replica_nodes = partition.replicas;
    entry.isr_nodes = partition.isr;
    entry.eligible_leader_replicas = partition.elr;
    entry.last_known_elr = partition.last_known_elr;
    if (partition.leader == kNoBroker) entry.error_code = ErrorCode::LeaderNotAvailable;
    for (const BrokerId replica : partition.replicas) {
        const BrokerImage* broker = image.broker(replica);
        if (broker == nullptr || broker->fenced) entry.offline_replicas.push_back(replica);
    }
}

void describe_all(const MetadataImage& image, const Request& request, const std::set<std::string>& names,
                  Response& response) {
    std::int32_t left = std::clamp(request.response_partition_limit, 1, kMaxPartitions);
    for (const std::string& name : names) {
        if (left == 0) {
            response.next_cursor = {name, 0};
            return;
        }
        Topic& answer = response.topics.emplace_back();
        answer.name = name;
        const TopicImage* topic = image.topic(name);
        if (topic == nullptr) {
            answer.error_code = ErrorCode::UnknownTopicOrPartition;
            continue;
        }
        answer.topic_id = topic->id;
        answer.is_internal = name == kConsumerOffsetsTopic;
        const bool resumed = request.cursor && request.cursor->topic_name == name;
        auto at = topic->partitions.lower_bound(resumed ? request.cursor->partition_index : 0);
        for (; at != topic->partitions.end() && left > 0; ++at, --left)
            describe(image, at->first, at->second, answer);
        if (at != topic->partitions.end()) {
            response.next_cursor = {name, at->first};
            return;
        }
    }
}

}  // namespace

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header, const Request& request) {
    Response response;
    const std::set<std::string> names = names_from_cursor(image, request);
    if (is_valid(request, names)) {
        describe_all(image, request, names, response);
    } else {
        for (const auto& asked : request.topics) {
            Topic& answer = response.topics.emplace_back();
            answer.name = asked.name;
            answer.error_code = ErrorCode::InvalidRequest;
        }
    }
    inbound.answer(id, wire::encode_response(response, header.api_version, header.correlation_id));
}

}  // namespace highwater::node
