// Elections: clean from the ISR in assignment order, unclean only where enabled; a leader that may lead
// stays.
#include "node/controller/election.h"

#include <algorithm>

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
    bool unclean = false;
};

Choice elect(const PartitionImage& partition, const PartitionTarget& target, const MayLead& may_lead) {
    const auto in_sync = [&](BrokerId id) {
        return (target.any_replica || contains(target.isr, id)) && may_lead(id);
    };
    const auto& replicas = partition.replicas;
    if (target.election == Election::Preferred && in_sync(replicas.front())) return {replicas.front()};
    if (in_sync(partition.leader)) return {partition.leader};
    if (const auto first = std::find_if(replicas.begin(), replicas.end(), in_sync); first != replicas.end())
        return {*first};
    if (!target.unclean) return {};
    const auto live = std::find_if(replicas.begin(), replicas.end(), may_lead);
    return live == replicas.end() ? Choice{} : Choice{*live, true};
}

}  // namespace

std::optional<wire::PartitionChangeRecord> change_partition(const Uuid& topic_id, std::int32_t index,
                                                            const PartitionImage& partition,
                                                            const PartitionTarget& target,
                                                            const MayLead& may_lead) {
    wire::PartitionChangeRecord record;
    record.topic_id = topic_id;
    record.partition_id = index;
    const Choice choice = elect(partition, target, may_lead);
    const bool elected = choice.leader != partition.leader;
    std::vector<BrokerId> isr = target.isr;
    std::int8_t recovery = target.leader_recovery_state;
    if (elected) record.leader = choice.leader;
    if (target.any_replica && choice.leader != kNoBroker && !contains(isr, choice.leader))
        isr = {choice.leader};
    if (elected && choice.unclean) {
        isr = {choice.leader};
        recovery = kRecovering;
    }
    if (!isr.empty() && isr != partition.isr) record.isr = isr;
    if (recovery != partition.leader_recovery_state) record.leader_recovery_state = recovery;
    if (!record.isr && record.leader == kNoLeaderChange &&
        record.leader_recovery_state == kNoRecoveryChange) {
        return std::nullopt;
    }
    const PartitionImage after = changed(partition, record);
    HW_ASSERT(!after.isr.empty(), "partition {} of topic {} would have no ISR", index, topic_id.to_string());
    HW_ASSERT(after.leader == kNoBroker || contains(after.isr, after.leader), "leader {}", after.leader);
    return record;
}

bool Controller::State::acts(Bug bug, bool otherwise) {
    if (!otherwise || !settings.bugs.has(bug)) return false;
    events.emplace_back(bugs_acted.count(bug));
    return true;
}

std::optional<wire::PartitionChangeRecord> Controller::State::change(const TopicImage& topic,
                                                                     std::int32_t index,
                                                                     const PartitionImage& before,
                                                                     PartitionTarget target,
                                                                     const MayLead& may_lead) {
    std::optional<wire::PartitionChangeRecord> correct =
        change_partition(topic.id, index, before, target, may_lead);
    target.any_replica = true;
    if (settings.bugs.empty()) return correct;
    std::optional<wire::PartitionChangeRecord> other =
        change_partition(topic.id, index, before, target, may_lead);
    return acts(Bug::ElectAny, other != correct) ? other : correct;
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
                                   std::vector<BrokerId> isr, const MayLead& may_lead) {
    const PartitionImage& partition = topic.partitions.at(index);
    PartitionTarget target;
    target.isr = std::move(isr);
    target.leader_recovery_state = partition.leader_recovery_state;
    target.unclean = unclean_leader_election(topic, settings.unclean_leader_election);
    if (auto record = change(topic, index, partition, std::move(target), may_lead))
        records.emplace_back(std::move(*record));
}

void Controller::State::add_departure(Records& records, BrokerId leaving) {
    const MayLead may_lead = [&](BrokerId id) { return id != leaving && is_active(id); };
    for (const auto& [name, topic] : image.topics()) {
        for (const auto& [index, partition] : topic.partitions) {
            if (!contains(partition.isr, leaving)) continue;
            std::vector<BrokerId> isr = partition.isr;
            std::erase(isr, leaving);
            add_change(records, topic, index, std::move(isr), may_lead);
        }
    }
}

void Controller::State::add_elections(Records& records, BrokerId returning) {
    const MayLead may_lead = [&](BrokerId id) { return id == returning || is_active(id); };
    for (const auto& [name, topic] : image.topics()) {
        for (const auto& [index, partition] : topic.partitions) {
            if (partition.leader == kNoBroker) add_change(records, topic, index, partition.isr, may_lead);
        }
    }
}

void Controller::State::add_preferred_elections(Records& records) const {
    const MayLead may_lead = [&](BrokerId id) { return is_active(id); };
    for (const auto& [name, topic] : image.topics()) {
        for (const auto& [index, partition] : topic.partitions) {
            const BrokerId preferred = partition.replicas.front();
            if (partition.leader == preferred || !contains(partition.isr, preferred)) continue;
            PartitionTarget target;
            target.isr = partition.isr;
            target.leader_recovery_state = partition.leader_recovery_state;
            target.election = Election::Preferred;
            if (auto record = change_partition(topic.id, index, partition, target, may_lead))
                records.emplace_back(std::move(*record));
        }
    }
}

}  // namespace highwater::node
