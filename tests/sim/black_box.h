// What the clients saw, judged against each other and against the logs at the end. Kinds are spelled as in
// docs/anomalies.md.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/partition.h"
#include "tests/sim/invariants.h"

namespace highwater::sim {

struct Anomaly {
    std::string kind;
    std::string detail;
};

class BlackBox {
public:
    /// A produce with acks=all was answered without an error: `value` is at `offset`.
    void acknowledged(const TopicPartition& partition, Offset offset, std::uint64_t value);
    /// A consumer got `value` at `offset`, from any replica.
    void read(const TopicPartition& partition, Offset offset, std::uint64_t value);
    /// The log of one replica after heal: lost-committed, dirty-read, duplicate, in this order.
    void judge(const TopicPartition& partition, const std::vector<LogRecord>& log);

    /// In the order found. inconsistent-offset is found as it is read, the others by judge().
    [[nodiscard]] const std::vector<Anomaly>& anomalies() const { return anomalies_; }
    [[nodiscard]] std::uint64_t reads() const { return reads_; }

private:
    struct Seen {
        std::map<Offset, std::uint64_t> acknowledged;
        std::map<Offset, std::uint64_t> read;
    };
    void found(const std::string& kind, const TopicPartition& partition, const std::string& detail);
    void visible(const TopicPartition& partition, Offset offset, std::uint64_t value);

    std::map<TopicPartition, Seen> seen_;
    std::vector<Anomaly> anomalies_;
    std::uint64_t reads_ = 0;
};

}  // namespace highwater::sim
