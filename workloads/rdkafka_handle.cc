#include "workloads/rdkafka_handle.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <librdkafka/rdkafka.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "workloads/rdkafka_delivery.h"

namespace highwater::workloads {
namespace {

constexpr std::int16_t kProduceKey = 0;
constexpr std::int16_t kFetchKey = 1;
constexpr const char* kInterceptor = "highwater";
constexpr Duration kPurgeTime = milliseconds(1000);
/// Nobody looks at more: a drained queue forgets what came before it.
constexpr std::size_t kAnsweredMost = 4096;

struct Resolved {
    addrinfo info{};
    sockaddr_in address{};
};

/// Retries of connections and looks for a new leader: fast enough for a fault of a second, as our own client.
const std::map<std::string, std::string>& common_settings() {
    static const std::map<std::string, std::string> settings{
        {"broker.address.family", "v4"},
        {"log_level", "0"},
        {"reconnect.backoff.max.ms", "500"},
        {"reconnect.backoff.ms", "50"},
        {"socket.connection.setup.timeout.ms", "1000"},
        {"socket.nagle.disable", "true"},
        {"topic.metadata.refresh.interval.ms", "1000"},
    };
    return settings;
}

}  // namespace

/// The library's threads and our polling threads come in here; `opaque` is the handle.
struct RdkafkaHandle::Callbacks {
    static RdkafkaHandle& handle(void* opaque) { return *static_cast<RdkafkaHandle*>(opaque); }

    /// As getaddrinfo(3), and, without a node, as freeaddrinfo(3).
    static int resolve(const char* node, const char* service, const addrinfo* /*hints*/, addrinfo** result,
                       void* opaque) {
        if (node == nullptr && service == nullptr) {
            delete reinterpret_cast<Resolved*>(*result);
            return 0;
        }
        const auto& hosts = handle(opaque).hosts_;
        const auto found = node == nullptr ? hosts.end() : hosts.find(node);
        if (found == hosts.end() || service == nullptr) return EAI_NONAME;
        std::uint16_t port = 0;
        const char* end = service + std::strlen(service);
        if (std::from_chars(service, end, port).ptr != end) return EAI_SERVICE;
        auto resolved = std::make_unique<Resolved>();
        if (::inet_pton(AF_INET, found->second.c_str(), &resolved->address.sin_addr) != 1) return EAI_NONAME;
        resolved->address.sin_family = AF_INET;
        resolved->address.sin_port = htons(port);
        resolved->info.ai_family = AF_INET;
        resolved->info.ai_socktype = SOCK_STREAM;
        resolved->info.ai_protocol = IPPROTO_TCP;
        resolved->info.ai_addrlen = sizeof(resolved->address);
        resolved->info.ai_addr = reinterpret_cast<sockaddr*>(&resolved->address);
        *result = &resolved.release()->info;
        return 0;
    }

