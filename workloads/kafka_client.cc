#include "workloads/kafka_client.h"

#include <algorithm>

#include "workloads/broker_client.h"

namespace highwater::workloads {
namespace {

/// Beyond the broker's own timeout.ms, so that its answer wins against our patience.
constexpr Duration kGrace = milliseconds(1000);
/// A frozen broker accepts connections but never answers: ask the next one after this.
constexpr Duration kMetadataPatience = milliseconds(400);
constexpr Duration kPollPatience = milliseconds(1500);

class KafkaClient final : public Client {
public:
    explicit KafkaClient(KafkaClientOptions options) : options_(std::move(options)) {
        for (const auto& [id, address] : options_.brokers) {
            connections_.emplace(id, BrokerClient(address, options_.client_id, options_.run_id));
        }
    }

    ProduceReply produce(const ProduceCall& call) override {
        const BrokerId broker = leader_of(call.partition);
        if (broker == kNoBroker) return {};
        ProduceReply reply =
            connections_.at(broker).produce(options_.topic, call, monotonic_now() + call.timeout + kGrace);
        reply.broker = broker;
        return reply;
    }

    PollReply poll(std::int32_t partition, Offset from, Duration max_wait, ReadFrom whom) override {
        const BrokerId leader = leader_of(partition);
        const BrokerId broker = whom == ReadFrom::Leader ? leader : follower_of(partition);
        if (broker == kNoBroker) return {};
        FetchOptions fetch;
        fetch.from = from;
        fetch.max_wait = max_wait;
        PollReply reply = connections_.at(broker).fetch(options_.topic, partition, fetch,
                                                        monotonic_now() + max_wait + kPollPatience);
        reply.broker = broker;
        reply.from_follower = broker != leader;
        return reply;
    }

    ProducerIdReply init_producer_id() override {
        asked_ = (asked_ + 1) % connections_.size();
        auto connection = std::next(connections_.begin(), static_cast<std::ptrdiff_t>(asked_));
        return connection->second.init_producer_id(monotonic_now() + kPollPatience);
    }

    OffsetReply latest(std::int32_t partition) override {
        const BrokerId broker = leader_of(partition);
        if (broker == kNoBroker) return {};
        OffsetReply reply = connections_.at(broker).list_offset(options_.topic, partition, -1, -1,
                                                                monotonic_now() + kPollPatience);
        reply.broker = broker;
        return reply;
    }

    void refresh() override {
        leaders_.clear();
        followers_.clear();
        ++refreshed_;
    }

private:
    BrokerId leader_of(std::int32_t partition) {
        if (leaders_.empty()) look_up();
        const auto found = leaders_.find(partition);
        return found == leaders_.end() || !connections_.contains(found->second) ? kNoBroker : found->second;
    }

    /// Another one after each refresh.
    BrokerId follower_of(std::int32_t partition) {
        const auto found = followers_.find(partition);
        if (found == followers_.end() || found->second.empty()) return kNoBroker;
        return found->second[refreshed_ % found->second.size()];
    }

    /// Asks one broker after the other, beginning with the next one, until one answers.
    void look_up() {
        for (std::size_t tried = 0; tried < connections_.size(); ++tried) {
            asked_ = (asked_ + 1) % connections_.size();
            auto connection = std::next(connections_.begin(), static_cast<std::ptrdiff_t>(asked_));
            const auto response =
                connection->second.metadata(options_.topic, monotonic_now() + kMetadataPatience);
            if (!response || response->topics.size() != 1) continue;
            for (const auto& entry : response->topics[0].partitions) {
                if (entry.leader_id == kNoBroker) continue;
                leaders_[entry.partition_index] = entry.leader_id;
                std::vector<BrokerId>& followers = followers_[entry.partition_index];
                followers = entry.replica_nodes;
                std::erase_if(followers, [&](BrokerId id) {
                    return id == entry.leader_id || !connections_.contains(id);
                });
            }
            return;
        }
    }

    KafkaClientOptions options_;
    std::map<BrokerId, BrokerClient> connections_;
    std::map<std::int32_t, BrokerId> leaders_;
    std::map<std::int32_t, std::vector<BrokerId>> followers_;
    std::size_t asked_ = 0;
    std::size_t refreshed_ = 0;
};

}  // namespace

std::unique_ptr<Client> make_kafka_client(KafkaClientOptions options) {
    return std::make_unique<KafkaClient>(std::move(options));
}

}  // namespace highwater::workloads
