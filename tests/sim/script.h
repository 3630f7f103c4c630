// A directed run: one partition of three replicas, and one step after the other, each waiting for what the
// next one needs. Once something is broken the remaining steps do nothing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/black_box.h"
#include "tests/sim/cluster.h"
#include "tests/sim/ending.h"

namespace highwater::sim {

struct ScriptResult {
    /// Invariant or anomaly first seen, "script" if a step waited in vain, "" if all is well.
    std::string broken;
    std::string detail;
    std::uint64_t bug_actions = 0;
};

class Script {
public:
    explicit Script(const ClusterOptions& options) : cluster_(options), ending_(cluster_) {}

    /// Every broker runs and the ISR is full.
    void start();
    /// One batch of one record per count, acknowledged one after the other; acks -1 or 1.
    void append(BrokerId at, int count = 1, std::int16_t acks = -1);
    /// One record with acks=all; nobody waits for the answer, but a positive one is remembered.
    void send(BrokerId at);
    /// As append, but the broker may also refuse it for too few replicas in sync.
    void offer(BrokerId at);
    /// One fetch as a consumer from the beginning on.
    void read(BrokerId at);
    void elect_preferred();

    /// Network::hold; every API's requests and responses if none is named.
    void hold(BrokerId from, BrokerId to, std::optional<wire::ApiKey> api = std::nullopt);
    void release(BrokerId from, BrokerId to);
    void release(BrokerId from, BrokerId to, wire::ApiKey api);
    void release_all();
    void cut(BrokerId a, BrokerId b);
    void kill(BrokerId id);
    void lose_power(BrokerId id);
    void launch(BrokerId id);

    void until(const std::string& what, const std::function<bool()>& condition);
    /// As the controller has it, in any order.
    void until_isr(std::vector<BrokerId> isr);
    void until_leader(BrokerId id);
    /// `broker` has applied that `leader` leads.
    void until_follows(BrokerId broker, BrokerId leader);
    void until_end(BrokerId broker, Offset end);
    /// A message of this API waits in a hold of this path.
    void until_held(BrokerId from, BrokerId to, wire::ApiKey api);
    void pass(Duration span);

    /// Heals, and judges what is then there.
    ScriptResult finish();

    [[nodiscard]] const node::Partition* replica(BrokerId broker) const {
        return cluster_.partition(broker, id());
    }
    [[nodiscard]] const Cluster& cluster() const { return cluster_; }

private:
    [[nodiscard]] TopicPartition id() const { return {kTopic, 0}; }
    [[nodiscard]] bool over() const { return !wrong_.empty() || !cluster_.invariants().violations().empty(); }
    Client& client();
    std::string end();

    Cluster cluster_;
    Ending ending_;
    BlackBox box_;
    std::vector<std::unique_ptr<Client>> clients_;
    /// Values begin where the ending's own record is not one of them.
    std::uint64_t sent_ = 1000;
    /// "kind: what is wrong".
    std::string wrong_;
};

}  // namespace highwater::sim
