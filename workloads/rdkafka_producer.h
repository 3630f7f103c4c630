// A librdkafka producer of one acks setting. One delivery report completes one produce().
#pragma once

#include <memory>
#include <string>

#include "workloads/rdkafka_delivery.h"
#include "workloads/rdkafka_handle.h"

namespace highwater::workloads {

class RdkafkaProducer {
public:
    /// acks: -1, 0 or 1.
    RdkafkaProducer(const RdkafkaClientOptions& options, std::int16_t acks);

    /// Waits for the report until the delivery timeout, and for a last one after giving the record up.
    ProduceReply produce(const ProduceCall& call);

private:
    /// A producer that met a fatal error takes no more records: another one, with another producer id.
    void replace_if_fatal();
    /// False: no report by then.
    bool wait_for_report(const Delivery& delivery, Instant deadline) const;
    [[nodiscard]] std::map<std::string, std::string> settings() const;

    const RdkafkaClientOptions& options_;
    std::int16_t acks_;
    std::unique_ptr<RdkafkaHandle> handle_;
    /// Why there is no handle.
    std::string refused_;
    std::int32_t incarnation_ = 0;
};

}  // namespace highwater::workloads
