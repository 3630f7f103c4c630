// Elections: clean from the ISR in assignment order, or from the ELR where the ISR is empty; unclean only
// where enabled, or of the last known leader; a leader that may lead stays.
#include "node/controller/election.h"

#include <algorithm>
#include <set>

#include "base/assert.h"
#include "node/controller/state.h"
#include "node/controller/topic_config.h"

namespace highwater::node {
namespace {

bool contains(const std::vector<BrokerId>& ids, BrokerId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

struct Choice {
    BrokerId leader = kNoBroker;
    Chosen chosen = Chosen::Clean;
};

/// Who has all that is committed although it is not in the target ISR: the high watermark stands still below
/// min_isr, so nobody who was in the ISR, or eligible, when it fell below can miss anything. In ascending
/// order.
std::vector<BrokerId> target_elr(const PartitionImage& partition, const PartitionTarget& target) {
    if (!target.elr_enabled || std::ssize(target.isr) >= target.min_isr) return {};
    std::set<BrokerId> eligible(partition.elr.begin(), partition.elr.end());
    eligible.insert(partition.isr.begin(), partition.isr.end());
    for (const BrokerId id : target.isr) eligible.erase(id);
    if (!target.keep_unclean) eligible.erase(target.unclean_shutdown);
    return {eligible.begin(), eligible.end()};
}

Choice elect(const PartitionImage& partition, const PartitionTarget& target, const std::vector<BrokerId>& elr,
             const MayLead& may_lead) {
    const std::vector<BrokerId>& complete = target.isr.empty() ? elr : target.isr;
    const auto valid = [&](BrokerId id) {
        return (target.any_replica || contains(complete, id)) && may_lead(id);
    };
    const auto& replicas = partition.replicas;
    if (target.election == Election::Preferred && valid(replicas.front())) return {replicas.front()};
    if (valid(partition.leader)) return {partition.leader};
    if (const auto first = std::find_if(replicas.begin(), replicas.end(), valid); first != replicas.end())
        return {*first};
    if (target.elr_enabled && target.isr.empty() && elr.empty() && partition.last_known_elr.size() == 1 &&
        (target.last_known_fenced || may_lead(partition.last_known_elr.front()))) {
        return {partition.last_known_elr.front(), Chosen::LastKnownLeader};
    }
    if (!target.unclean) return {};
    const auto live = std::find_if(replicas.begin(), replicas.end(), may_lead);
    return live == replicas.end() ? Choice{} : Choice{*live, Chosen::Unclean};
}

/// Kept from the moment that the ISR is empty until somebody leads.
std::vector<BrokerId> target_last_known(const PartitionImage& before, const std::vector<BrokerId>& isr,
                                        BrokerId leader) {
    if (leader != kNoBroker) return {};
    if (isr.empty() && before.leader != kNoBroker) return {before.leader};
    return before.last_known_elr;
}

bool is_change(const wire::PartitionChangeRecord& record) {
    return record.isr || record.eligible_leader_replicas || record.last_known_elr ||
           record.leader != kNoLeaderChange || record.leader_recovery_state != kNoRecoveryChange;
}

}  // namespace

std::optional<PartitionDecision> change_partition(const Uuid& topic_id, std::int32_t index,
                                                  const PartitionImage& partition,
                                                  const PartitionTarget& target, const MayLead& may_lead) {
    PartitionDecision decision;
    wire::PartitionChangeRecord& record = decision.record;
    record.topic_id = topic_id;
    record.partition_id = index;
    std::vector<BrokerId> elr = target_elr(partition, target);
    const Choice choice = elect(partition, target, elr, may_lead);
    const bool elected = choice.leader != partition.leader;
    std::vector<BrokerId> isr = target.isr;
    std::int8_t recovery = target.leader_recovery_state;
    if (elected) record.leader = choice.leader;
    // From the ELR, or by the bug that asks for no ISR.
    if (choice.leader != kNoBroker && !contains(isr, choice.leader)) isr = {choice.leader};
    std::erase(elr, choice.leader);
    if (elected && choice.chosen != Chosen::Clean) {
        decision.chosen = choice.chosen;
        elr.clear();
        recovery = kRecovering;
    }
    if (isr.empty() && !target.elr_enabled) isr = partition.isr;
    const auto last_known = target_last_known(partition, isr, choice.leader);
    if (isr != partition.isr) record.isr = isr;
    if (elr != partition.elr) record.eligible_leader_replicas = elr;
    if (last_known != partition.last_known_elr) record.last_known_elr = last_known;
    if (recovery != partition.leader_recovery_state) record.leader_recovery_state = recovery;
    if (!is_change(record)) return std::nullopt;
    const PartitionImage after = changed(partition, record);
    HW_ASSERT(target.elr_enabled || !after.isr.empty(), "partition {} of topic {} would have no ISR", index,
              topic_id.to_string());
    HW_ASSERT(after.leader == kNoBroker || contains(after.isr, after.leader), "leader {}", after.leader);
    return decision;
}

bool Controller::State::acts(Bug bug, bool otherwise) {
    if (!otherwise || !settings.bugs.has(bug)) return false;
    events.emplace_back(bugs_acted.count(bug));
    return true;
}

PartitionTarget Controller::State::target_of(const TopicImage& topic, const PartitionImage& partition) const {
    PartitionTarget target;
    target.isr = partition.isr;
    target.leader_recovery_state = partition.leader_recovery_state;
    target.elr_enabled = elr_enabled();
    target.min_isr =
        std::min(min_insync_replicas(topic, cluster_min_insync_replicas(image, settings.min_insync_replicas)),
                 static_cast<std::int32_t>(partition.replicas.size()));
    return target;
}

std::optional<PartitionDecision> Controller::State::change(const TopicImage& topic, std::int32_t index,
                                                           const PartitionImage& before,
                                                           const PartitionTarget& target,
                                                           const MayLead& may_lead) {
    std::optional<PartitionDecision> decision = change_partition(topic.id, index, before, target, may_lead);
    if (settings.bugs.empty()) return decision;
    const auto misjudge = [&](Bug bug, bool PartitionTarget::* how) {
        PartitionTarget wrong = target;
        wrong.*how = true;
        std::optional<PartitionDecision> other = change_partition(topic.id, index, before, wrong, may_lead);
        if (acts(bug, other != decision)) decision = std::move(other);
    };
    misjudge(Bug::ElectAny, &PartitionTarget::any_replica);
    misjudge(Bug::ElrKeepUnclean, &PartitionTarget::keep_unclean);
    misjudge(Bug::LastKnownFenced, &PartitionTarget::last_known_fenced);
    return decision;
}

bool Controller::State::is_active(BrokerId id) const {
    const BrokerImage* broker = image.broker(id);
    return broker != nullptr && broker->active();
}

bool Controller::State::leads_anything(BrokerId id) const {
    for (const auto& [name, topic] : image.topics()) {
        for (const auto& [index, partition] : topic.partitions) {
            if (partition.leader == id) return true;
        }
    }
    return false;
}

void Controller::State::add_change(Records& records, const TopicImage& topic, std::int32_t index,
                                   PartitionTarget target, const MayLead& may_lead) {
    target.unclean = unclean_leader_election(topic, settings.unclean_leader_election);
    if (auto decision = change(topic, index, topic.partitions.at(index), target, may_lead))
        records.emplace_back(std::move(decision->record), decision->chosen);
}

void Controller::State::add_departure(Records& records, BrokerId leaving, bool unclean_shutdown) {
    const MayLead may_lead = [&](BrokerId id) { return id != leaving && is_active(id); };
    for (const auto& [name, topic] : image.topics()) {
        for (const auto& [index, partition] : topic.partitions) {
            const bool eligible = unclean_shutdown && contains(partition.elr, leaving);
            if (!eligible && !contains(partition.isr, leaving)) continue;
            PartitionTarget target = target_of(topic, partition);
            std::erase(target.isr, leaving);
            if (unclean_shutdown) target.unclean_shutdown = leaving;
            add_change(records, topic, index, std::move(target), may_lead);
        }
    }
}

void Controller::State::add_elections(Records& records, BrokerId returning) {
    const MayLead may_lead = [&](BrokerId id) { return id == returning || is_active(id); };
    for (const auto& [name, topic] : image.topics()) {
        for (const auto& [index, partition] : topic.partitions) {
            if (partition.leader == kNoBroker)
                add_change(records, topic, index, target_of(topic, partition), may_lead);
        }
    }
}

void Controller::State::add_preferred_elections(Records& records) {
    const MayLead may_lead = [&](BrokerId id) { return is_active(id); };
    for (const auto& [name, topic] : image.topics()) {
        for (const auto& [index, partition] : topic.partitions) {
            const BrokerId preferred = partition.replicas.front();
            if (partition.leader == preferred || !contains(partition.isr, preferred)) continue;
            PartitionTarget target = target_of(topic, partition);
            target.election = Election::Preferred;
            if (auto decision = change_partition(topic.id, index, partition, target, may_lead))
                records.emplace_back(std::move(decision->record), decision->chosen);
        }
    }
}

}  // namespace highwater::node
