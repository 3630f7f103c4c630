// A cluster in one thread: a controller (100), three brokers (1-3) and clients (from 150), each a real Server
// over storage in memory, with virtual time and a simulated network. Everything follows from the seed. After
// each step of each process the invariants are checked.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "node/log/memory_storage.h"
#include "node/server/config.h"
#include "node/server/server.h"
#include "tests/sim/client.h"
#include "tests/sim/invariants.h"
#include "tests/sim/network.h"
#include "tests/sim/scheduler.h"

namespace highwater::sim {

inline constexpr BrokerId kController = 100;
inline const std::vector<BrokerId> kBrokers = {1, 2, 3};
inline const std::string kTopic = "orders";

struct ClusterOptions {
    std::uint64_t seed = 0;
    /// Of the topic.
    bool unclean = false;
    /// Eligible leader replicas are in use.
    bool elr = true;
    std::int32_t min_isr = 1;
    /// replica.fetch.max.bytes: 1 is one batch per fetch.
    std::int32_t fetch_max_bytes = 1 << 20;
    node::Bugs bugs;
    /// One list of brokers per partition; the first leads first.
    std::vector<std::vector<BrokerId>> assignment = {{1, 2, 3}};
    /// Prints every event and fault.
    bool verbose = false;
};

class Cluster final : public Inspector, public Directory {
public:
    explicit Cluster(ClusterOptions options);
    ~Cluster() override;

    /// Starts everything and creates the topic; true once every partition is led with a full ISR.
    bool start();

    // -- time
    // -------------------------------------------------------------------------------------------------------
    [[nodiscard]] Instant now() const { return scheduler_.now(); }
    void run_for(Duration span) {
        run_until(span, [] { return false; });
    }
    /// Runs until `condition` holds after some action or an invariant is broken, at most for `limit`; whether
    /// it holds.
    bool run_until(Duration limit, const std::function<bool()>& condition);

    // -- processes
    // --------------------------------------------------------------------------------------------------
    [[nodiscard]] bool running(BrokerId id) const { return processes_.at(id)->server != nullptr; }
    [[nodiscard]] bool paused(BrokerId id) const { return processes_.at(id)->paused; }
    void launch(BrokerId id);
    /// SIGKILL: what was written is kept, what is in memory is gone.
    void kill(BrokerId id);
    /// The machine stops: as kill, and what was not flushed is gone.
    void lose_power(BrokerId id);
    /// SIGTERM; the process ends when it is done.
    void terminate(BrokerId id);
    /// SIGSTOP and SIGCONT.
    void pause(BrokerId id);
    void resume(BrokerId id);
    /// Launches and resumes all, and removes every fault of the network. From now on a process that stops (it
    /// was asked to before) is launched again.
    void heal();

    // -- what is seen
    // -----------------------------------------------------------------------------------------------
    [[nodiscard]] const node::Partition* partition(BrokerId broker, const TopicPartition& id) const override;
    [[nodiscard]] const node::MetadataImage* image() const override;
    [[nodiscard]] const node::MetadataImage* image_of(BrokerId broker) const override;
    [[nodiscard]] bool steps_freely(BrokerId broker) const override;
    [[nodiscard]] bool reaches_controller(BrokerId broker) const override;
    [[nodiscard]] BrokerId leader(const TopicPartition& id) const override;
    [[nodiscard]] std::vector<BrokerId> isr(const TopicPartition& id) const;
    [[nodiscard]] std::vector<TopicPartition> partitions() const;
    /// Leader and full ISR, everything replicated and visible everywhere.
    [[nodiscard]] bool settled() const;

    /// Every ISR is full, as the controller has it, and of processes that are in service: not of one that was
    /// killed and is back before anybody noticed.
    [[nodiscard]] bool all_in_sync() const;

    Scheduler& scheduler() { return scheduler_; }
    Network& network() { return network_; }
    [[nodiscard]] const Invariants& invariants() const { return *invariants_; }
    [[nodiscard]] const ClusterOptions& options() const { return options_; }
    /// How often each kind of thing happened, to see that a run was not idle.
    struct Counts {
        std::uint64_t steps = 0;
        std::uint64_t elections = 0;
        std::uint64_t unclean_elections = 0;
        /// Of the last known leader, and from the ELR.
        std::uint64_t last_known_elections = 0;
        std::uint64_t elr_elections = 0;
        std::uint64_t preferred_elections = 0;
        std::uint64_t isr_changes = 0;
        std::uint64_t power_losses = 0;
        std::uint64_t truncations = 0;
        std::uint64_t acknowledged = 0;
        std::uint64_t served = 0;
        /// What bugs made the nodes do.
        std::uint64_t bug_actions = 0;
        Counts& operator+=(const Counts& other);
    };
    [[nodiscard]] const Counts& counts() const { return counts_; }
    void say(const std::string& what) const;

private:
    struct Process final : Host {
        Process(Cluster& of, BrokerId number) : cluster(of), id(number) {}
        ConnId accepted(const std::string& listener) override;
        void connected(ConnId conn) override;
        void received(ConnId conn, Bytes frame) override;
        void disconnected(ConnId conn, const std::string& reason) override;

        Cluster& cluster;
        BrokerId id;
        node::MemoryStorage storage;
        std::unique_ptr<node::Server> server;
        std::int32_t incarnation = 0;
        bool paused = false;
        std::deque<node::Input> inbox;  // while paused
        ConnId next_accepted = 2;
        Instant armed_for = Instant::never();
        std::int64_t trace_sequence = 0;
    };

    [[nodiscard]] node::NodeConfig config_of(BrokerId id) const;
    void input(Process& process, node::Input input);
    void step(Process& process, const node::Input& input);
    void perform(Process& process, const node::NetworkAction& action);
    void arm(Process& process);
    void trace(Process& process, const std::vector<node::Event>& events);
    void watch();
    void note_spin(BrokerId id);
    void count(const std::vector<node::Event>& events);
    void note_eligible(const node::PartitionChanged& change);
    [[nodiscard]] std::int64_t wall_ms() const { return 1'700'000'000'000 + now().ns / 1'000'000; }

    ClusterOptions options_;
    Rng rng_;
    Scheduler scheduler_;
    Network network_;
    std::map<BrokerId, std::unique_ptr<Process>> processes_;
    std::unique_ptr<Invariants> invariants_;
    Counts counts_;
    std::map<TopicPartition, std::vector<BrokerId>> last_isr_;
    bool healed_ = false;
    Instant step_instant_{0};
    std::uint64_t steps_at_instant_ = 0;
};

}  // namespace highwater::sim
