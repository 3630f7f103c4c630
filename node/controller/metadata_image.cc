// Replay of metadata records, each checked against what came before it.
#include "node/controller/metadata_image.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "wire/record_batch.h"

namespace highwater::node {
namespace {

constexpr std::int8_t kTopicResource = 2;
constexpr std::int8_t kBrokerResource = 4;

bool contains(const std::vector<BrokerId>& ids, BrokerId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

Status check_partition(const PartitionImage& partition) {
    for (const BrokerId id : partition.isr) {
        if (!contains(partition.replicas, id)) {
            return failure(
                fmt::format("ISR member {} is not one of the replicas {}", id, partition.replicas));
        }
    }
    for (const BrokerId id : partition.elr) {
        if (!contains(partition.replicas, id) || contains(partition.isr, id)) {
            return failure(fmt::format("eligible leader {} of the replicas {} with the ISR {}", id,
                                       partition.replicas, partition.isr));
        }
    }
    if (partition.leader != kNoBroker && !contains(partition.isr, partition.leader)) {
        return failure(fmt::format("leader {} is not in the ISR {}", partition.leader, partition.isr));
    }
    return {};
}

}  // namespace

PartitionImage changed(PartitionImage partition, const wire::PartitionChangeRecord& record) {
    if (record.replicas) partition.replicas = *record.replicas;
    if (record.isr) partition.isr = *record.isr;
    if (record.eligible_leader_replicas) partition.elr = *record.eligible_leader_replicas;
    if (record.last_known_elr) partition.last_known_elr = *record.last_known_elr;
    if (record.leader != kNoLeaderChange) {
        partition.leader = record.leader;
        partition.leader_epoch += 1;
    }
    if (record.leader_recovery_state != kNoRecoveryChange) {
        partition.leader_recovery_state = record.leader_recovery_state;
    }
    partition.partition_epoch += 1;
    return partition;
}

PartitionImage without_eligible_leaders(PartitionImage partition) {
    if (partition.elr.empty() && partition.last_known_elr.empty()) return partition;
    partition.elr.clear();
    partition.last_known_elr.clear();
    partition.partition_epoch += 1;
    return partition;
}

// -- looking up ---------------------------------------------------------------------------------------------

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
    const TopicImage* found_topic = topic(partition.topic);
    if (found_topic == nullptr) return nullptr;
    const auto found = found_topic->partitions.find(partition.partition);
    return found == found_topic->partitions.end() ? nullptr : &found->second;
}

std::int16_t MetadataImage::feature_level(const std::string& name) const {
    const auto found = features_.find(name);
    return found == features_.end() ? std::int16_t{0} : found->second;
}

Result<BrokerImage*> MetadataImage::registered(BrokerId id, BrokerEpoch epoch) {
    const auto found = brokers_.find(id);
    if (found == brokers_.end()) return failure(fmt::format("broker {} is not registered", id));
    if (found->second.epoch != epoch) {
        return failure(fmt::format("broker {} has epoch {}, not {}", id, found->second.epoch, epoch));
    }
    return &found->second;
}

Result<TopicImage*> MetadataImage::topic_of(const Uuid& id) {
    const auto name = topic_names_.find(id);
    if (name == topic_names_.end())
        return failure(fmt::format("there is no topic with id {}", id.to_string()));
    return &topics_.at(name->second);
}

// -- applying -----------------------------------------------------------------------------------------------

Status MetadataImage::apply(Offset offset, const wire::MetadataRecord& record) {
    const std::string where = fmt::format("metadata offset {}: {}", offset, wire::record_name(record));
    if (offset < end_offset_) return failure(fmt::format("{}: below the end offset {}", where, end_offset_));
    const Status replayed = std::visit([&](const auto& value) { return replay(offset, value); }, record);
    if (!replayed) return failure(where, replayed.error());
    end_offset_ = offset + 1;
    return {};
}

Status MetadataImage::apply_batches(BytesView batches) {
    const auto split = wire::split_batches(batches);
    if (!split) return tl::make_unexpected(split.error());
    for (const wire::BatchView& batch : *split) {
        if (batch.header.next_offset() <= end_offset_) continue;
        if (!batch.header.control()) {
            const auto records = wire::decode_records(batch.bytes);
            if (!records) return tl::make_unexpected(records.error());
            for (const wire::Record& record : *records) {
                if (record.offset < end_offset_) continue;
                const auto decoded = wire::decode_metadata_record(record.value.value_or(Bytes{}));
                if (!decoded)
                    return failure(fmt::format("metadata offset {}", record.offset), decoded.error());
                if (Status applied = apply(record.offset, decoded->record); !applied) return applied;
            }
        }
        end_offset_ = batch.header.next_offset();
    }
    return {};
}

// -- brokers ------------------------------------------------------------------------------------------------

Status MetadataImage::replay(Offset offset, const wire::RegisterBrokerRecord& record) {
    const BrokerImage* known = broker(record.broker_id);
    if (known != nullptr && record.broker_epoch < known->epoch) {
        return failure(fmt::format("broker {} would fall from epoch {} to {}", record.broker_id, known->epoch,
                                   record.broker_epoch));
    }
    BrokerImage image;
    image.id = record.broker_id;
    image.epoch = record.broker_epoch;
    image.incarnation = record.incarnation_id;
    for (const auto& endpoint : record.end_points) {
        image.endpoints.push_back({endpoint.name, endpoint.host, endpoint.port});
    }
    image.log_dirs = record.log_dirs;
    image.fenced = record.fenced;
    image.in_controlled_shutdown = record.in_controlled_shutdown;
    image.registration_offset = offset;
    brokers_[record.broker_id] = std::move(image);
    return {};
}

Status MetadataImage::replay(Offset, const wire::UnregisterBrokerRecord& record) {
    const auto broker = registered(record.broker_id, record.broker_epoch);
    if (!broker) return tl::make_unexpected(broker.error());
    brokers_.erase(record.broker_id);
    return {};
}

Status MetadataImage::replay(Offset, const wire::FenceBrokerRecord& record) {
    const auto broker = registered(record.id, record.epoch);
    if (!broker) return tl::make_unexpected(broker.error());
    (*broker)->fenced = true;
    return {};
}

Status MetadataImage::replay(Offset, const wire::UnfenceBrokerRecord& record) {
    const auto broker = registered(record.id, record.epoch);
    if (!broker) return tl::make_unexpected(broker.error());
    (*broker)->fenced = false;
    return {};
}

Status MetadataImage::replay(Offset, const wire::BrokerRegistrationChangeRecord& record) {
    const auto broker = registered(record.broker_id, record.broker_epoch);
    if (!broker) return tl::make_unexpected(broker.error());
    // fenced: 1 fences, -1 unfences, 0 leaves it as it is.
    if (record.fenced != 0) (*broker)->fenced = record.fenced > 0;
    if (record.in_controlled_shutdown != 0)
        (*broker)->in_controlled_shutdown = record.in_controlled_shutdown > 0;
    if (!record.log_dirs.empty()) (*broker)->log_dirs = record.log_dirs;
    return {};
}

// -- topics -------------------------------------------------------------------------------------------------

Status MetadataImage::replay(Offset, const wire::TopicRecord& record) {
    if (topics_.contains(record.name)) return failure(fmt::format("topic {} exists already", record.name));
    if (topic_names_.contains(record.topic_id)) {
        return failure(fmt::format("topic id {} belongs to {}", record.topic_id.to_string(),
                                   topic_names_.at(record.topic_id)));
    }
    topics_[record.name] = TopicImage{record.name, record.topic_id, {}, {}};
    topic_names_[record.topic_id] = record.name;
    return {};
}

Status MetadataImage::replay(Offset, const wire::RemoveTopicRecord& record) {
    const auto topic = topic_of(record.topic_id);
    if (!topic) return tl::make_unexpected(topic.error());
    topics_.erase(topic_names_.at(record.topic_id));
    topic_names_.erase(record.topic_id);
    return {};
}

Status MetadataImage::replay(Offset, const wire::PartitionRecord& record) {
    const auto topic = topic_of(record.topic_id);
    if (!topic) return tl::make_unexpected(topic.error());
    PartitionImage partition;
    partition.replicas = record.replicas;
    partition.isr = record.isr;
    partition.elr = record.eligible_leader_replicas.value_or(std::vector<BrokerId>{});
    partition.last_known_elr = record.last_known_elr.value_or(std::vector<BrokerId>{});
    partition.leader = record.leader;
    partition.leader_epoch = record.leader_epoch;
    partition.partition_epoch = record.partition_epoch;
    partition.leader_recovery_state = record.leader_recovery_state;
    if (const Status good = check_partition(partition); !good) {
        return failure(fmt::format("{}-{}", (*topic)->name, record.partition_id), good.error());
    }
    (*topic)->partitions[record.partition_id] = std::move(partition);
    return {};
}

Status MetadataImage::replay(Offset, const wire::PartitionChangeRecord& record) {
    const auto topic = topic_of(record.topic_id);
    if (!topic) return tl::make_unexpected(topic.error());
    const std::string name = fmt::format("{}-{}", (*topic)->name, record.partition_id);
    const auto found = (*topic)->partitions.find(record.partition_id);
    if (found == (*topic)->partitions.end()) return failure(fmt::format("there is no partition {}", name));
    PartitionImage partition = changed(found->second, record);
    if (const Status good = check_partition(partition); !good) return failure(name, good.error());
    found->second = std::move(partition);
    return {};
}

Status MetadataImage::replay(Offset, const wire::ConfigRecord& record) {
    const auto set = [&](std::map<std::string, std::string>& configs) {
        if (record.value) {
            configs[record.name] = *record.value;
        } else {
            configs.erase(record.name);
        }
    };
    if (record.resource_type == kBrokerResource && record.resource_name.empty()) set(cluster_configs_);
    if (record.resource_type != kTopicResource) return {};  // a broker's own come from its file
    const auto topic = topics_.find(record.resource_name);
    if (topic == topics_.end()) return failure(fmt::format("there is no topic {}", record.resource_name));
    set(topic->second.configs);
    return {};
}

Status MetadataImage::replay(Offset, const wire::ClearElrRecord& record) {
    // Eligible by another min.insync.replicas than the one that holds now. No name: every topic's.
    if (!record.topic_name.empty() && !topics_.contains(record.topic_name))
        return failure(fmt::format("there is no topic {}", record.topic_name));
    for (auto& [name, topic] : topics_) {
        if (!record.topic_name.empty() && name != record.topic_name) continue;
        for (auto& [index, partition] : topic.partitions) partition = without_eligible_leaders(partition);
    }
    return {};
}

Status MetadataImage::replay(Offset, const wire::FeatureLevelRecord& record) {
    if (record.feature_level == 0) {
        features_.erase(record.name);
    } else {
        features_[record.name] = record.feature_level;
    }
    return {};
}

Status MetadataImage::replay(Offset, const wire::ProducerIdsRecord& record) {
    // A block that is handed out twice gives two producers one identity.
    if (record.next_producer_id < next_producer_id_) {
        return failure(fmt::format("the next producer id would fall from {} to {}", next_producer_id_,
                                   record.next_producer_id));
    }
    next_producer_id_ = record.next_producer_id;
    return {};
}

Status MetadataImage::replay(Offset, const wire::AbortTransactionRecord&) {
    return failure(
        "records of an aborted metadata transaction were applied already and cannot be taken back");
}

}  // namespace highwater::node
