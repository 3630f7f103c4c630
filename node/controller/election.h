// Who leads a partition, who is in its ISR, and who could lead without losing what is committed (KIP-966), as
// a pure function of its image.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "node/controller/metadata_image.h"

namespace highwater::node {

/// True for brokers that may lead after the change: unfenced, not leaving.
using MayLead = std::function<bool(BrokerId)>;

enum class Election : std::uint8_t {
    /// A leader that may lead stays.
    IfNeeded,
    /// The first of the replicas leads if it may, whoever leads now.
    Preferred,
};

/// How a leader was found.
enum class Chosen : std::uint8_t {
    /// It was in the ISR or, with nobody in it, in the ELR; also for no leader, and for no election.
    Clean,
    /// Nobody is in ISR or ELR any more: who led last leads again, with what it still has.
    LastKnownLeader,
    /// Anybody, because unclean election is enabled or was asked for.
    Unclean,
};

struct PartitionTarget {
    /// The ISR to have. Empty: its last member left. Without ELR that one stays in it all the same, and the
    /// partition has no leader.
    std::vector<BrokerId> isr;
    /// Eligible leader replicas are in use.
    bool elr_enabled = false;
    /// min.insync.replicas, at most the number of replicas: below it the high watermark stands still, so
    /// whoever leaves the ISR has all that is committed.
    std::int32_t min_isr = 1;
    /// This broker came back from a stop that was not clean, and may have lost anything.
    BrokerId unclean_shutdown = kNoBroker;
    std::int8_t leader_recovery_state = kRecovered;
    /// Where nobody of the ISR may lead, anybody else of the replicas may.
    bool unclean = false;
    Election election = Election::IfNeeded;
    /// Bug elect_any: an election does not ask for the ISR; who is not in it becomes it.
    bool any_replica = false;
    /// Bug elr_keep_unclean: `unclean_shutdown` stays eligible.
    bool keep_unclean = false;
    /// Bug lkl_fenced: who led last may lead again whatever MayLead says.
    bool last_known_fenced = false;
};

/// The record that brings `partition` to `target`, with an election where its leader may not lead any more:
///   clean       the first replica, in assignment order, that is in the target ISR and may lead; if nobody is
///   in
///               it, the first in the ELR that may: the ISR is that one alone;
///   last known  with ISR and ELR empty, who led last, if it may: the ISR is that one alone, RECOVERING;
///   unclean     (if allowed) the first replica that may lead: the ISR is that one alone, RECOVERING;
///   none        the partition waits without a leader.
/// With fewer than min_isr members in the ISR the ELR is whoever was in either and is not in the ISR now.
/// nullopt: nothing changes.
struct PartitionDecision {
    wire::PartitionChangeRecord record;
    Chosen chosen = Chosen::Clean;
    friend bool operator==(const PartitionDecision&, const PartitionDecision&) = default;
};
std::optional<PartitionDecision> change_partition(const Uuid& topic_id, std::int32_t index,
                                                  const PartitionImage& partition,
                                                  const PartitionTarget& target, const MayLead& may_lead);

}  // namespace highwater::node
