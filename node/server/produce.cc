// Produce: validate, append, answer at once (acks 0 and 1) or when the high watermark has passed (acks=all).
#include <algorithm>

#include "node/controller/topic_config.h"
#include "node/server/broker_state.h"
#include "wire/record_batch.h"

namespace highwater::node {
namespace {

/// Topic ids replaced names in this version.
constexpr std::int16_t kTopicIdsSince = 13;

/// Who may write to topics that are the brokers' own, as in Kafka.
constexpr const char* kAdminClient = "__admin_client";

/// What a broker refuses before it looks at the partition.
wire::ErrorCode check_records(const std::optional<Bytes>& records, std::int32_t max_bytes) {
    if (!records || records->empty()) return wire::ErrorCode::InvalidRecord;
    BytesView rest(*records);
    while (!rest.empty()) {
        const auto batch = wire::validate_batch(rest);
        if (!batch) return wire::ErrorCode::CorruptMessage;
        if (batch->count == 0 || batch->control()) return wire::ErrorCode::InvalidRecord;
        // Nobody here could ever end the transaction.
        if (batch->transactional()) return wire::ErrorCode::InvalidTxnState;
        if (batch->size() > static_cast<std::size_t>(max_bytes)) return wire::ErrorCode::MessageTooLarge;
        rest = rest.subspan(batch->size());
    }
    return wire::ErrorCode::None;
}

wire::ErrorCode first_error(const wire::ProduceResponse& response) {
    for (const auto& topic : response.responses) {
        for (const auto& partition : topic.partition_responses) {
            if (partition.error_code != wire::ErrorCode::None) return partition.error_code;
        }
    }
    return wire::ErrorCode::None;
}

}  // namespace

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::ProduceRequest& request) {
    DelayedProduce produce;
    produce.request = id;
    produce.version = header.api_version;
    produce.correlation_id = header.correlation_id;
    produce.expires = now + milliseconds(std::max(request.timeout_ms, 0));
    const bool bad_acks = request.acks < -1 || request.acks > 1;
    for (const auto& asked_topic : request.topic_data) {
        auto& topic = produce.response.responses.emplace_back();
        const bool by_id = header.api_version >= kTopicIdsSince;
        const TopicImage* known = by_id ? image.topic(asked_topic.topic_id) : image.topic(asked_topic.name);
        topic.name = asked_topic.name;
        topic.topic_id = asked_topic.topic_id;
        const std::int32_t max_bytes =
            known == nullptr ? 0 : max_message_bytes(*known, config.message_max_bytes);
        for (const auto& asked : asked_topic.partition_data) {
            auto& answer = topic.partition_responses.emplace_back();
            answer.index = asked.index;
            answer.base_offset = kUnknownOffset;
            const TopicPartition name{by_id && known != nullptr ? known->name : asked_topic.name,
                                      asked.index};
            Partition* held = partition(name);
            if (bad_acks) {
                answer.error_code = wire::ErrorCode::InvalidRequiredAcks;
            } else if (name.topic == kConsumerOffsetsTopic && header.client_id != kAdminClient) {
                answer.error_code = wire::ErrorCode::InvalidTopicException;
            } else if (by_id && known == nullptr) {
                answer.error_code = wire::ErrorCode::UnknownTopicId;
            } else if (held == nullptr) {
                answer.error_code = why_not_held(name);
            } else {
                answer.error_code = check_records(asked.records, max_bytes);
            }
            if (answer.error_code != wire::ErrorCode::None) continue;
            const AppendOutcome outcome = held->append(now, *asked.records, request.acks);
            answer.error_code = outcome.error;
            answer.base_offset = outcome.base_offset;
            answer.log_start_offset = held->log().log_start_offset();
            if (outcome.waiting) {
                produce.waiting.push_back({name, *outcome.waiting, produce.response.responses.size() - 1,
                                           topic.partition_responses.size() - 1});
            }
        }
    }
    if (request.acks == 0) {
        // No answer can carry an error, so the connection says it: the client looks for the leader again.
        const wire::ErrorCode error = first_error(produce.response);
        if (error == wire::ErrorCode::None) return inbound.answer_nothing(id);
        return inbound.close(id.conn, "Produce with acks=0: " + wire::error_name(error));
    }
    if (produce.waiting.empty()) return answer_produce(produce);
    produces.push_back(std::move(produce));
}

void BrokerState::answer_produce(DelayedProduce& produce) {
    if (inbound.open(produce.request)) add_leader_hints(produce.request, produce.version, produce.response);
    inbound.answer(produce.request,
                   wire::encode_response(produce.response, produce.version, produce.correlation_id));
}

void BrokerState::finish_produces() {
    for (auto& [name, held] : partitions) {
        for (const FinishedProduce& finished : held->take_finished()) {
            if (finish_group_write(name, finished)) continue;
            for (DelayedProduce& produce : produces) {
                const auto waiting = std::find_if(
                    produce.waiting.begin(), produce.waiting.end(),
                    [&](const auto& one) { return one.partition == name && one.ticket == finished.ticket; });
                if (waiting == produce.waiting.end()) continue;
                auto& answer = produce.response.responses[waiting->topic_index]
                                   .partition_responses[waiting->partition_index];
                answer.error_code = finished.error;
                answer.base_offset = finished.base_offset;
                produce.waiting.erase(waiting);
                break;
            }
        }
    }
    for (DelayedProduce& produce : produces) {
        if (produce.waiting.empty()) answer_produce(produce);
    }
    std::erase_if(produces, [](const DelayedProduce& produce) { return produce.waiting.empty(); });
}

void BrokerState::expire_produces() {
    for (DelayedProduce& produce : produces) {
        if (now < produce.expires) continue;
        std::erase_if(produce.waiting, [&](const DelayedProduce::Waiting& one) {
            Partition* held = partition(one.partition);
            if (held == nullptr || !held->abandon(one.ticket)) return false;
            // The record stays and may still be committed: the client must not take this for a refusal.
            auto& answer =
                produce.response.responses[one.topic_index].partition_responses[one.partition_index];
            answer.error_code = wire::ErrorCode::RequestTimedOut;
            return true;
        });
    }
}

}  // namespace highwater::node
