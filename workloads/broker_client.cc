#include "workloads/broker_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "wire/frame.h"
#include "wire/messages/fetch.h"
#include "wire/messages/init_producer_id.h"
#include "wire/messages/list_offsets.h"
#include "wire/messages/produce.h"
#include "wire/record_batch.h"

namespace highwater::workloads {
namespace {

// The highest versions that our node and Apache Kafka 4.x both offer to clients.
constexpr std::int16_t kProduceVersion = 7;
constexpr std::int16_t kFetchVersion = 11;
/// The last that names topics, and that asks for no epoch of the follower's broker.
constexpr std::int16_t kFollowerFetchVersion = 12;
constexpr std::int16_t kListOffsetsVersion = 5;
constexpr std::int16_t kMetadataVersion = 8;
constexpr std::int16_t kCreateTopicsVersion = 4;
constexpr std::int16_t kElectLeadersVersion = 2;
constexpr std::int16_t kInitProducerIdVersion = 1;

// Bits of a value: 23 for the producer, 40 for its count.
constexpr std::int64_t kProducersMax = std::int64_t{1} << 23;
constexpr std::int64_t kNumbersMax = std::int64_t{1} << 40;

}  // namespace

Bytes encode_value(const std::string& run_id, Value value, std::int32_t size) {
    std::string text = run_id + ":" + value_text(value);
    if (text.size() < static_cast<std::size_t>(size)) {
        text += ' ';
        text.resize(std::max(text.size(), static_cast<std::size_t>(size)), '.');
    }
    return {text.begin(), text.end()};
}

Value decode_value(const std::string& run_id, BytesView bytes, Offset offset) {
    // Negative values are nobody's: the checker calls them phantoms.
    const Value foreign = -1 - offset;
    std::string_view text = as_text(bytes);
    const std::string prefix = run_id + ":p";
    if (!text.starts_with(prefix)) return foreign;
    text.remove_prefix(prefix.size());
    std::int64_t producer = 0;
    std::int64_t n = 0;
    const auto [dash, status] = std::from_chars(text.data(), text.data() + text.size(), producer);
    if (status != std::errc{} || dash == text.data() + text.size() || *dash != '-') return foreign;
    const auto [end, ended] = std::from_chars(dash + 1, text.data() + text.size(), n);
    const bool whole = end == text.data() + text.size() || *end == ' ';
    if (ended != std::errc{} || !whole) return foreign;
    // Numbers that do not fit would come out as somebody else's value.
    const bool fits = producer >= 0 && producer < kProducersMax && n >= 0 && n < kNumbersMax;
    return fits ? make_value(producer, n) : foreign;
}

std::optional<SocketFailure> BrokerClient::send(BytesView frame, Instant deadline) {
    if (!socket_.connected()) {
        if (const auto failed = socket_.connect(address_, deadline)) return failed;
    }
    return socket_.send_frame(frame, deadline);
}

template <class Response, class Request>
tl::expected<Response, SocketFailure> BrokerClient::ask(const Request& request, std::int16_t version,
                                                        Instant deadline) {
    const Bytes frame = wire::encode_request(request, version, ++correlation_, client_id_);
    if (const auto failed = send(frame, deadline)) {
        socket_.close();
        return tl::make_unexpected(*failed);
    }
    auto answer = socket_.receive_frame(deadline);
    if (!answer) {
        // A late answer must not be taken for the next request's.
        socket_.close();
        return tl::make_unexpected(answer.error());
    }
    auto response = wire::decode_response<Response>(*answer, version, correlation_);
    if (!response) {
        socket_.close();
        return tl::make_unexpected(SocketFailure::Malformed);
    }
    return std::move(*response);
}

ProduceReply BrokerClient::produce(const std::string& topic, const ProduceCall& call, Instant deadline) {
    wire::Record record;
    record.timestamp = wall_clock_ms();
    record.value = encode_value(run_id_, call.value, call.size);
    wire::BatchSpec batch;
    batch.records.push_back(std::move(record));
    if (call.identity) {
        batch.producer_id = call.identity->producer_id;
        batch.producer_epoch = call.identity->producer_epoch;
        batch.base_sequence = call.identity->sequence;
    }
    wire::ProduceRequest request;
    request.acks = call.acks;
    request.timeout_ms = static_cast<std::int32_t>(call.timeout / milliseconds(1));
    auto& data = request.topic_data.emplace_back();
    data.name = topic;
    auto& asked = data.partition_data.emplace_back();
    asked.index = call.partition;
    asked.records = wire::encode_batch(batch);
    ProduceReply reply;
    if (call.acks == 0) {
        const auto failed =
            send(wire::encode_request(request, kProduceVersion, ++correlation_, client_id_), deadline);
        if (failed) socket_.close();
        if (failed)
            reply.end = *failed;
        else
            reply.end = wire::ErrorCode::None;
        return reply;
    }
    const auto response = ask<wire::ProduceResponse>(request, kProduceVersion, deadline);
    if (!response) {
        reply.end = response.error();
        return reply;
    }
    if (response->responses.size() != 1 || response->responses[0].partition_responses.size() != 1) {
        reply.end = SocketFailure::Malformed;
        return reply;
    }
    const auto& answer = response->responses[0].partition_responses[0];
    reply.end = answer.error_code;
    reply.offset = answer.base_offset;
    return reply;
}

PollReply BrokerClient::fetch(const std::string& topic, std::int32_t partition, const FetchOptions& options,
                              Instant deadline) {
    wire::FetchRequest request;
    request.max_wait_ms = static_cast<std::int32_t>(options.max_wait / milliseconds(1));
    request.min_bytes = 1;
    request.max_bytes = options.max_bytes;
    auto& asked_topic = request.topics.emplace_back();
    asked_topic.topic = topic;
    auto& asked = asked_topic.partitions.emplace_back();
    asked.partition = partition;
    asked.fetch_offset = options.from;
    asked.partition_max_bytes = options.max_bytes;
    PollReply reply;
    const auto response = ask<wire::FetchResponse>(request, kFetchVersion, deadline);
    if (!response) {
        reply.end = response.error();
        return reply;
    }
    if (response->responses.size() != 1 || response->responses[0].partitions.size() != 1) {
        reply.end = SocketFailure::Malformed;
        return reply;
    }
    const auto& answer = response->responses[0].partitions[0];
    reply.end = answer.error_code;
    reply.high_watermark = answer.high_watermark;
    reply.log_start = answer.log_start_offset;
    reply.next = options.from;
    const auto batches = wire::split_batches(answer.records ? BytesView(*answer.records) : BytesView());
    if (!batches) {
        reply.end = SocketFailure::Malformed;
        return reply;
    }
    for (const wire::BatchView& batch : *batches) {
        reply.next = batch.header.next_offset();
        if (batch.header.control()) continue;
        const auto records = wire::decode_records(batch.bytes);
        if (!records) {
            reply.end = SocketFailure::Malformed;
            return reply;
        }
        for (const wire::Record& record : *records) {
            // The first batch may begin before what was asked for.
            if (record.offset < options.from) continue;
            reply.records.push_back(
                {record.offset, decode_value(run_id_, record.value.value_or(Bytes{}), record.offset)});
        }
    }
    return reply;
}

PollReply BrokerClient::claim_fetched(const std::string& topic, std::int32_t partition, BrokerId as,
                                      Offset offset, Instant deadline) {
    wire::FetchRequest request;
    request.replica_id = as;
    auto& asked_topic = request.topics.emplace_back();
    asked_topic.topic = topic;
    auto& asked = asked_topic.partitions.emplace_back();
    asked.partition = partition;
    asked.fetch_offset = offset;
    asked.log_start_offset = 0;
    PollReply reply;
    const auto response = ask<wire::FetchResponse>(request, kFollowerFetchVersion, deadline);
    if (!response) {
        reply.end = response.error();
    } else if (response->responses.size() != 1 || response->responses[0].partitions.size() != 1) {
        reply.end = SocketFailure::Malformed;
    } else {
        reply.end = response->responses[0].partitions[0].error_code;
        reply.high_watermark = response->responses[0].partitions[0].high_watermark;
    }
    return reply;
}

OffsetReply BrokerClient::list_offset(const std::string& topic, std::int32_t partition,
                                      std::int32_t replica_id, std::int64_t timestamp, Instant deadline) {
    wire::ListOffsetsRequest request;
    request.replica_id = replica_id;
    auto& asked_topic = request.topics.emplace_back();
    asked_topic.name = topic;
    auto& asked = asked_topic.partitions.emplace_back();
    asked.partition_index = partition;
    asked.timestamp = timestamp;
    OffsetReply reply;
    const auto response = ask<wire::ListOffsetsResponse>(request, kListOffsetsVersion, deadline);
    if (!response) {
        reply.end = response.error();
        return reply;
    }
    if (response->topics.size() != 1 || response->topics[0].partitions.size() != 1) {
        reply.end = SocketFailure::Malformed;
        return reply;
    }
    const auto& answer = response->topics[0].partitions[0];
    reply.end = answer.error_code;
    reply.offset = answer.offset;
    reply.leader_epoch = answer.leader_epoch;
    return reply;
}

ProducerIdReply BrokerClient::init_producer_id(Instant deadline) {
    wire::InitProducerIdRequest request;
    request.transaction_timeout_ms = 60'000;
    ProducerIdReply reply;
    const auto response = ask<wire::InitProducerIdResponse>(request, kInitProducerIdVersion, deadline);
    if (!response) {
        reply.end = response.error();
        return reply;
    }
    reply.end = response->error_code;
    reply.producer_id = response->producer_id;
    reply.producer_epoch = response->producer_epoch;
    return reply;
}

tl::expected<wire::MetadataResponse, AttemptEnd> BrokerClient::metadata(const std::string& topic,
                                                                        Instant deadline) {
    wire::MetadataRequest request;
    request.allow_auto_topic_creation = false;
    request.topics.emplace();
    request.topics->emplace_back().name = topic;
    auto response = ask<wire::MetadataResponse>(request, kMetadataVersion, deadline);
    if (!response) return tl::make_unexpected(AttemptEnd(response.error()));
    return std::move(*response);
}

tl::expected<wire::CreateTopicsResponse, AttemptEnd> BrokerClient::create_topics(
    const wire::CreateTopicsRequest& request, Instant deadline) {
    auto response = ask<wire::CreateTopicsResponse>(request, kCreateTopicsVersion, deadline);
    if (!response) return tl::make_unexpected(AttemptEnd(response.error()));
    return std::move(*response);
}

tl::expected<wire::ElectLeadersResponse, AttemptEnd> BrokerClient::elect_leaders(
    const wire::ElectLeadersRequest& request, Instant deadline) {
    auto response = ask<wire::ElectLeadersResponse>(request, kElectLeadersVersion, deadline);
    if (!response) return tl::make_unexpected(AttemptEnd(response.error()));
    return std::move(*response);
}

}  // namespace highwater::workloads
