// What clients and peers ask: one frame is one request. Malformed or unknown ones close their connection.
#include <algorithm>

#include "base/overloaded.h"
#include "node/server/broker_state.h"

namespace highwater::node {
namespace {

/// Of one connection.
constexpr std::ptrdiff_t kMostEarlyRequests = 64;

}  // namespace

Partition* BrokerState::partition(const TopicPartition& name) {
    const auto found = partitions.find(name);
    return found == partitions.end() ? nullptr : found->second.get();
}

void BrokerState::receive(const FrameReceived& frame) {
    if (serving) return handle_frame(frame.conn, frame.payload);
    const auto waiting = std::count_if(early.begin(), early.end(),
                                       [&](const FrameReceived& one) { return one.conn == frame.conn; });
    if (waiting >= kMostEarlyRequests) {
        forget_early(frame.conn);
        return inbound.close(frame.conn, "too many requests before this broker has started");
    }
    early.push_back(frame);
}

void BrokerState::serve_early() {
    if (!serving) return;
    for (const FrameReceived& frame : std::exchange(early, {})) {
        if (inbound.knows(frame.conn)) handle_frame(frame.conn, frame.payload);
    }
}

void BrokerState::forget_early(ConnId conn) {
    std::erase_if(early, [conn](const FrameReceived& one) { return one.conn == conn; });
}

void BrokerState::handle_frame(ConnId conn, const Bytes& payload) {
    const auto frame = wire::decode_request_header(payload);
    if (!frame) return inbound.close(conn, frame.error().message);
    const wire::RequestHeader& header = frame->header;
    if (header.api_key == wire::ApiKey::ApiVersions) {
        const wire::ApiVersionsAnswer answer =
            wire::answer_api_versions(inbound.kind(conn), header.api_version);
        return inbound.answer(inbound.begin(conn), wire::encode_response(answer.response, answer.encode_at,
                                                                         header.correlation_id));
    }
    const std::string name = fmt::format("{} v{}", wire::api_name(header.api_key), header.api_version);
    if (too_long(header.api_key, payload.size()))
        return inbound.close(conn, fmt::format("{} of {} bytes", name, payload.size()));
    if (!wire::offers(inbound.kind(conn), header.api_key, header.api_version)) {
        return inbound.close(conn,
                             fmt::format("{} is not offered on listener {}", name, inbound.listener(conn)));
    }
    // Decodes the body, then hands it on; a body that cannot be decoded closes the connection.
    const auto with_body = [&]<class Request>(std::type_identity<Request>, auto handle) {
        auto request = wire::decode<Request>(frame->body, header.api_version);
        if (!request) return inbound.close(conn, request.error().message);
        handle(inbound.begin(conn), std::move(*request));
    };
    switch (header.api_key) {
        case wire::ApiKey::Produce:
            return with_body(std::type_identity<wire::ProduceRequest>{},
                             [&](const RequestId& id, wire::ProduceRequest request) {
                                 handle_produce(id, header, request);
                             });
        case wire::ApiKey::Fetch:
            return with_body(std::type_identity<wire::FetchRequest>{},
                             [&](const RequestId& id, wire::FetchRequest request) {
                                 handle_fetch(id, header, std::move(request));
                             });
        case wire::ApiKey::ListOffsets:
            return with_body(std::type_identity<wire::ListOffsetsRequest>{},
                             [&](const RequestId& id, const wire::ListOffsetsRequest& request) {
                                 handle_list_offsets(id, header, request);
                             });
        case wire::ApiKey::Metadata:
            return with_body(std::type_identity<wire::MetadataRequest>{},
                             [&](const RequestId& id, const wire::MetadataRequest& request) {
                                 handle_metadata(id, header, request, inbound.listener(conn));
                             });
        case wire::ApiKey::CreateTopics:
            return with_body(
                std::type_identity<wire::CreateTopicsRequest>{},
                [&](const RequestId& id, wire::CreateTopicsRequest request) {
                    forwards.push_back({id, header.api_version, header.correlation_id, std::move(request)});
                    forward_next();
                });
        default:
            return inbound.close(conn, name + " is not for brokers");
    }
}

void BrokerState::handle_metadata(const RequestId& id, const wire::RequestHeader& header,
                                  const wire::MetadataRequest& request, const std::string& listener) {
    wire::MetadataResponse response;
    response.cluster_id = config.cluster_id.to_string();
    response.controller_id = config.controller.id;
    for (const auto& [broker_id, broker] : image.brokers()) {
        if (broker.fenced) continue;
        for (const Endpoint& endpoint : broker.endpoints) {
            // Each listener leads to its own kind: a client of DIRECT is sent to DIRECT addresses.
            if (endpoint.listener == listener)
                response.brokers.push_back({broker_id, endpoint.host, endpoint.port, std::nullopt});
        }
    }
    std::vector<std::string> names;
    // Version 0 asks for all topics by an empty list, later ones by null.
    const bool all = !request.topics || (header.api_version == 0 && request.topics->empty());
    if (all) {
        for (const auto& [name, topic] : image.topics()) names.push_back(name);
    } else {
        for (const auto& topic : *request.topics) names.push_back(topic.name.value_or(""));
    }
    for (const std::string& name : names) {
        auto& answer = response.topics.emplace_back();
        answer.name = name;
        const TopicImage* topic = image.topic(name);
        if (topic == nullptr) {
            answer.error_code = wire::ErrorCode::UnknownTopicOrPartition;
            continue;
        }
        answer.topic_id = topic->id;
        for (const auto& [index, partition_image] : topic->partitions) {
            auto& entry = answer.partitions.emplace_back();
            entry.partition_index = index;
            entry.leader_id = partition_image.leader;
            entry.leader_epoch = partition_image.leader_epoch;
            entry.replica_nodes = partition_image.replicas;
            entry.isr_nodes = partition_image.isr;
            if (partition_image.leader == kNoBroker) entry.error_code = wire::ErrorCode::LeaderNotAvailable;
            for (const BrokerId replica : partition_image.replicas) {
                const BrokerImage* broker = image.broker(replica);
                if (broker == nullptr || broker->fenced) entry.offline_replicas.push_back(replica);
            }
        }
    }
    inbound.answer(id, wire::encode_response(response, header.api_version, header.correlation_id));
}

void BrokerState::handle_list_offsets(const RequestId& id, const wire::RequestHeader& header,
                                      const wire::ListOffsetsRequest& request) {
    wire::ListOffsetsResponse response;
    for (const auto& asked_topic : request.topics) {
        auto& topic = response.topics.emplace_back();
        topic.name = asked_topic.name;
        for (const auto& asked : asked_topic.partitions) {
            auto& answer = topic.partitions.emplace_back();
            answer.partition_index = asked.partition_index;
            const TopicPartition name{asked_topic.name, asked.partition_index};
            const Partition* held = partition(name);
            if (held == nullptr) {
                answer.error_code = image.partition(name) == nullptr
                                        ? wire::ErrorCode::UnknownTopicOrPartition
                                        : wire::ErrorCode::NotLeaderOrFollower;
                continue;
            }
            const auto listed =
                held->list_offset(asked.timestamp, request.replica_id, asked.current_leader_epoch);
            answer.error_code = listed.error;
            answer.offset = listed.offset;
            answer.leader_epoch = listed.leader_epoch;
        }
    }
    inbound.answer(id, wire::encode_response(response, header.api_version, header.correlation_id));
}

void BrokerState::forward_next() {
    // The controller answers admin requests; here they are only passed on, one at a time and in order.
    if (forwards.empty() || !forwarding.idle()) return;
    const std::int32_t correlation = forwarding.correlation_id() + 1;
    const std::int16_t version = forwards.front().version;
    forwarding.request(now, forwards.front().body, version,
                       [this, correlation, version](Instant, const Result<BytesView>& frame) {
                           const QueuedForward forward = std::move(forwards.front());
                           forwards.erase(forwards.begin());
                           auto response =
                               frame ? wire::decode_response<wire::CreateTopicsResponse>(*frame, version,
                                                                                         correlation)
                                     : Result<wire::CreateTopicsResponse>(tl::make_unexpected(frame.error()));
                           if (!response) {
                               outbox.warn("CreateTopics: " + response.error().message);
                               response = wire::CreateTopicsResponse{};
                               for (const auto& topic : forward.body.topics) {
                                   auto& answer = response->topics.emplace_back();
                                   answer.name = topic.name;
                                   answer.error_code = wire::ErrorCode::RequestTimedOut;
                                   answer.error_message = "the controller did not answer";
                               }
                           }
                           inbound.answer(forward.request,
                                          wire::encode_response(*response, version, forward.correlation_id));
                           forward_next();
                       });
}

}  // namespace highwater::node
