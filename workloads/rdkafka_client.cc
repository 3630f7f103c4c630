#include "workloads/rdkafka_client.h"

#include "workloads/rdkafka_consumer.h"
#include "workloads/rdkafka_producer.h"

namespace highwater::workloads {
namespace {

/// A librdkafka client is a producer of one acks or a consumer: one of each kind that is asked for.
class RdkafkaClient final : public Client {
public:
    explicit RdkafkaClient(RdkafkaClientOptions options) : options_(std::move(options)) {}

    ProduceReply produce(const ProduceCall& call) override {
        return producers_.try_emplace(call.acks, options_, call.acks).first->second.produce(call);
    }
    [[nodiscard]] bool hides_attempts() const override { return true; }
    /// Librdkafka reads from the leader, whoever is asked for.
    PollReply poll(std::int32_t partition, Offset from, Duration max_wait, ReadFrom /*whom*/) override {
        return consumer(partition).poll(from, max_wait);
    }
    OffsetReply latest(std::int32_t partition) override { return consumer(partition).latest(); }
    /// The library's own business.
    ProducerIdReply init_producer_id() override { return {}; }
    /// It finds new leaders by itself.
    void refresh() override {}

private:
    RdkafkaConsumer& consumer(std::int32_t partition) {
        return consumers_.try_emplace(partition, options_, partition).first->second;
    }

    const RdkafkaClientOptions options_;
    std::map<std::int16_t, RdkafkaProducer> producers_;
    std::map<std::int32_t, RdkafkaConsumer> consumers_;
};

}  // namespace

std::unique_ptr<Client> make_rdkafka_client(RdkafkaClientOptions options) {
    return std::make_unique<RdkafkaClient>(std::move(options));
}

}  // namespace highwater::workloads
