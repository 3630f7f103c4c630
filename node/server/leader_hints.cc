// KIP-951: whom a broker refuses as not being the leader, or for an old epoch, it tells who leads, and where,
// on the listener that was asked, so that the client need not ask for metadata first.
#include <algorithm>

#include "node/server/broker_state.h"

namespace highwater::node {
namespace {

/// From these versions on Kafka fills them in (a fetch has the fields earlier).
constexpr std::int16_t kProduceHintsSince = 10;
constexpr std::int16_t kFetchHintsSince = 16;

/// `Answer` of one partition in `Response`: of Produce or Fetch, whose members have the same names.
template <class Response, class Answer>
void add_hint(const MetadataImage& image, const std::string& listener, const TopicPartition& name,
              Answer& answer, Response& response) {
    if (answer.error_code != wire::ErrorCode::NotLeaderOrFollower &&
        answer.error_code != wire::ErrorCode::FencedLeaderEpoch) {
        return;
    }
    const PartitionImage* partition = image.partition(name);
    if (partition == nullptr || partition->leader == kNoBroker) return;
    answer.current_leader = {partition->leader, partition->leader_epoch};
    const BrokerImage* leader = image.broker(partition->leader);
    const Endpoint* endpoint = leader == nullptr ? nullptr : endpoint_on(*leader, listener);
    auto& endpoints = response.node_endpoints;
    const bool told = std::any_of(endpoints.begin(), endpoints.end(),
                                  [&](const auto& one) { return one.node_id == partition->leader; });
    if (endpoint != nullptr && !told)
        endpoints.push_back({partition->leader, endpoint->host, endpoint->port, std::nullopt});
}

}  // namespace

void BrokerState::add_leader_hints(const RequestId& id, std::int16_t version,
                                   wire::ProduceResponse& response) const {
    if (version < kProduceHintsSince) return;
    for (auto& topic : response.responses) {
        const TopicImage* by_id = image.topic(topic.topic_id);
        for (auto& answer : topic.partition_responses) {
            add_hint(image, inbound.listener(id.conn),
                     {by_id != nullptr ? by_id->name : topic.name, answer.index}, answer, response);
        }
    }
}

void BrokerState::add_leader_hints(const RequestId& id, std::int16_t version,
                                   wire::FetchResponse& response) const {
    if (version < kFetchHintsSince) return;
    for (auto& topic : response.responses) {
        const TopicImage* by_id = image.topic(topic.topic_id);
        for (auto& answer : topic.partitions) {
            add_hint(image, inbound.listener(id.conn),
                     {by_id != nullptr ? by_id->name : topic.topic, answer.partition_index}, answer,
                     response);
        }
    }
}

}  // namespace highwater::node
