// What only the controller can do is passed on to it as the same request at the same version, one at a time
// and in order, and its answer passed back. Without an answer: REQUEST_TIMED_OUT, as it may have been done.
#include "node/server/broker_state.h"

namespace highwater::node {
namespace {

constexpr wire::ErrorCode kCode = wire::ErrorCode::RequestTimedOut;
constexpr const char* kMessage = "the controller did not answer";

wire::CreateTopicsResponse unanswered(const wire::CreateTopicsRequest& request) {
    wire::CreateTopicsResponse response;
    for (const auto& topic : request.topics) {
        auto& answer = response.topics.emplace_back();
        answer.name = topic.name;
        answer.error_code = kCode;
        answer.error_message = kMessage;
    }
    return response;
}

wire::DeleteTopicsResponse unanswered(const wire::DeleteTopicsRequest& request) {
    wire::DeleteTopicsResponse response;
    for (const auto& topic : request.topics)
        response.responses.push_back({topic.name, topic.topic_id, kCode, kMessage});
    for (const auto& name : request.topic_names) response.responses.push_back({name, {}, kCode, kMessage});
    return response;
}

wire::IncrementalAlterConfigsResponse unanswered(const wire::IncrementalAlterConfigsRequest& request) {
    wire::IncrementalAlterConfigsResponse response;
    for (const auto& resource : request.resources)
        response.responses.push_back({kCode, kMessage, resource.resource_type, resource.resource_name});
    return response;
}

wire::ElectLeadersResponse unanswered(const wire::ElectLeadersRequest& request) {
    wire::ElectLeadersResponse response;
    response.error_code = kCode;
    if (!request.topic_partitions) return response;
    for (const auto& topic : *request.topic_partitions) {
        auto& of_topic = response.replica_election_results.emplace_back();
        of_topic.topic = topic.topic;
        for (const std::int32_t index : topic.partitions)
            of_topic.partition_result.push_back({index, kCode, kMessage});
    }
    return response;
}

template <class Response, class Request>
void forward(BrokerState& broker, const RequestId& id, const wire::RequestHeader& header,
             const Request& request) {
    broker.ask_controller<Response>(
        request, header.api_version,
        [&broker, id, request, version = header.api_version,
         correlation_id = header.correlation_id](const Result<Response>& answer) {
            if (!answer) {
                broker.outbox.warn(
                    fmt::format("{}: {}", wire::api_name(Request::kApiKey), answer.error().message));
            }
            broker.inbound.answer(
                id, wire::encode_response(answer ? *answer : unanswered(request), version, correlation_id));
        });
}

}  // namespace

void BrokerState::forward_next() {
    if (forwards.empty() || !forwarding.idle()) return;
    const std::function<void()> send = std::move(forwards.front());
    forwards.pop_front();
    send();
}

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::CreateTopicsRequest& request) {
    forward<wire::CreateTopicsResponse>(*this, id, header, request);
}

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::DeleteTopicsRequest& request) {
    forward<wire::DeleteTopicsResponse>(*this, id, header, request);
}

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::IncrementalAlterConfigsRequest& request) {
    forward<wire::IncrementalAlterConfigsResponse>(*this, id, header, request);
}

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::ElectLeadersRequest& request) {
    forward<wire::ElectLeadersResponse>(*this, id, header, request);
}

}  // namespace highwater::node
