// A cluster under test as the runner sees it, whichever it is: started, asked, broken, healed, stopped.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/history.h"
#include "model/scenario.h"
#include "nemesis/fault_target.h"
#include "nemesis/network.h"
#include "workloads/socket.h"

namespace highwater::harness {

/// What one broker said of its replica of the topic's partition 0, and of who leads it.
struct ReplicaSample {
    Instant at;
    BrokerId leader = kNoBroker;
    LeaderEpoch epoch = kNoEpoch;
    Offset log_end_offset = 0;
    Offset high_watermark = 0;
};

class Cluster : public nemesis::FaultTarget {
public:
    /// Every process runs and every broker is unfenced; the topic exists with a full ISR and its first
    /// leader.
    virtual Status start(Instant deadline) = 0;
    /// Everything ends now, whatever its state.
    virtual void stop() = 0;

    [[nodiscard]] virtual std::vector<BrokerId> brokers() const = 0;
    [[nodiscard]] virtual std::vector<BrokerId> controllers() const = 0;
    /// Those of them that lead, as far as they have said; of a quorum at most one.
    [[nodiscard]] virtual std::vector<BrokerId> active_controllers() const = 0;
    /// Never faulted: for the observer and final reads.
    [[nodiscard]] virtual workloads::SocketAddress direct_address(BrokerId broker) const = 0;
    /// As workload client number `client` (from 0) reaches each broker: through its relays.
    [[nodiscard]] virtual std::map<BrokerId, workloads::SocketAddress> client_addresses(
        std::int32_t client) const = 0;
    [[nodiscard]] virtual std::vector<BrokerId> client_ids() const = 0;
    [[nodiscard]] virtual nemesis::Network& network() = 0;
    /// See Network::bypasses.
    [[nodiscard]] virtual Result<std::vector<std::string>> bypasses() = 0;

    [[nodiscard]] virtual bool paused(BrokerId id) const = 0;
    /// A fault ended it, or told it to end and it has not been started again.
    [[nodiscard]] virtual bool ended_by_fault(BrokerId id) const = 0;
    /// Processes that ended although no fault ended them: "broker 2 ended by itself: signal 6 (Aborted)".
    [[nodiscard]] virtual std::vector<std::string> crashes() = 0;
    /// White-box trace files of all incarnations.
    [[nodiscard]] virtual std::vector<std::string> trace_files() const = 0;
    /// What a client was told, and what a probe of a broker's replica was answered: a cluster without traces
    /// of its own writes it there. From any thread, between start and stop.
    virtual void saw(const Operation& operation) { (void)operation; }
    virtual void sampled(BrokerId broker, const ReplicaSample& sample) {
        (void)broker;
        (void)sample;
    }
    /// Those of one process, and what it prints.
    [[nodiscard]] virtual std::vector<std::string> trace_files(BrokerId id) const = 0;
    [[nodiscard]] virtual std::vector<std::string> log_files(BrokerId id) const = 0;
    /// High watermark of the topic's partition 0 in the process's checkpoint file; nullopt: there is none.
    [[nodiscard]] virtual std::optional<Offset> checkpointed_high_watermark(BrokerId id) const = 0;
};

}  // namespace highwater::harness
