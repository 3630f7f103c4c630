// One rd_kafka_t with its topic: made from settings, watched from inside, taken down without waiting for
// anybody. Names are resolved by the run's own addresses.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "workloads/rdkafka_client.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the library's own names, declared to keep its header out.
struct rd_kafka_s;
struct rd_kafka_topic_s;
struct rd_kafka_conf_s;
// NOLINTEND(bugprone-reserved-identifier)

namespace highwater::workloads {

class RdkafkaHandle {
public:
    enum class Kind : std::uint8_t { Producer, Consumer };
    /// `settings`: librdkafka's own keys, over those that every client has. Errors: the library refuses one.
    static Result<std::unique_ptr<RdkafkaHandle>> make(Kind kind, const RdkafkaClientOptions& options,
                                                       const std::map<std::string, std::string>& settings);
    /// Purges what is under way; its delivery reports are served.
    ~RdkafkaHandle();
    RdkafkaHandle(const RdkafkaHandle&) = delete;
    RdkafkaHandle& operator=(const RdkafkaHandle&) = delete;

    [[nodiscard]] rd_kafka_s* get() const { return client_; }
    [[nodiscard]] rd_kafka_topic_s* topic() const { return topic_; }
    /// Produce requests written to a socket so far.
    [[nodiscard]] std::int64_t produce_requests() const { return produce_requests_; }
    /// When the first Fetch was sent whose answer may have been taken in after `since`; `since` if none was.
    [[nodiscard]] Instant fetch_sent_before(Instant since);

private:
    struct Answered {
        Instant received;
        Instant sent;
    };
    struct Callbacks;

    RdkafkaHandle(Kind kind, const RdkafkaClientOptions& options);
    Status configure(rd_kafka_conf_s* conf, const std::map<std::string, std::string>& settings);
    void fetch_answered(Duration round_trip);

    Kind kind_;
    std::string topic_name_;
    /// Host name -> dotted address.
    std::map<std::string, std::string> hosts_;
    rd_kafka_s* client_ = nullptr;
    rd_kafka_topic_s* topic_ = nullptr;
    std::atomic<std::int64_t> produce_requests_ = 0;
    std::mutex mutex_;
    std::deque<Answered> fetches_;
};

/// Milliseconds as librdkafka's settings are written.
std::string setting_ms(Duration duration);

}  // namespace highwater::workloads
