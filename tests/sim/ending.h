// What must be true of a healed cluster beside the invariants: it settles, takes a write, and every replica
// then has and serves the same log.
#pragma once

#include <string>

#include "tests/sim/cluster.h"

namespace highwater::sim {

/// How long a healed cluster may take to settle.
inline constexpr Duration kLiveness = seconds(60);

class Ending {
public:
    explicit Ending(Cluster& cluster)
        : cluster_(cluster), reader_(240, cluster.scheduler(), cluster.network()) {}

    /// "stuck: …", with the state of every replica.
    [[nodiscard]] std::string stuck() const;
    /// An acks=all append succeeds, and every replica then serves the same log. "" or "kind: what is wrong".
    std::string append_and_read(const TopicPartition& id);

private:
    wire::ErrorCode append(const TopicPartition& id);
    std::size_t read_all(BrokerId broker, const TopicPartition& id);

    Cluster& cluster_;
    Client reader_;
};

}  // namespace highwater::sim
