#include "workloads/rdkafka_producer.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <tuple>
#include <utility>

#include "workloads/broker_client.h"
#include "workloads/rdkafka_errors.h"

namespace highwater::workloads {
namespace {

/// Librdkafka looks at its timeouts once a second.
constexpr Duration kReportGrace = seconds(2);
constexpr Duration kPurgeTime = milliseconds(1000);
constexpr Duration kServeTime = milliseconds(50);
/// Beyond the broker's own timeout, so that its answer wins against our patience; as our own client.
constexpr Duration kAnswerGrace = milliseconds(1000);

int in_ms(Duration duration) { return static_cast<int>(duration / milliseconds(1)); }

}  // namespace

RdkafkaProducer::RdkafkaProducer(const RdkafkaClientOptions& options, std::int16_t acks)
    : options_(options), acks_(acks) {
    replace_if_fatal();
}

std::map<std::string, std::string> RdkafkaProducer::settings() const {
    return {{"acks", std::to_string(acks_)},
            // A record is a request: what is sent again can be counted.
            {"batch.num.messages", "1"},
            {"enable.idempotence", options_.idempotent ? "true" : "false"},
            {"retries", std::to_string(options_.retries)},
            {"linger.ms", "0"},
            {"request.timeout.ms", setting_ms(options_.request_timeout)},
            {"socket.timeout.ms", setting_ms(options_.request_timeout + kAnswerGrace)},
            {"delivery.timeout.ms", setting_ms(options_.delivery_timeout)}};
}

void RdkafkaProducer::replace_if_fatal() {
    if (handle_ != nullptr) {
        if (rd_kafka_fatal_error(handle_->get(), nullptr, 0) == RD_KAFKA_RESP_ERR_NO_ERROR) return;
        purge();
        serve_until(monotonic_now() + kPurgeTime);
        for (const UnderWay& lost : std::exchange(under_way_, {})) {
            ProduceReply reply;
            reply.end = LibraryError{"no delivery report", false};
            complete(lost.value, std::move(reply));
        }
        earlier_requests_ += handle_->produce_requests();
        handle_.reset();
    }
    auto made = RdkafkaHandle::make(RdkafkaHandle::Kind::Producer, options_, settings());
    ++incarnation_;
    if (made)
        handle_ = std::move(*made);
    else
        refused_ = made.error().message;
}

void RdkafkaProducer::start(const ProduceCall& call) {
    replace_if_fatal();
    ProduceReply refusal;
    if (handle_ == nullptr) {
        refusal.end = LibraryError{refused_, true};
        return complete(call.value, std::move(refusal));
    }
    Bytes value = encode_value(options_.run_id, call.value, call.size);
    const auto delivery = std::make_shared<Delivery>();
    auto ticket = std::make_unique<DeliveryTicket>(delivery);
    if (rd_kafka_produce(handle_->topic(), call.partition, RD_KAFKA_MSG_F_COPY, value.data(), value.size(),
                         nullptr, 0, ticket.get()) != 0) {
        refusal.end = not_queued_end(rd_kafka_last_error());
        return complete(call.value, std::move(refusal));
    }
    std::ignore = ticket.release();  // the report's from now on
    under_way_.push_back({call.value, delivery});
}

void RdkafkaProducer::complete(Value value, ProduceReply reply) {
    reply.incarnation = incarnation_;
    completed_.push_back({value, std::move(reply)});
}

void RdkafkaProducer::take_reports() {
    std::erase_if(under_way_, [this](const UnderWay& append) {
        const Delivery& delivery = *append.delivery;
        if (!delivery.reported) return false;
        ProduceReply reply;
        reply.end = delivery_end(delivery.error, delivery.offset, acks_);
        if (delivery.offset >= 0) reply.offset = delivery.offset;
        reply.broker = delivery.broker;
        complete(append.value, std::move(reply));
        return true;
    });
}

std::vector<Pipeline::Completed> RdkafkaProducer::completed(Duration wait) {
    if (handle_ != nullptr) {
        rd_kafka_poll(handle_->get(), completed_.empty() ? in_ms(wait) : 0);
        take_reports();
    }
    return std::exchange(completed_, {});
}

void RdkafkaProducer::serve_until(Instant deadline) {
    while (!under_way_.empty() && monotonic_now() < deadline) {
        rd_kafka_poll(handle_->get(), in_ms(kServeTime));
        take_reports();
    }
}

void RdkafkaProducer::purge() {
    if (handle_ != nullptr)
        rd_kafka_purge(handle_->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
}

std::int64_t RdkafkaProducer::requests() const {
    return earlier_requests_ + (handle_ == nullptr ? 0 : handle_->produce_requests());
}

ProduceReply RdkafkaProducer::produce(const ProduceCall& call) {
    const std::int64_t before = requests();
    start(call);
    serve_until(monotonic_now() + options_.delivery_timeout + kReportGrace);
    if (!under_way_.empty()) {
        purge();
        serve_until(monotonic_now() + kPurgeTime);
    }
    ProduceReply reply;
    reply.end = LibraryError{"no delivery report", false};
    reply.incarnation = incarnation_;
    under_way_.clear();  // a report that comes later tells nobody
    for (Pipeline::Completed& completed : std::exchange(completed_, {})) {
        if (completed.value == call.value) reply = std::move(completed.reply);
    }
    reply.requests = requests() - before;
    return reply;
}

}  // namespace highwater::workloads
