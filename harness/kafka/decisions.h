// What a KRaft controller decided about one topic, told in the words of our own controller's trace
// (docs/run-format.md): register, fence, unfence, shutting-down, partition, config.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/kafka/metadata_log.h"

namespace highwater::harness {

/// One line of the trace without time and node: its kind and fields, as JSON members:
/// `"e":"fence","broker":3`.
struct Decision {
    std::int64_t timestamp_ms = 0;
    std::string members;
    /// Whose registration it is, if it is one.
    BrokerId registered = kNoBroker;
};

class Decisions {
public:
    explicit Decisions(std::string topic) : topic_(std::move(topic)) {}

    /// Batches in the order of the log. A batch holds the records of one decision, or of few that were made
    /// at once: from who leaves the ISR and who is fenced in it, the cause is told. It has said itself that
    /// it ends: the metadata log tells a follower's end as it tells a silence, by a fence.
    void shuts_down(BrokerId id) { brokers_[id].shutting_down = true; }
    std::vector<Decision> of(const MetadataBatch& batch);

private:
    struct Partition {
        std::vector<BrokerId> replicas;
        std::vector<BrokerId> isr;
        std::vector<BrokerId> elr;
        std::vector<BrokerId> last_known_elr;
        BrokerId leader = kNoBroker;
        LeaderEpoch epoch = kNoEpoch;
        PartitionEpoch partition_epoch = -1;
    };
    struct Broker {
        BrokerEpoch epoch = kUnknownBrokerEpoch;
        bool fenced = true;
        bool shutting_down = false;
    };
    /// Who changes in this batch, and how.
    struct Changes {
        std::set<BrokerId> registered;
        std::set<BrokerId> fenced;
        std::set<BrokerId> unfenced;
        std::set<BrokerId> shutting_down;
        /// Partitions whose replicas were assigned to other directories.
        std::set<std::int32_t> moved;
    };
    [[nodiscard]] Changes changes_in(const MetadataBatch& batch) const;
    [[nodiscard]] std::string cause(const Partition& before, const Partition& after, bool unclean,
                                    bool directories, const Changes& changes) const;

    std::string apply(const wire::RegisterBrokerRecord& record);
    std::string apply(const wire::BrokerRegistrationChangeRecord& record);
    std::string fence(BrokerId id);
    std::string unfence(BrokerId id);
    std::string apply(const wire::PartitionRecord& record);
    std::string apply(const wire::PartitionChangeRecord& record, const Changes& changes);
    std::vector<std::string> apply(const wire::ClearElrRecord& record);
    std::string apply(const wire::ConfigRecord& record) const;
    [[nodiscard]] std::string partition_members(std::int32_t number, const Partition& partition, bool elected,
                                                bool unclean, const std::string& cause) const;

    std::string topic_;
    Uuid topic_id_;
    bool topic_known_ = false;
    std::map<std::int32_t, Partition> partitions_;
    std::map<BrokerId, Broker> brokers_;
};

}  // namespace highwater::harness