    static rd_kafka_resp_err_t created(rd_kafka_t* client, const rd_kafka_conf_t* /*conf*/, void* opaque,
                                       char* /*reason*/, std::size_t /*size*/) {
        const rd_kafka_resp_err_t error =
            rd_kafka_interceptor_add_on_request_sent(client, kInterceptor, sent, opaque);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error;
        return rd_kafka_interceptor_add_on_response_received(client, kInterceptor, received, opaque);
    }
    static rd_kafka_resp_err_t sent(rd_kafka_t* /*client*/, int /*socket*/, const char* /*name*/,
                                    std::int32_t /*broker*/, std::int16_t api, std::int16_t /*version*/,
                                    std::int32_t /*correlation*/, std::size_t /*size*/, void* opaque) {
        if (api == kProduceKey) ++handle(opaque).produce_requests_;
        return RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    static rd_kafka_resp_err_t received(rd_kafka_t* /*client*/, int /*socket*/, const char* /*name*/,
                                        std::int32_t /*broker*/, std::int16_t api, std::int16_t /*version*/,
                                        std::int32_t /*correlation*/, std::size_t /*size*/,
                                        std::int64_t round_trip_us, rd_kafka_resp_err_t /*error*/,
                                        void* opaque) {
        if (api == kFetchKey && round_trip_us >= 0)
            handle(opaque).fetch_answered(std::chrono::microseconds(round_trip_us));
        return RD_KAFKA_RESP_ERR_NO_ERROR;
    }

    static void delivered(rd_kafka_t* /*client*/, const rd_kafka_message_t* message, void* /*opaque*/) {
        const std::unique_ptr<DeliveryTicket> ticket(static_cast<DeliveryTicket*>(message->_private));
        Delivery& delivery = **ticket;
        delivery.reported = true;
        delivery.error = message->err;
        delivery.offset = message->offset;
        delivery.broker = rd_kafka_message_broker_id(message);
    }

    /// Connections that fail are what faults are for; what they mean for an operation its own answer tells.
    static void ignore_error(rd_kafka_t* /*client*/, int /*error*/, const char* /*reason*/,
                             void* /*opaque*/) {}
    static void ignore_line(const rd_kafka_t* /*client*/, int /*level*/, const char* /*facility*/,
                            const char* /*line*/) {}
};

RdkafkaHandle::RdkafkaHandle(Kind kind, const RdkafkaClientOptions& options)
    : kind_(kind), topic_name_(options.topic) {
    for (const auto& [id, address] : options.brokers) {
        if (const auto name = options.names.find(id); name != options.names.end())
            hosts_[name->second] = address.host;
    }
}

Status RdkafkaHandle::configure(rd_kafka_conf_s* conf, const std::map<std::string, std::string>& settings) {
    std::array<char, 512> reason{};
    for (const auto& [key, value] : settings) {
        if (rd_kafka_conf_set(conf, key.c_str(), value.c_str(), reason.data(), reason.size()) !=
            RD_KAFKA_CONF_OK)
            return failure(fmt::format("librdkafka: {} = {}: {}", key, value, reason.data()));
    }
    rd_kafka_conf_set_opaque(conf, this);
    rd_kafka_conf_set_resolve_cb(conf, Callbacks::resolve);
    rd_kafka_conf_set_error_cb(conf, Callbacks::ignore_error);
    rd_kafka_conf_set_log_cb(conf, Callbacks::ignore_line);
    if (kind_ == Kind::Producer) rd_kafka_conf_set_dr_msg_cb(conf, Callbacks::delivered);
    rd_kafka_conf_interceptor_add_on_new(conf, kInterceptor, Callbacks::created, this);
    return {};
}

Result<std::unique_ptr<RdkafkaHandle>> RdkafkaHandle::make(
    Kind kind, const RdkafkaClientOptions& options, const std::map<std::string, std::string>& settings) {
    std::unique_ptr<RdkafkaHandle> handle(new RdkafkaHandle(kind, options));
    std::map<std::string, std::string> all = settings;
    all.insert(common_settings().begin(), common_settings().end());
    all["client.id"] = options.client_id;
    std::string& bootstrap = all["bootstrap.servers"];
    for (const auto& [id, address] : options.brokers) {
        const auto name = options.names.find(id);
        if (name == options.names.end()) continue;
        bootstrap += fmt::format("{}{}:{}", bootstrap.empty() ? "" : ",", name->second, address.port);
    }
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    if (Status configured = handle->configure(conf, all); !configured) {
        rd_kafka_conf_destroy(conf);
        return tl::make_unexpected(configured.error());
    }
    std::array<char, 512> reason{};
    handle->client_ = rd_kafka_new(kind == Kind::Producer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER, conf,
                                   reason.data(), reason.size());
    if (handle->client_ == nullptr) {
        rd_kafka_conf_destroy(conf);
        return failure(fmt::format("librdkafka: {}", reason.data()));
    }
    handle->topic_ = rd_kafka_topic_new(handle->client_, options.topic.c_str(), nullptr);
    if (handle->topic_ == nullptr)
        return failure(
            fmt::format("librdkafka: topic {}: {}", options.topic, rd_kafka_err2str(rd_kafka_last_error())));
    return handle;
}

RdkafkaHandle::~RdkafkaHandle() {
    if (client_ == nullptr) return;
    if (kind_ == Kind::Producer) {
        // A report that is not served would never free its ticket.
        rd_kafka_purge(client_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_flush(client_, static_cast<int>(kPurgeTime / milliseconds(1)));
    }
    if (topic_ != nullptr) rd_kafka_topic_destroy(topic_);
    rd_kafka_destroy(client_);
}

void RdkafkaHandle::fetch_answered(Duration round_trip) {
    const Instant now = monotonic_now();
    const std::lock_guard lock(mutex_);
    fetches_.push_back({now, now - round_trip});
    if (fetches_.size() > kAnsweredMost) fetches_.pop_front();
}

Instant RdkafkaHandle::fetch_sent_before(Instant since) {
    const std::lock_guard lock(mutex_);
    // The last answer before `since` may still have been on its way into the queue then.
    while (fetches_.size() > 1 && fetches_[1].received < since) fetches_.pop_front();
    Instant first = since;
    for (const Answered& answered : fetches_) first = std::min(first, answered.sent);
    return first;
}

std::string setting_ms(Duration duration) { return std::to_string(duration / milliseconds(1)); }

}  // namespace highwater::workloads
