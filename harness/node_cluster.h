// Our own replica processes: one controller and N brokers, each in its folder of the run directory, joined by
// relays.
#pragma once

#include <memory>
#include <string>

#include "harness/child.h"
#include "harness/cluster.h"
#include "nemesis/process.h"

namespace highwater::harness {

struct NodeClusterOptions {
    /// Path of highwater-node.
    std::string program;
    /// nodes/N/ go below it.
    std::string run_dir;
    std::uint64_t seed = 0;
    /// highwater.bugs of every node.
    std::string bugs;
    /// Number of workload clients with an address of their own.
    std::int32_t clients = 0;
};

class NodeCluster final : public Cluster {
public:
    NodeCluster(const Scenario& scenario, NodeClusterOptions options);
    ~NodeCluster() override;

    Status start(Instant deadline) override;
    void stop() override;
    [[nodiscard]] std::vector<BrokerId> brokers() const override { return members_.brokers; }
    [[nodiscard]] std::vector<BrokerId> controllers() const override { return members_.controllers; }
    [[nodiscard]] workloads::SocketAddress direct_address(BrokerId broker) const override;
    [[nodiscard]] std::map<BrokerId, workloads::SocketAddress> client_addresses(
        std::int32_t client) const override;
    [[nodiscard]] std::vector<BrokerId> client_ids() const override { return members_.clients; }
    [[nodiscard]] nemesis::Network& network() override { return *network_; }
    [[nodiscard]] bool running(BrokerId id) const override;
    [[nodiscard]] bool paused(BrokerId id) const override;
    [[nodiscard]] bool ended_by_fault(BrokerId id) const override;
    [[nodiscard]] std::vector<std::string> crashes() override;
    [[nodiscard]] std::vector<std::string> trace_files() const override { return trace_files_; }
    [[nodiscard]] std::vector<std::string> trace_files(BrokerId id) const override;
    [[nodiscard]] std::vector<std::string> log_files(BrokerId id) const override;
    [[nodiscard]] std::optional<Offset> checkpointed_high_watermark(BrokerId id) const override;

    nemesis::FaultEffect pause(BrokerId id) override;
    nemesis::FaultEffect resume(BrokerId id) override;
    nemesis::FaultEffect terminate(BrokerId id) override;
    nemesis::FaultEffect kill(BrokerId id) override;
    nemesis::FaultEffect restart(BrokerId id) override;
    nemesis::FaultEffect wipe(BrokerId id) override;
    nemesis::FaultEffect elect(bool unclean) override;
    nemesis::FaultEffect add_rule(const nemesis::PathRule& rule) override { return network_->add_rule(rule); }
    nemesis::FaultEffect remove_rule(const std::string& id) override { return network_->remove_rule(id); }

private:
    struct Node {
        std::unique_ptr<Child> child;
        std::unique_ptr<nemesis::Process> process;
        std::int32_t incarnation = 0;
        bool paused = false;
        /// A fault ended it, or is about to.
        bool end_expected = false;
    };
    Status launch(BrokerId id);
    /// The node that a command has started.
    Result<nemesis::Process> find_behind(Child& wrapper, const std::string& properties_file);
    /// "": nobody listens at its addresses any more.
    [[nodiscard]] std::string listening(BrokerId id) const;
    Status write_files(BrokerId id, std::int32_t incarnation);
    [[nodiscard]] std::string node_dir(BrokerId id) const;
    [[nodiscard]] std::string properties(BrokerId id, std::int32_t incarnation) const;
    Status wait_for_brokers(Instant deadline);
    Status create_topic(Instant deadline);
    Status wait_for_topic(Instant deadline);
    Node* live_node(BrokerId id, nemesis::FaultEffect& effect);

    const Scenario& scenario_;
    NodeClusterOptions options_;
    nemesis::Members members_;
    std::unique_ptr<nemesis::SlotClaim> slot_;
    std::unique_ptr<nemesis::Network> network_;
    std::string cluster_id_;
    std::map<BrokerId, Node> nodes_;
    std::vector<std::string> trace_files_;
};

}  // namespace highwater::harness
