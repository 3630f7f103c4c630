// A librdkafka producer of one acks setting. One delivery report completes one append.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "workloads/rdkafka_delivery.h"
#include "workloads/rdkafka_handle.h"

namespace highwater::workloads {

class RdkafkaProducer {
public:
    /// acks: -1, 0 or 1.
    RdkafkaProducer(const RdkafkaClientOptions& options, std::int16_t acks);

    /// Waits for the report until the delivery timeout, and for a last one after giving the record up.
    ProduceReply produce(const ProduceCall& call);

    /// Puts a record into the library's queue; it is among the completed ones later, or at once if it was not
    /// taken. A producer that met a fatal error takes none: it ends everything and is replaced by another
    /// one, with another producer id.
    void start(const ProduceCall& call);
    /// In the order in which they were started; waits up to `wait` if there are none.
    std::vector<Pipeline::Completed> completed(Duration wait);
    /// Gives up what is under way.
    void purge();
    /// Sent so far.
    [[nodiscard]] std::int64_t requests() const;

private:
    struct UnderWay {
        Value value = 0;
        DeliveryTicket delivery;
    };
    void replace_if_fatal();
    /// Reports until nothing is under way, or the deadline.
    void serve_until(Instant deadline);
    void take_reports();
    void complete(Value value, ProduceReply reply);
    [[nodiscard]] std::map<std::string, std::string> settings() const;

    const RdkafkaClientOptions& options_;
    std::int16_t acks_;
    std::unique_ptr<RdkafkaHandle> handle_;
    /// Why there is no handle.
    std::string refused_;
    std::int32_t incarnation_ = 0;
    /// By those that were replaced.
    std::int64_t earlier_requests_ = 0;
    std::deque<UnderWay> under_way_;
    std::vector<Pipeline::Completed> completed_;
};

}  // namespace highwater::workloads
