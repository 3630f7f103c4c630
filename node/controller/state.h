// What the controller's rule files share. Only node/controller includes this.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "node/controller/controller.h"

namespace highwater::node {

inline constexpr BrokerId kNoLeaderChange = -2;

struct BrokerSession {
    Instant last_contact;
};

struct Controller::State {
    ControllerSettings settings;
    Rng rng;
    std::unique_ptr<PartitionLog> log;
    MetadataImage image;
    LeaderEpoch controller_epoch = 0;
    std::map<BrokerId, BrokerSession> sessions;
    /// Metadata offset up to which each broker said it has applied the log.
    std::map<BrokerId, Offset> applied;
    /// Offset of the record that began a broker's controlled shutdown: every active broker must have passed it.
    std::map<BrokerId, Offset> shutdown_offset;
    Instant next_session_check;
    Instant next_unclean_retry;
    std::vector<ControllerEvent> events;

    State(ControllerSettings s, Rng r) : settings(std::move(s)), rng(r) {}

    // -- metadata_log.cc
    Status replay();
    /// Appends the records as one batch, flushes and applies them. The log's failure is fatal: a controller that cannot
    /// write must not decide.
    void write(std::int64_t wall_ms, const std::vector<wire::MetadataRecord>& records);
    void write_leader_change(std::int64_t wall_ms);

    // -- election.cc
    [[nodiscard]] static bool electable(const MetadataImage& view, BrokerId id);
    [[nodiscard]] bool unclean_enabled(const TopicImage& topic) const;
    struct Change {
        std::optional<std::vector<BrokerId>> isr;
        BrokerId leader = kNoLeaderChange;
        std::int8_t recovery = -1;
        bool unclean = false;
        [[nodiscard]] bool empty() const { return !isr && leader == kNoLeaderChange && recovery == -1; }
    };
    /// What becomes of the partition when `leaving` (kNoBroker: nobody) leaves its ISR; brokers as `view` has them.
    [[nodiscard]] Change choose(const MetadataImage& view, const TopicImage& topic, const PartitionImage& partition,
                                BrokerId leaving) const;
    /// Writes `first` and, in the same batch, a change of every partition that `leaving` must leave or that has no leader.
    void change_partitions(std::int64_t wall_ms, BrokerId leaving, const std::string& cause,
                           std::vector<wire::MetadataRecord> first);
    void report_change(const TopicPartition& partition, const Change& change, const std::string& cause);

    // -- topics.cc
    Uuid create_topic(std::int64_t wall_ms, const std::string& name, const std::vector<std::vector<BrokerId>>& assignment,
                      const std::vector<wire::CreateTopicsRequest::CreatableTopic::CreatableTopicConfig>& configs);

    // -- sessions.cc
    [[nodiscard]] bool session_lives(Instant now, BrokerId id) const;
    void fence(Instant now, std::int64_t wall_ms, BrokerId id, FenceReason reason);
    [[nodiscard]] bool leads_anything(BrokerId id) const;
    [[nodiscard]] bool everybody_passed(BrokerId leaving, Offset offset) const;
};

}  // namespace highwater::node
