// The cluster as the metadata log describes it: the records replayed in order. Controller and brokers hold
// one each.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/partition.h"
#include "base/result.h"
#include "wire/metadata_record.h"

namespace highwater::node {

struct Endpoint {
    std::string listener;  // "INTERNAL", "CLIENT", "DIRECT"
    std::string host;
    std::uint16_t port = 0;
    friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

struct BrokerImage {
    BrokerId id = kNoBroker;
    BrokerEpoch epoch = kUnknownBrokerEpoch;
    Uuid incarnation;
    std::vector<Endpoint> endpoints;
    /// directory.id of each of its log.dirs.
    std::vector<Uuid> log_dirs;
    bool fenced = true;
    bool in_controlled_shutdown = false;
    /// Where its RegisterBrokerRecord is: a broker that has applied the log up to here knows that it is
    /// registered. Above `epoch` when the same batch first took a former incarnation out of ISRs, or when it
    /// registered again.
    Offset registration_offset = kUnknownOffset;

    /// May be an ISR member and lead.
    [[nodiscard]] bool active() const { return !fenced && !in_controlled_shutdown; }
    friend bool operator==(const BrokerImage&, const BrokerImage&) = default;
};

/// LeaderRecoveryState of a partition: Recovering from an unclean election until the leader says Recovered.
inline constexpr std::int8_t kRecovered = 0;
inline constexpr std::int8_t kRecovering = 1;

/// In a PartitionChangeRecord: leader and leader recovery state stay as they are.
inline constexpr BrokerId kNoLeaderChange = -2;
inline constexpr std::int8_t kNoRecoveryChange = -1;

struct PartitionImage {
    std::vector<BrokerId> replicas;
    std::vector<BrokerId> isr;
    /// Eligible leader replicas (KIP-966): not in the ISR, but with all that is committed. Empty while the
    /// ISR has min.insync.replicas members.
    std::vector<BrokerId> elr;
    /// Who led when the ISR became empty; one member, while nobody leads.
    std::vector<BrokerId> last_known_elr;
    BrokerId leader = kNoBroker;
    LeaderEpoch leader_epoch = kNoEpoch;
    PartitionEpoch partition_epoch = -1;
    std::int8_t leader_recovery_state = kRecovered;
    friend bool operator==(const PartitionImage&, const PartitionImage&) = default;
};

/// The partition after the record: only fields that are present change; a leader field, even of the same
/// leader, begins a leader epoch; every record begins a partition epoch.
PartitionImage changed(PartitionImage partition, const wire::PartitionChangeRecord& record);

/// The partition without eligible leaders and last known leader, in a new partition epoch; one that has
/// neither stays as it is.
PartitionImage without_eligible_leaders(PartitionImage partition);

inline constexpr const char* kEligibleLeaderReplicas = "eligible.leader.replicas.version";

struct TopicImage {
    std::string name;
    Uuid id;
    std::map<std::int32_t, PartitionImage> partitions;
    /// ConfigRecords of the topic: "min.insync.replicas", "unclean.leader.election.enable" (see
    /// topic_config.h).
    std::map<std::string, std::string> configs;
    friend bool operator==(const TopicImage&, const TopicImage&) = default;
};

class MetadataImage {
public:
    /// Applies one record written at `offset`, which must not be below end_offset(). Errors: a record that
    /// contradicts the image (unknown topic, partition or broker, an epoch that falls, a leader outside its
    /// ISR) or whose effect is not supported (an aborted metadata transaction); then nothing was applied.
    Status apply(Offset offset, const wire::MetadataRecord& record);
    /// Applies whole batches as read from the log or fetched from the controller. What is below end_offset()
    /// is known already and skipped; control batches only move end_offset(). Errors name the offset; what
    /// came before it stays applied.
    Status apply_batches(BytesView batches);

    [[nodiscard]] const std::map<BrokerId, BrokerImage>& brokers() const { return brokers_; }
    [[nodiscard]] const BrokerImage* broker(BrokerId id) const;
    [[nodiscard]] const std::map<std::string, TopicImage>& topics() const { return topics_; }
    [[nodiscard]] const TopicImage* topic(const std::string& name) const;
    [[nodiscard]] const TopicImage* topic(const Uuid& id) const;
    [[nodiscard]] const PartitionImage* partition(const TopicPartition& partition) const;
    /// Offset after the last applied record; 0 before the first.
    [[nodiscard]] Offset end_offset() const { return end_offset_; }
    /// Finalized level of a feature, e.g. "eligible.leader.replicas.version"; 0: off.
    [[nodiscard]] std::int16_t feature_level(const std::string& name) const;
    /// ConfigRecords of the cluster (broker resource ""): they hold before any node's own file.
    [[nodiscard]] const std::map<std::string, std::string>& cluster_configs() const {
        return cluster_configs_;
    }
    /// The first id that no block handed out so far contains.
    [[nodiscard]] ProducerId next_producer_id() const { return next_producer_id_; }

    friend bool operator==(const MetadataImage&, const MetadataImage&) = default;

private:
    Status replay(Offset offset, const wire::RegisterBrokerRecord& record);
    Status replay(Offset offset, const wire::UnregisterBrokerRecord& record);
    Status replay(Offset offset, const wire::FenceBrokerRecord& record);
    Status replay(Offset offset, const wire::UnfenceBrokerRecord& record);
    Status replay(Offset offset, const wire::BrokerRegistrationChangeRecord& record);
    Status replay(Offset offset, const wire::TopicRecord& record);
    Status replay(Offset offset, const wire::RemoveTopicRecord& record);
    Status replay(Offset offset, const wire::PartitionRecord& record);
    Status replay(Offset offset, const wire::PartitionChangeRecord& record);
    Status replay(Offset offset, const wire::ConfigRecord& record);
    Status replay(Offset offset, const wire::ClearElrRecord& record);
    Status replay(Offset offset, const wire::FeatureLevelRecord& record);
    Status replay(Offset offset, const wire::ProducerIdsRecord& record);
    Status replay(Offset offset, const wire::AbortTransactionRecord& record);
    /// Controllers, transaction brackets: nothing that replication depends on.
    template <class Other>
    Status replay(Offset, const Other&) {
        return {};
    }
    Result<BrokerImage*> registered(BrokerId id, BrokerEpoch epoch);
    Result<TopicImage*> topic_of(const Uuid& id);

    std::map<BrokerId, BrokerImage> brokers_;
    std::map<std::string, TopicImage> topics_;
    std::map<Uuid, std::string> topic_names_;
    std::map<std::string, std::int16_t> features_;
    std::map<std::string, std::string> cluster_configs_;
    Offset end_offset_ = 0;
    ProducerId next_producer_id_ = 0;
};

}  // namespace highwater::node
