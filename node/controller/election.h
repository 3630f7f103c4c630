// Who leads a partition and who is in its ISR, as a pure function of its image.
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

struct PartitionTarget {
    /// The ISR to have. Empty: its last member left, stays, and the partition has no leader (ELR is off).
    std::vector<BrokerId> isr;
    std::int8_t leader_recovery_state = kRecovered;
    /// Where nobody of the ISR may lead, anybody else of the replicas may.
    bool unclean = false;
    /// Bug elect_any: an election does not ask for the ISR; who is not in it becomes it.
    bool any_replica = false;
    Election election = Election::IfNeeded;
};

/// The record that brings `partition` to `target`, with an election where its leader may not lead any more:
///   clean    the first replica, in assignment order, that is in the target ISR and may lead;
///   unclean  (if allowed) the first replica that may lead: the ISR is that one alone, RECOVERING;
///   none     the partition waits without a leader.
/// nullopt: nothing changes.
std::optional<wire::PartitionChangeRecord> change_partition(const Uuid& topic_id, std::int32_t index,
                                                            const PartitionImage& partition,
                                                            const PartitionTarget& target,
                                                            const MayLead& may_lead);

}  // namespace highwater::node
