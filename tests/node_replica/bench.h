// Replicas on a bench: up to nine Partition objects named A, B, C… (broker 1, 2, 3…) of one partition, a
// settable cluster view and a clock that only moves when told. Commands are the lines of the transcripts in
// testdata.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/log/memory_storage.h"
#include "node/replica/partition.h"
#include "transcript.h"

namespace highwater::node {

class TestCluster : public ClusterView {
public:
    [[nodiscard]] std::optional<BrokerView> broker(BrokerId id) const override {
        const auto found = brokers.find(id);
        return found == brokers.end() ? std::nullopt : std::optional(found->second);
    }
    std::map<BrokerId, BrokerView> brokers;
};

/// `count` batches of one record each, as a producer sends them.
Bytes producer_batches(int count);
/// One batch of one record, of an idempotent producer.
Bytes idempotent_batch(ProducerId producer, std::int16_t producer_epoch, std::int32_t sequence);

class Bench {
public:
    Bench();
    /// Runs a block's commands: events and answers as they come, at the end the state of every replica
    /// touched.
    std::string run(const std::vector<std::string>& commands);
    [[nodiscard]] Instant now() const { return now_; }
    [[nodiscard]] const Partition& replica(const std::string& name) { return *node(name).partition; }

private:
    struct Node {
        std::unique_ptr<MemoryStorage> storage;
        std::unique_ptr<Partition> partition;
        std::set<ProduceTicket> waiting;
        std::optional<AlterPartitionProposal> asked;
        std::optional<FetchPosition> held_position;
        FetchAnswer held_answer;
    };

    std::string run_command(const std::string& command);
    Node& node(const std::string& name);
    Node& touch(CommandWords& words);
    std::string drain(const std::string& name);

    std::string create(CommandWords& words);
    std::string set_broker(CommandWords& words);
    std::string registration(CommandWords& words);
    std::string settings(CommandWords& words);
    std::string append(CommandWords& words);
    std::string abandon(CommandWords& words);
    std::string advance(CommandWords& words);
    std::string tick(CommandWords& words);
    std::string fail_writes(CommandWords& words);
    std::string follower_fetch(CommandWords& words);
    std::string wired_fetch(CommandWords& words);
    std::string deliver(CommandWords& words);
    std::string apply_response(Node& follower, const FetchPosition& asked, const FetchAnswer& answer);
    std::string fetch_response(CommandWords& words);
    std::string consumer_fetch(CommandWords& words);
    std::string list_offset(CommandWords& words);
    std::string proposal(CommandWords& words);
    std::string alter_partition_answer(CommandWords& words);
    std::string state(CommandWords& words);

    TestCluster cluster_;
    Instant now_{seconds(1000).count() * 1'000'000'000};
    std::map<std::string, Node> nodes_;
    std::set<std::string> touched_;
};

}  // namespace highwater::node
