// What clients ask to find their way: Metadata, DescribeCluster.
#include <algorithm>

#include "node/server/broker_state.h"

namespace highwater::node {
namespace {

using Topic = wire::MetadataResponse::MetadataResponseTopic;

/// "DescribeCluster of brokers", not of controllers.
constexpr std::int8_t kBrokerEndpoints = 1;

void describe(const MetadataImage& image, const TopicImage& topic, Topic& answer) {
    answer.name = topic.name;
    answer.topic_id = topic.id;
    answer.is_internal = topic.name == kConsumerOffsetsTopic;
    for (const auto& [index, partition] : topic.partitions) {
        auto& entry = answer.partitions.emplace_back();
        entry.partition_index = index;
        entry.leader_id = partition.leader;
        entry.leader_epoch = partition.leader_epoch;
        entry.replica_nodes = partition.replicas;
        entry.isr_nodes = partition.isr;
        if (partition.leader == kNoBroker) entry.error_code = wire::ErrorCode::LeaderNotAvailable;
        for (const BrokerId replica : partition.replicas) {
            const BrokerImage* broker = image.broker(replica);
            if (broker == nullptr || broker->fenced) entry.offline_replicas.push_back(replica);
        }
    }
}

/// Since version 10 a topic may be asked for by its id alone.
void describe_asked(const MetadataImage& image, const wire::MetadataRequest::MetadataRequestTopic& asked,
                    Topic& answer) {
    const bool by_id = asked.topic_id != Uuid{};
    const TopicImage* topic = by_id ? image.topic(asked.topic_id) : image.topic(asked.name.value_or(""));
    if (topic != nullptr) return describe(image, *topic, answer);
    // Whatever allowAutoTopicCreation says: topics are only made by CreateTopics.
    answer.name = by_id ? std::nullopt : asked.name;
    answer.topic_id = asked.topic_id;
    answer.error_code = by_id ? wire::ErrorCode::UnknownTopicId : wire::ErrorCode::UnknownTopicOrPartition;
}

}  // namespace

const Endpoint* endpoint_on(const BrokerImage& broker, const std::string& listener) {
    const auto found = std::find_if(broker.endpoints.begin(), broker.endpoints.end(),
                                    [&](const Endpoint& one) { return one.listener == listener; });
    return found == broker.endpoints.end() ? nullptr : &*found;
}

BrokerId BrokerState::any_broker() const {
    const BrokerImage* self = image.broker(config.node_id);
    if (self != nullptr && !self->fenced) return config.node_id;
    for (const auto& [id, broker] : image.brokers()) {
        if (!broker.fenced) return id;
    }
    return kNoBroker;
}

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::MetadataRequest& request) {
    const std::string& listener = inbound.listener(id.conn);
    wire::MetadataResponse response;
    response.cluster_id = config.cluster_id.to_string();
    // Clients cannot reach the real one; every broker passes on what is meant for it.
    response.controller_id = any_broker();
    for (const auto& [broker_id, broker] : image.brokers()) {
        const Endpoint* endpoint = endpoint_on(broker, listener);
        if (!broker.fenced && endpoint != nullptr)
            response.brokers.push_back({broker_id, endpoint->host, endpoint->port, std::nullopt});
    }
    // Version 0 asks for all topics by an empty list, later ones by null.
    const bool all = !request.topics || (header.api_version == 0 && request.topics->empty());
    if (all) {
        for (const auto& [name, topic] : image.topics())
            describe(image, topic, response.topics.emplace_back());
    } else {
        for (const auto& asked : *request.topics)
            describe_asked(image, asked, response.topics.emplace_back());
    }
    inbound.answer(id, wire::encode_response(response, header.api_version, header.correlation_id));
}

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::DescribeClusterRequest& request) {
    wire::DescribeClusterResponse response;
    response.cluster_id = config.cluster_id.to_string();
    response.endpoint_type = request.endpoint_type;
    if (request.endpoint_type != kBrokerEndpoints) {
        response.error_code = wire::ErrorCode::MismatchedEndpointType;
        response.error_message = "this listener leads to brokers";
    } else {
        response.controller_id = any_broker();
        for (const auto& [broker_id, broker] : image.brokers()) {
            const Endpoint* endpoint = endpoint_on(broker, inbound.listener(id.conn));
            if (endpoint == nullptr || (broker.fenced && !request.include_fenced_brokers)) continue;
            response.brokers.push_back(
                {broker_id, endpoint->host, endpoint->port, std::nullopt, broker.fenced});
        }
    }
    inbound.answer(id, wire::encode_response(response, header.api_version, header.correlation_id));
}

}  // namespace highwater::node
