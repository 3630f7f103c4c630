// The cluster as the metadata log describes it: the records replayed in order. Controller and brokers hold one each.
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
    bool fenced = true;
    bool in_controlled_shutdown = false;
};

struct PartitionImage {
    std::vector<BrokerId> replicas;
    std::vector<BrokerId> isr;
    BrokerId leader = kNoBroker;
    LeaderEpoch leader_epoch = kNoEpoch;
    PartitionEpoch partition_epoch = -1;
    std::int8_t leader_recovery_state = 0;
    friend bool operator==(const PartitionImage&, const PartitionImage&) = default;
};

struct TopicImage {
    std::string name;
    Uuid id;
    std::map<std::int32_t, PartitionImage> partitions;
    /// ConfigRecords of the topic: "min.insync.replicas", "unclean.leader.election.enable".
    std::map<std::string, std::string> configs;
};

class MetadataImage {
public:
    /// Applies one record written at `offset`. Errors: a record that contradicts the image (unknown topic or broker, a
    /// partition epoch that is not the next one).
    Status apply(Offset offset, const wire::MetadataRecord& record);

    [[nodiscard]] const std::map<BrokerId, BrokerImage>& brokers() const { return brokers_; }
    [[nodiscard]] const BrokerImage* broker(BrokerId id) const;
    [[nodiscard]] const std::map<std::string, TopicImage>& topics() const { return topics_; }
    [[nodiscard]] const TopicImage* topic(const std::string& name) const;
    [[nodiscard]] const TopicImage* topic(const Uuid& id) const;
    [[nodiscard]] const PartitionImage* partition(const TopicPartition& partition) const;
    /// Offset after the last applied record; 0 before the first.
    [[nodiscard]] Offset end_offset() const { return end_offset_; }

private:
    std::map<BrokerId, BrokerImage> brokers_;
    std::map<std::string, TopicImage> topics_;
    std::map<Uuid, std::string> topic_names_;
    Offset end_offset_ = 0;
};

}  // namespace highwater::node
