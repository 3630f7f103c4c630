// FindCoordinator: the leader of the group's partition of __consumer_offsets, which is made when it is first
// asked for.
#include <algorithm>

#include "node/server/broker_state.h"
#include "wire/messages/create_topics.h"

namespace highwater::node {
namespace {

using wire::ErrorCode;
using Coordinator = wire::FindCoordinatorResponse::Coordinator;

constexpr std::int8_t kGroupKey = 0;
constexpr std::int16_t kCoordinatorListSince = 4;
constexpr std::int16_t kCreateTopicsVersion = 7;
constexpr std::int32_t kCreateTimeoutMs = 30000;

/// A string's hash as Java has it, over UTF-16: all brokers and tools must agree. Malformed UTF-8 counts byte
/// by byte.
std::int32_t java_hash(const std::string& text) {
    std::uint32_t hash = 0;
    const auto add = [&](std::uint32_t unit) { hash = hash * 31 + unit; };
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = [&](std::size_t i) {
            return static_cast<std::uint32_t>(static_cast<std::uint8_t>(text[i]));
        };
        const std::uint32_t lead = byte(at);
        const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        if (at + length > text.size()) {
            add(lead);
            ++at;
            continue;
        }
        std::uint32_t point = length == 1 ? lead : lead & (0x7FU >> length);
        for (std::size_t i = 1; i < length; ++i) point = (point << 6U) | (byte(at + i) & 0x3FU);
        at += length;
        if (point < 0x10000) {
            add(point);
        } else {
            add(0xD800U + ((point - 0x10000U) >> 10U));
            add(0xDC00U + ((point - 0x10000U) & 0x3FFU));
        }
    }
    return static_cast<std::int32_t>(hash);
}

}  // namespace

std::optional<std::int32_t> BrokerState::group_partition(const std::string& group) const {
    const TopicImage* topic = image.topic(kConsumerOffsetsTopic);
    if (topic == nullptr || topic->partitions.empty()) return std::nullopt;
    const std::int32_t hash = java_hash(group);
    const std::int32_t positive = hash == INT32_MIN ? 0 : std::abs(hash);
    return positive % static_cast<std::int32_t>(topic->partitions.size());
}

void BrokerState::create_offsets_topic() {
    if (std::exchange(offsets_topic_asked, true)) return;
    wire::CreateTopicsRequest request;
    request.timeout_ms = kCreateTimeoutMs;
    auto& topic = request.topics.emplace_back();
    topic.name = kConsumerOffsetsTopic;
    topic.num_partitions = config.offsets_topic_num_partitions;
    topic.replication_factor =
        static_cast<std::int16_t>(std::min<std::int32_t>(config.offsets_topic_replication_factor, INT16_MAX));
    ask_controller<wire::CreateTopicsResponse>(
        std::move(request), kCreateTopicsVersion, [this](const Result<wire::CreateTopicsResponse>& answer) {
            offsets_topic_asked = false;
            if (!answer) return outbox.warn("creating __consumer_offsets: " + answer.error().message);
            for (const auto& made : answer->topics) {
                if (made.error_code == ErrorCode::None || made.error_code == ErrorCode::TopicAlreadyExists)
                    continue;
                outbox.warn(fmt::format("creating __consumer_offsets: {}: {}",
                                        wire::error_name(made.error_code), made.error_message.value_or("")));
            }
        });
}

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::FindCoordinatorRequest& request) {
    const auto find = [&](const std::string& key) {
        Coordinator answer{key, kNoBroker, "", -1, ErrorCode::CoordinatorNotAvailable, std::nullopt};
        if (request.key_type != kGroupKey) {
            answer.error_message = "only groups have coordinators here";
            return answer;
        }
        const auto index = group_partition(key);
        if (!index) {
            create_offsets_topic();
            answer.error_message = "__consumer_offsets is being made";
            return answer;
        }
        const PartitionImage* partition_now = image.partition({kConsumerOffsetsTopic, *index});
        const BrokerImage* leader = image.broker(partition_now->leader);
        const Endpoint* endpoint =
            leader == nullptr || leader->fenced ? nullptr : endpoint_on(*leader, inbound.listener(id.conn));
        if (endpoint == nullptr) {
            answer.error_message = fmt::format("__consumer_offsets-{} has no leader", *index);
            return answer;
        }
        answer.node_id = leader->id;
        answer.host = endpoint->host;
        answer.port = endpoint->port;
        answer.error_code = ErrorCode::None;
        return answer;
    };
    wire::FindCoordinatorResponse response;
    if (header.api_version < kCoordinatorListSince) {
        const Coordinator found = find(request.key);
        response.error_code = found.error_code;
        response.error_message = found.error_message;
        response.node_id = found.node_id;
        response.host = found.host;
        response.port = found.port;
    } else {
        for (const std::string& key : request.coordinator_keys) response.coordinators.push_back(find(key));
    }
    inbound.answer(id, wire::encode_response(response, header.api_version, header.correlation_id));
}

}  // namespace highwater::node
