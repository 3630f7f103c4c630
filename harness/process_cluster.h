// A cluster of child processes, controllers and brokers, each in its folder of the run directory, joined by
// relays. What is the same for our node and for Kafka: starting, readiness, the topic, and every fault.
#pragma once

#include <memory>
#include <string>

#include "harness/child.h"
#include "harness/cluster.h"
#include "nemesis/process.h"

namespace highwater::harness {

struct ClusterOptions {
    /// nodes/N/ go below it.
    std::string run_dir;
    std::uint64_t seed = 0;
    /// highwater.bugs of every node; only our node has any.
    std::string bugs;
    /// Number of workload clients with an address of their own.
    std::int32_t clients = 0;
    /// A client id: brokers advertise DIRECT at 127.R.id.D, where its owner must relay. kNoBroker: at their
    /// own addresses.
    BrokerId direct_seen_by = kNoBroker;
};

class ProcessCluster : public Cluster {
public:
    /// A derived class must call stop() in its destructor.
    ~ProcessCluster() override;

    Status start(Instant deadline) override;
    void stop() override;
    [[nodiscard]] std::vector<BrokerId> brokers() const override { return members_.brokers; }
    [[nodiscard]] std::vector<BrokerId> controllers() const override { return members_.controllers; }
    [[nodiscard]] workloads::SocketAddress direct_address(BrokerId broker) const override;
    [[nodiscard]] std::map<BrokerId, workloads::SocketAddress> client_addresses(
        std::int32_t client) const override;
    [[nodiscard]] std::vector<BrokerId> client_ids() const override { return members_.clients; }
    [[nodiscard]] nemesis::Network& network() override { return *network_; }
    [[nodiscard]] Result<std::vector<std::string>> bypasses() override;
    /// -1: it was never started.
    [[nodiscard]] pid_t pid(BrokerId id) const;
    [[nodiscard]] bool running(BrokerId id) const override;
    [[nodiscard]] bool paused(BrokerId id) const override;
    [[nodiscard]] bool ended_by_fault(BrokerId id) const override;
    [[nodiscard]] std::vector<std::string> crashes() override;
    [[nodiscard]] std::vector<std::string> log_files(BrokerId id) const override;
    [[nodiscard]] std::optional<Offset> checkpointed_high_watermark(BrokerId id) const override;

    nemesis::FaultEffect pause(BrokerId id) override;
    nemesis::FaultEffect resume(BrokerId id) override;
    nemesis::FaultEffect terminate(BrokerId id) override;
    nemesis::FaultEffect kill(BrokerId id) override;
    nemesis::FaultEffect restart(BrokerId id) override;
    nemesis::FaultEffect wipe(BrokerId id) override;
    nemesis::FaultEffect elect(bool unclean) override;
    nemesis::FaultEffect forge_fetch(BrokerId as) override;
    nemesis::FaultEffect add_rule(const nemesis::PathRule& rule) override { return network_->add_rule(rule); }
    nemesis::FaultEffect remove_rule(const std::string& id) override { return network_->remove_rule(id); }

protected:
    /// One start of one process.
    struct Program {
        std::string executable;
        std::vector<std::string> args;
        /// The one of `args` that no other process of the cluster has.
        std::string own_argument;
    };

    ProcessCluster(const Scenario& scenario, ClusterOptions options);

    /// What there is to do before the first process starts, when the addresses are known.
    virtual Status prepare() { return {}; }
    /// Writes the files that the process reads at this start, below node_dir(id).
    virtual Result<Program> program_of(BrokerId id, std::int32_t incarnation) = 0;

    [[nodiscard]] const Scenario& scenario() const { return scenario_; }
    [[nodiscard]] const ClusterOptions& options() const { return options_; }
    [[nodiscard]] const nemesis::Members& members() const { return members_; }
    [[nodiscard]] const nemesis::AddressPlan& plan() const { return slot_->plan(); }
    [[nodiscard]] std::string node_dir(BrokerId id) const;
    [[nodiscard]] std::string data_dir(BrokerId id) const { return node_dir(id) + "/data"; }
    /// "100@c100:19094,…".
    [[nodiscard]] std::string quorum_voters() const;
    /// The keys that place a process in the plan: its roles, listeners and advertised names.
    [[nodiscard]] std::string listener_properties(BrokerId id) const;
    /// node_dir(id)/hosts, where its peers' names lead to relays.
    Status write_hosts(BrokerId id) const;

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
    Result<nemesis::Process> find_behind(Child& wrapper, const Program& program);
    /// "": nobody listens at its addresses any more.
    [[nodiscard]] std::string listening(BrokerId id) const;
    Status wait_for_brokers(Instant deadline);
    Status create_topic(Instant deadline);
    Status wait_for_topic(Instant deadline);
    Node* live_node(BrokerId id, nemesis::FaultEffect& effect);

    const Scenario& scenario_;
    ClusterOptions options_;
    nemesis::Members members_;
    std::unique_ptr<nemesis::SlotClaim> slot_;
    std::unique_ptr<nemesis::Network> network_;
    std::map<BrokerId, Node> nodes_;
};

/// Writes the whole file anew. Error: it cannot be written.
Status write_file(const std::string& path, const std::string& text);

}  // namespace highwater::harness
