#include "node/controller/metadata_image.h"

#include <fmt/format.h>

#include "base/overloaded.h"

namespace highwater::node {
namespace {

constexpr std::int8_t kTopicResource = 2;
/// PartitionChangeRecord: the leader stays.
constexpr BrokerId kNoLeaderChange = -2;
/// PartitionChangeRecord: the recovery state stays.
constexpr std::int8_t kNoRecoveryChange = -1;

BrokerImage broker_of(const wire::RegisterBrokerRecord& record) {
    BrokerImage broker;
    broker.id = record.broker_id;
    broker.epoch = record.broker_epoch;
    broker.incarnation = record.incarnation_id;
    broker.fenced = record.fenced;
    broker.in_controlled_shutdown = record.in_controlled_shutdown;
    for (const auto& endpoint : record.end_points) {
        broker.endpoints.push_back({endpoint.name, endpoint.host, endpoint.port});
    }
    return broker;
}

PartitionImage partition_of(const wire::PartitionRecord& record) {
    PartitionImage partition;
    partition.replicas = record.replicas;
    partition.isr = record.isr;
    partition.leader = record.leader;
    partition.leader_epoch = record.leader_epoch;
    partition.partition_epoch = record.partition_epoch;
    partition.leader_recovery_state = record.leader_recovery_state;
    return partition;
}

void change_partition(PartitionImage& partition, const wire::PartitionChangeRecord& change) {
    if (change.isr) partition.isr = *change.isr;
    if (change.replicas) partition.replicas = *change.replicas;
    if (change.leader_recovery_state != kNoRecoveryChange) partition.leader_recovery_state = change.leader_recovery_state;
    if (change.leader != kNoLeaderChange) {
        partition.leader = change.leader;
        ++partition.leader_epoch;
    }
    ++partition.partition_epoch;
}

}  // namespace

const BrokerImage* MetadataImage::broker(BrokerId id) const {
    const auto found = brokers_.find(id);
    return found == brokers_.end() ? nullptr : &found->second;
}

const TopicImage* MetadataImage::topic(const std::string& name) const {
    const auto found = topics_.find(name);
    return found == topics_.end() ? nullptr : &found->second;
}

const TopicImage* MetadataImage::topic(const Uuid& id) const {
    const auto found = topic_names_.find(id);
    return found == topic_names_.end() ? nullptr : topic(found->second);
}

const PartitionImage* MetadataImage::partition(const TopicPartition& partition) const {
    const TopicImage* image = topic(partition.topic);
    if (image == nullptr) return nullptr;
    const auto found = image->partitions.find(partition.partition);
    return found == image->partitions.end() ? nullptr : &found->second;
}

Status MetadataImage::apply(Offset offset, const wire::MetadataRecord& record) {
    const auto contradiction = [&](const std::string& what) -> Status {
        return failure(fmt::format("metadata offset {}: {}: {}", offset, wire::record_name(record), what));
    };
    const auto topic_by_id = [&](const Uuid& id) -> TopicImage* {
        const auto name = topic_names_.find(id);
        return name == topic_names_.end() ? nullptr : &topics_.at(name->second);
    };
    const auto set_fenced = [&](BrokerId id, BrokerEpoch epoch, bool fenced) -> Status {
        const auto broker = brokers_.find(id);
        if (broker == brokers_.end() || broker->second.epoch != epoch) {
            return contradiction(fmt::format("broker {} with epoch {} is not registered", id, epoch));
        }
        broker->second.fenced = fenced;
        return {};
    };
    end_offset_ = offset + 1;
    return std::visit(
        overloaded{
            [&](const wire::RegisterBrokerRecord& value) -> Status {
                brokers_[value.broker_id] = broker_of(value);
                return {};
            },
            [&](const wire::UnregisterBrokerRecord& value) -> Status {
                brokers_.erase(value.broker_id);
                return {};
            },
            [&](const wire::FenceBrokerRecord& value) { return set_fenced(value.id, value.epoch, true); },
            [&](const wire::UnfenceBrokerRecord& value) { return set_fenced(value.id, value.epoch, false); },
            [&](const wire::BrokerRegistrationChangeRecord& value) -> Status {
                // fenced: 1 fences, -1 unfences, 0 leaves it.
                if (value.fenced != 0) {
                    if (Status done = set_fenced(value.broker_id, value.broker_epoch, value.fenced > 0); !done) return done;
                }
                const auto broker = brokers_.find(value.broker_id);
                if (broker == brokers_.end()) return contradiction(fmt::format("broker {} is not registered", value.broker_id));
                if (value.in_controlled_shutdown > 0) broker->second.in_controlled_shutdown = true;
                return {};
            },
            [&](const wire::TopicRecord& value) -> Status {
                topics_[value.name] = TopicImage{value.name, value.topic_id, {}, {}};
                topic_names_[value.topic_id] = value.name;
                return {};
            },
            [&](const wire::RemoveTopicRecord& value) -> Status {
                const auto name = topic_names_.find(value.topic_id);
                if (name == topic_names_.end()) return contradiction("the topic is unknown");
                topics_.erase(name->second);
                topic_names_.erase(name);
                return {};
            },
            [&](const wire::PartitionRecord& value) -> Status {
                TopicImage* topic = topic_by_id(value.topic_id);
                if (topic == nullptr) return contradiction("the topic is unknown");
                topic->partitions[value.partition_id] = partition_of(value);
                return {};
            },
            [&](const wire::PartitionChangeRecord& value) -> Status {
                TopicImage* topic = topic_by_id(value.topic_id);
                const auto partition = topic == nullptr ? decltype(topic->partitions.end()){}
                                                        : topic->partitions.find(value.partition_id);
                if (topic == nullptr || partition == topic->partitions.end()) return contradiction("the partition is unknown");
                change_partition(partition->second, value);
                return {};
            },
            [&](const wire::ConfigRecord& value) -> Status {
                const auto topic = topics_.find(value.resource_name);
                if (value.resource_type != kTopicResource || topic == topics_.end()) return {};
                if (value.value) topic->second.configs[value.name] = *value.value;
                else topic->second.configs.erase(value.name);
                return {};
            },
            // Features, transactions of the log and the like do not change what replication does.
            [](const auto&) -> Status { return {}; }},
        record);
}

}  // namespace highwater::node
