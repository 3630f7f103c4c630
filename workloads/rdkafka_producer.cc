#include "workloads/rdkafka_producer.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <array>

#include "workloads/broker_client.h"
#include "workloads/rdkafka_delivery.h"
#include "workloads/rdkafka_errors.h"

namespace highwater::workloads {
namespace {

/// Librdkafka looks at its timeouts once a second.
constexpr Duration kReportGrace = seconds(2);
constexpr Duration kPurgeTime = milliseconds(1000);
constexpr Duration kServeTime = milliseconds(50);
/// Beyond the broker's own timeout, so that its answer wins against our patience; as our own client.
constexpr Duration kAnswerGrace = milliseconds(1000);

}  // namespace

RdkafkaProducer::RdkafkaProducer(const RdkafkaClientOptions& options, std::int16_t acks)
    : options_(options), acks_(acks) {
    replace_if_fatal();
}

std::map<std::string, std::string> RdkafkaProducer::settings() const {
    return {{"acks", std::to_string(acks_)},
            {"enable.idempotence", options_.idempotent ? "true" : "false"},
            {"retries", std::to_string(options_.retries)},
            {"linger.ms", "0"},
            {"request.timeout.ms", setting_ms(options_.request_timeout)},
            {"socket.timeout.ms", setting_ms(options_.request_timeout + kAnswerGrace)},
            {"delivery.timeout.ms", setting_ms(options_.delivery_timeout)}};
}

void RdkafkaProducer::replace_if_fatal() {
    if (handle_ != nullptr && rd_kafka_fatal_error(handle_->get(), nullptr, 0) == RD_KAFKA_RESP_ERR_NO_ERROR)
        return;
    handle_.reset();
    auto made = RdkafkaHandle::make(RdkafkaHandle::Kind::Producer, options_, settings());
    ++incarnation_;
    if (made)
        handle_ = std::move(*made);
    else
        refused_ = made.error().message;
}

ProduceReply RdkafkaProducer::produce(const ProduceCall& call) {
    replace_if_fatal();
    ProduceReply reply;
    reply.incarnation = incarnation_;
    reply.requests = 0;
    if (handle_ == nullptr) {
        reply.end = LibraryError{refused_, true};
        return reply;
    }
    Bytes value = encode_value(options_.run_id, call.value, call.size);
    const std::int64_t requests_before = handle_->produce_requests();
    const auto delivery = std::make_shared<Delivery>();
    auto ticket = std::make_unique<DeliveryTicket>(delivery);
    if (rd_kafka_produce(handle_->topic(), call.partition, RD_KAFKA_MSG_F_COPY, value.data(), value.size(),
                         nullptr, 0, ticket.get()) != 0) {
        reply.end = not_queued_end(rd_kafka_last_error());
        return reply;
    }
    static_cast<void>(ticket.release());  // the report's from now on
    bool reported = wait_for_report(*delivery, monotonic_now() + options_.delivery_timeout + kReportGrace);
    if (!reported) {
        rd_kafka_purge(handle_->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        reported = wait_for_report(*delivery, monotonic_now() + kPurgeTime);
    }
    reply.requests = handle_->produce_requests() - requests_before;
    reply.end = reported ? delivery_end(delivery->error, delivery->offset, acks_)
                         : AttemptEnd(LibraryError{"no delivery report", false});
    if (!reported) return reply;
    if (delivery->offset >= 0) reply.offset = delivery->offset;
    reply.broker = delivery->broker;
    return reply;
}

bool RdkafkaProducer::wait_for_report(const Delivery& delivery, Instant deadline) const {
    while (!delivery.reported && monotonic_now() < deadline)
        rd_kafka_poll(handle_->get(), static_cast<int>(kServeTime / milliseconds(1)));
    return delivery.reported;
}

}  // namespace highwater::workloads
