#include "workloads/rdkafka_consumer.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>

#include "workloads/broker_client.h"
#include "workloads/rdkafka_errors.h"

namespace highwater::workloads {
namespace {

/// A frozen broker is given up after this.
constexpr Duration kAnswerPatience = milliseconds(1500);
constexpr Duration kFetchWait = milliseconds(50);
constexpr std::size_t kBatch = 500;

/// One request at a time: reading ahead only as far as one answer goes keeps reads near their calls.
std::map<std::string, std::string> consumer_settings() {
    return {{"auto.offset.reset", "error"},
            {"check.crcs", "true"},
            {"enable.auto.commit", "false"},
            {"enable.partition.eof", "true"},
            {"fetch.error.backoff.ms", "20"},
            {"fetch.wait.max.ms", setting_ms(kFetchWait)},
            {"isolation.level", "read_uncommitted"},
            {"queued.min.messages", "1"},
            {"socket.timeout.ms", setting_ms(kAnswerPatience)}};
}

int in_ms(Duration duration) { return static_cast<int>(duration / milliseconds(1)); }

}  // namespace

RdkafkaConsumer::RdkafkaConsumer(const RdkafkaClientOptions& options, std::int32_t partition)
    : options_(options), partition_(partition) {
    auto made = RdkafkaHandle::make(RdkafkaHandle::Kind::Consumer, options_, consumer_settings());
    if (made)
        handle_ = std::move(*made);
    else
        refused_ = made.error().message;
}

RdkafkaConsumer::~RdkafkaConsumer() { stop(); }

bool RdkafkaConsumer::start(Offset from) {
    stop();
    fetched_.clear();
    error_.reset();
    next_ = from;
    started_at_ = monotonic_now();
    drained_ = started_at_;
    started_ = rd_kafka_consume_start(handle_->topic(), partition_, from) == 0;
    return started_;
}

void RdkafkaConsumer::stop() {
    if (!started_) return;
    rd_kafka_consume_stop(handle_->topic(), partition_);
    started_ = false;
}

PollReply RdkafkaConsumer::poll(Offset from, Duration max_wait) {
    PollReply reply;
    if (handle_ == nullptr) {
        reply.end = LibraryError{refused_, true};
        return reply;
    }
    if ((!started_ || from != next_) && !start(from)) {
        reply.end = read_end(rd_kafka_last_error());
        return reply;
    }
    if (fetched_.empty() && !error_) take_in(max_wait);
    if (!fetched_.empty()) return hand_out();
    if (error_) {
        reply.end = *error_;
        stop();  // the next poll begins anew
        return reply;
    }
    reply.end = wire::ErrorCode::None;
    reply.next = next_;
    return reply;
}

void RdkafkaConsumer::take_in(Duration max_wait) {
    std::array<rd_kafka_message_t*, kBatch> messages{};
    const Instant before = monotonic_now();
    rd_kafka_poll(handle_->get(), 0);
    const ssize_t count = rd_kafka_consume_batch(handle_->topic(), partition_, in_ms(max_wait),
                                                 messages.data(), messages.size());
    if (count < 0) {
        error_ = read_end(rd_kafka_last_error());
        return;
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        const rd_kafka_message_t& message = *messages[i];
        if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR && !error_) {
            const BytesView value(static_cast<const std::uint8_t*>(message.payload), message.len);
            fetched_.push_back({{message.offset, decode_value(options_.run_id, value, message.offset)},
                                rd_kafka_message_broker_id(&message)});
        } else if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR &&
                   message.err != RD_KAFKA_RESP_ERR__PARTITION_EOF && !error_) {
            error_ = read_end(message.err);
        }
        rd_kafka_message_destroy(messages[i]);
    }
    asked_ = std::max(handle_->fetch_sent_before(drained_), started_at_);
    if (static_cast<std::size_t>(count) < kBatch) drained_ = before;
}

PollReply RdkafkaConsumer::hand_out() {
    PollReply reply;
    reply.end = wire::ErrorCode::None;
    reply.broker = fetched_.front().broker;
    reply.asked = asked_;
    while (!fetched_.empty() && fetched_.front().broker == reply.broker) {
        reply.records.push_back(fetched_.front().record);
        fetched_.pop_front();
    }
    next_ = reply.records.back().offset + 1;
    reply.next = next_;
    return reply;
}

OffsetReply RdkafkaConsumer::latest() {
    OffsetReply reply;
    if (handle_ == nullptr) {
        reply.end = LibraryError{refused_, true};
        return reply;
    }
    std::int64_t low = 0;
    std::int64_t high = 0;
    const rd_kafka_resp_err_t error = rd_kafka_query_watermark_offsets(
        handle_->get(), options_.topic.c_str(), partition_, &low, &high, in_ms(kAnswerPatience));
    reply.end = read_end(error);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) reply.offset = high;
    return reply;
}

}  // namespace highwater::workloads
