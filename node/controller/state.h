// What the controller's rule files share. Only node/controller includes this.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/controller/controller.h"
#include "node/controller/election.h"

namespace highwater::node {

using AlterPartitionData = wire::AlterPartitionRequest::TopicData::PartitionData;
/// A record to be written, and how the leader that it names was found.
struct DecidedRecord {
    template <class Record>
    DecidedRecord(Record value, Chosen how = Chosen::Clean) : record(std::move(value)), chosen(how) {}
    wire::MetadataRecord record;
    Chosen chosen = Chosen::Clean;
};
using Records = std::vector<DecidedRecord>;

/// What the controller knows of a broker beyond its registration. Lost with the process.
struct BrokerSession {
    /// Last heartbeat with the broker's current epoch. None yet, or the session is over: nullopt.
    std::optional<Instant> last_contact;
    /// How far the broker said it has applied the metadata log.
    Offset metadata_offset = kUnknownOffset;
    /// In controlled shutdown: the offset every active broker must have applied before this one may go.
    std::optional<Offset> controlled_shutdown_offset;
};

/// Causes that decide what events say.
inline constexpr const char* kCauseConfig = "config";
inline constexpr const char* kCauseUncleanRequest = "unclean-request";

/// Why a decision was made: what its events say beyond its records.
struct Why {
    std::string cause;
    FenceReason reason = FenceReason::Registered;
    Duration silent{0};
    /// Of a registration: after a clean stop.
    bool clean = false;
};

struct Controller::State {
    ControllerSettings settings;
    Rng rng;
    std::unique_ptr<PartitionLog> log;
    LeaderEpoch controller_epoch = 0;
    MetadataImage image;
    std::map<BrokerId, BrokerSession> sessions;
    Instant next_session_check;
    Instant next_unclean_election;
    Instant next_rebalance;
    std::vector<ControllerEvent> events;
    std::optional<Error> fatal;
    BugCounters bugs_acted;

    State(ControllerSettings s, Rng r) : settings(std::move(s)), rng(r) {}

    /// Asks for a deliberate bug where it would decide something else than a correct controller: then it is
    /// counted and told, and true.
    [[nodiscard]] bool acts(Bug bug, bool otherwise);

    // -- metadata_log.cc
    Status replay_log();
    Status begin_epoch(std::int64_t wall_ms);
    /// Appends and flushes the records as one batch, applies them and tells their events, in record order.
    /// False: the log failed, now or before, and nothing was decided.
    [[nodiscard]] bool commit(std::int64_t wall_ms, const Records& records, const Why& why);

    // -- election.cc
    [[nodiscard]] bool is_active(BrokerId id) const;
    [[nodiscard]] bool leads_anything(BrokerId id) const;
    /// `leaving` goes out of every ISR it is in; who it led gets another leader, or none. After an unclean
    /// shutdown it is no eligible leader of anything either.
    void add_departure(Records& records, BrokerId leaving, bool unclean_shutdown = false);
    /// Partitions without a leader get one if they can, `returning` being active from here on (kNoBroker:
    /// nobody is).
    void add_elections(Records& records, BrokerId returning);
    /// Partitions whose preferred leader could lead but does not go back to it.
    void add_preferred_elections(Records& records);
    void add_change(Records& records, const TopicImage& topic, std::int32_t partition, PartitionTarget target,
                    const MayLead& may_lead);
    [[nodiscard]] bool elr_enabled() const { return image.feature_level(kEligibleLeaderReplicas) > 0; }
    /// The partition as it is, by the configs that hold for it.
    [[nodiscard]] PartitionTarget target_of(const TopicImage& topic, const PartitionImage& partition) const;
    /// change_partition(), and whether it elected as a correct one would.
    std::optional<PartitionDecision> change(const TopicImage& topic, std::int32_t partition,
                                            const PartitionImage& before, const PartitionTarget& target,
                                            const MayLead& may_lead);

    // -- elect_leaders.cc
    /// NONE: `records` got the election.
    wire::ErrorCode elect_one(const TopicPartition& name, bool unclean, const MayLead& may_lead,
                              Records& records) const;

    // -- alter_partition.cc
    wire::ErrorCode check(const PartitionImage& partition, const AlterPartitionData& proposal,
                          BrokerId sender);
    bool is_eligible(const AlterPartitionData::BrokerState& member);

    // -- sessions.cc
    [[nodiscard]] bool session_lives(Instant now, BrokerId id) const;
    [[nodiscard]] Offset lowest_active_offset() const;
    [[nodiscard]] bool fence(std::int64_t wall_ms, BrokerId id, const Why& why);
    void fence_silent_brokers(Instant now, std::int64_t wall_ms);
};

}  // namespace highwater::node
