#include "harness/kafka/decisions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <variant>

namespace highwater::harness {
namespace {

/// Of ConfigRecord.
constexpr std::int8_t kTopicResource = 2;
/// Of PartitionChangeRecord: the leader stays.
constexpr BrokerId kNoLeaderChange = -2;
constexpr std::int8_t kRecovering = 1;

bool contains(const std::vector<BrokerId>& ids, BrokerId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

std::string list(const std::vector<BrokerId>& ids) { return fmt::format("[{}]", fmt::join(ids, ",")); }

}  // namespace

Decisions::Changes Decisions::changes_in(const MetadataBatch& batch) const {
    Changes changes;
    for (const wire::MetadataRecord& record : batch.records) {
        if (const auto* registration = std::get_if<wire::RegisterBrokerRecord>(&record))
            changes.registered.insert(registration->broker_id);
        if (const auto* fence = std::get_if<wire::FenceBrokerRecord>(&record))
            changes.fenced.insert(fence->id);
        if (const auto* unfence = std::get_if<wire::UnfenceBrokerRecord>(&record))
            changes.unfenced.insert(unfence->id);
        if (const auto* change = std::get_if<wire::BrokerRegistrationChangeRecord>(&record)) {
            if (change->fenced > 0) changes.fenced.insert(change->broker_id);
            if (change->fenced < 0) changes.unfenced.insert(change->broker_id);
            if (change->in_controlled_shutdown > 0) changes.shutting_down.insert(change->broker_id);
        }
        if (const auto* partition = std::get_if<wire::PartitionChangeRecord>(&record);
            partition != nullptr && partition->directories && topic_known_ &&
            partition->topic_id == topic_id_) {
            changes.moved.insert(partition->partition_id);
        }
    }
    return changes;
}

std::vector<Decision> Decisions::of(const MetadataBatch& batch) {
    const Changes changes = changes_in(batch);
    const bool creates = std::any_of(batch.records.begin(), batch.records.end(), [this](const auto& record) {
        const auto* topic = std::get_if<wire::TopicRecord>(&record);
        return topic != nullptr && topic->name == topic_;
    });
    std::vector<Decision> decisions;
    const auto tell = [&](std::string members) {
        if (!members.empty()) decisions.push_back({batch.timestamp_ms, std::move(members), kNoBroker});
    };
    for (const wire::MetadataRecord& record : batch.records) {
        if (const auto* topic = std::get_if<wire::TopicRecord>(&record);
            topic != nullptr && topic->name == topic_) {
            topic_id_ = topic->topic_id;
            topic_known_ = true;
        } else if (const auto* registration = std::get_if<wire::RegisterBrokerRecord>(&record)) {
            tell(apply(*registration));
            decisions.back().registered = registration->broker_id;
            if (brokers_[registration->broker_id].fenced) {
                tell(fmt::format(
                    R"("e":"fence","broker":{},"broker_epoch":{},"reason":"registered","silent_ns":0)",
                    registration->broker_id, registration->broker_epoch));
            }
        } else if (const auto* change = std::get_if<wire::BrokerRegistrationChangeRecord>(&record)) {
            tell(apply(*change));
        } else if (const auto* fenced = std::get_if<wire::FenceBrokerRecord>(&record)) {
            tell(fence(fenced->id));
        } else if (const auto* unfenced = std::get_if<wire::UnfenceBrokerRecord>(&record)) {
            tell(unfence(unfenced->id));
        } else if (const auto* partition = std::get_if<wire::PartitionRecord>(&record)) {
            tell(apply(*partition));
        } else if (const auto* partition_change = std::get_if<wire::PartitionChangeRecord>(&record)) {
            tell(apply(*partition_change, changes));
        } else if (const auto* clear = std::get_if<wire::ClearElrRecord>(&record)) {
            for (std::string& members : apply(*clear)) tell(std::move(members));
        } else if (const auto* config = std::get_if<wire::ConfigRecord>(&record);
                   config != nullptr && !creates) {
            tell(apply(*config));
        }
    }
    return decisions;
}

// -- brokers

std::string Decisions::apply(const wire::RegisterBrokerRecord& record) {
    brokers_[record.broker_id] = {record.broker_epoch, record.fenced, record.in_controlled_shutdown};
    return fmt::format(R"("e":"register","broker":{},"broker_epoch":{},"incarnation":"{}")", record.broker_id,
                       record.broker_epoch, record.incarnation_id.to_string());
}

std::string Decisions::fence(BrokerId id) {
    Broker& broker = brokers_[id];
    if (broker.fenced) return "";  // told again when the session of one that had ended itself is over
    broker.fenced = true;
    // How long it had been silent is known to the controller alone.
    return fmt::format(R"("e":"fence","broker":{},"broker_epoch":{},"reason":"{}","silent_ns":0)", id,
                       broker.epoch, broker.shutting_down ? "controlled-shutdown" : "session-timeout");
}

std::string Decisions::unfence(BrokerId id) {
    brokers_[id].fenced = false;
    return fmt::format(R"("e":"unfence","broker":{},"broker_epoch":{})", id, brokers_[id].epoch);
}

std::string Decisions::apply(const wire::BrokerRegistrationChangeRecord& record) {
    Broker& broker = brokers_[record.broker_id];
    broker.epoch = record.broker_epoch;
    if (record.in_controlled_shutdown > 0) {
        broker.shutting_down = true;
        if (record.fenced <= 0)
            return fmt::format(R"("e":"shutting-down","broker":{},"broker_epoch":{})", record.broker_id,
                               record.broker_epoch);
    }
    if (record.fenced > 0) return fence(record.broker_id);
    return record.fenced < 0 ? unfence(record.broker_id) : "";
}

// -- partitions

std::string Decisions::partition_members(std::int32_t number, const Partition& partition, bool elected,
                                         bool unclean, const std::string& cause) const {
    return fmt::format(
        R"("e":"partition","p":{},"leader":{},"epoch":{},"partition_epoch":{},"isr":{},"elr":{},"last_known_elr":{},"elected":{},"unclean":{},"last_known_leader":{},"cause":"{}")",
        quoted(fmt::format("{}-{}", topic_, number)), partition.leader, partition.epoch,
        partition.partition_epoch, list(partition.isr), list(partition.elr), list(partition.last_known_elr),
        elected, unclean, cause == "last-known-leader", cause);
}

std::string Decisions::apply(const wire::PartitionRecord& record) {
    if (!topic_known_ || record.topic_id != topic_id_) return "";
    Partition& partition = partitions_[record.partition_id];
    partition = {record.replicas,
                 record.isr,
                 record.eligible_leader_replicas.value_or(std::vector<BrokerId>{}),
                 record.last_known_elr.value_or(std::vector<BrokerId>{}),
                 record.leader,
                 record.leader_epoch,
                 record.partition_epoch};
    return partition_members(record.partition_id, partition, true, false, "created");
}

std::string Decisions::apply(const wire::PartitionChangeRecord& record, const Changes& changes) {
    const auto found = partitions_.find(record.partition_id);
    if (!topic_known_ || record.topic_id != topic_id_ || found == partitions_.end()) return "";
    const Partition before = found->second;
    Partition& partition = found->second;
    if (record.isr) partition.isr = *record.isr;
    if (record.replicas) partition.replicas = *record.replicas;
    if (record.eligible_leader_replicas) partition.elr = *record.eligible_leader_replicas;
    if (record.last_known_elr) partition.last_known_elr = *record.last_known_elr;
    if (record.leader != kNoLeaderChange) {
        // Also to the same leader: releases before 3.6 made it anew at every shrink.
        partition.leader = record.leader;
        ++partition.epoch;
    }
    ++partition.partition_epoch;
    const bool elected = record.leader != kNoLeaderChange && record.leader != before.leader;
    const bool in_sync = contains(before.isr, partition.leader) || contains(before.elr, partition.leader);
    // A replica on a directory that its broker does not have takes its leadership along.
    const bool directories = record.directories || (elected && partition.leader == kNoBroker &&
                                                    changes.moved.contains(record.partition_id));
    const bool unclean =
        elected && partition.leader != kNoBroker && (!in_sync || record.leader_recovery_state == kRecovering);
    return partition_members(record.partition_id, partition, elected, unclean,
                             cause(before, partition, unclean, directories, changes));
}

/// Eligible by another min.insync.replicas than the one that holds now. No name: every topic's.
std::vector<std::string> Decisions::apply(const wire::ClearElrRecord& record) {
    std::vector<std::string> told;
    if (!record.topic_name.empty() && record.topic_name != topic_) return told;
    for (auto& [number, partition] : partitions_) {
        if (partition.elr.empty() && partition.last_known_elr.empty()) continue;
        partition.elr.clear();
        partition.last_known_elr.clear();
        ++partition.partition_epoch;
        told.push_back(partition_members(number, partition, false, false, "min-isr"));
    }
    return told;
}

std::string Decisions::cause(const Partition& before, const Partition& after, bool unclean, bool directories,
                             const Changes& changes) const {
    const auto gone = [&](const std::set<BrokerId>& among) {
        return std::any_of(before.isr.begin(), before.isr.end(), [&](BrokerId id) {
            return among.contains(id) &&
                   (!contains(after.isr, id) || (before.leader == id && after.leader != id));
        });
    };
    // Whoever was eligible may lose that by the registration in the same batch.
    const bool none_eligible = std::all_of(before.elr.begin(), before.elr.end(),
                                           [&](BrokerId id) { return changes.registered.contains(id); });
    if (unclean && before.isr.empty() && none_eligible) return "last-known-leader";
    if (unclean) return "unclean";
    const auto shutting_down = [&] {
        std::set<BrokerId> ids = changes.shutting_down;
        for (const BrokerId id : changes.fenced) {
            const auto broker = brokers_.find(id);
            if (broker != brokers_.end() && broker->second.shutting_down) ids.insert(id);
        }
        return ids;
    };
    if (gone(shutting_down())) return "shutdown";
    if (gone(changes.fenced)) return "fenced";
    if (gone(changes.registered)) return "registered";
    if (directories) return "directories";
    if (after.leader != kNoBroker && before.leader != after.leader) {
        if (changes.unfenced.contains(after.leader)) return "unfenced";
        if (before.isr == after.isr) return "preferred";
    }
    return "alter-partition";
}

std::string Decisions::apply(const wire::ConfigRecord& record) const {
    if (record.resource_type != kTopicResource || record.resource_name != topic_) return "";
    std::string members =
        fmt::format(R"("e":"config","topic":{},"name":{})", quoted(topic_), quoted(record.name));
    if (record.value) members += fmt::format(R"(,"value":{})", quoted(*record.value));
    return members;
}

}  // namespace highwater::harness
