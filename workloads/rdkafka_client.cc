#include "workloads/rdkafka_client.h"

#include "workloads/rdkafka_consumer.h"
#include "workloads/rdkafka_producer.h"

namespace highwater::workloads {
namespace {

/// A librdkafka client is a producer of one acks or a consumer: one of each kind that is asked for.
class RdkafkaClient final : public Client, public Pipeline {
public:
    explicit RdkafkaClient(RdkafkaClientOptions options) : options_(std::move(options)) {}

    ProduceReply produce(const ProduceCall& call) override { return producer(call.acks).produce(call); }
    Pipeline* pipeline() override { return this; }
    void start(const ProduceCall& call) override { producer(call.acks).start(call); }
    std::vector<Completed> completed(Duration wait) override {
        std::vector<Completed> all;
        for (auto& [acks, producer] : producers_) {
            // They share the wait: a report to one is late by no more than that of the others.
            const Duration part =
                all.empty() ? wait / static_cast<std::int64_t>(producers_.size()) : Duration{0};
            for (Completed& one : producer.completed(part)) all.push_back(std::move(one));
        }
        return all;
    }
    void purge() override {
        for (auto& [acks, producer] : producers_) producer.purge();
    }
    [[nodiscard]] std::int64_t requests() const override {
        std::int64_t sum = 0;
        for (const auto& [acks, producer] : producers_) sum += producer.requests();
        return sum;
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
    RdkafkaProducer& producer(std::int16_t acks) {
        return producers_.try_emplace(acks, options_, acks).first->second;
    }
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
