// The records of __cluster_metadata: what the controller decided, in order.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct RegisterBrokerRecord {
    static constexpr std::string_view kName = "RegisterBrokerRecord";
    static constexpr Versions kVersions{0, 4};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 0;
    struct BrokerEndpoint {
        std::string name;
        std::string host;
        std::uint16_t port = 0;
        std::int16_t security_protocol = 0;
        friend bool operator==(const BrokerEndpoint&, const BrokerEndpoint&) = default;

        static constexpr auto fields() {
            return std::tuple{field("name", &BrokerEndpoint::name, since(0)),
                              field("host", &BrokerEndpoint::host, since(0)),
                              field("port", &BrokerEndpoint::port, since(0)),
                              field("securityProtocol", &BrokerEndpoint::security_protocol, since(0))};
        }
    };
    struct BrokerFeature {
        std::string name;
        std::int16_t min_supported_version = 0;
        std::int16_t max_supported_version = 0;
        friend bool operator==(const BrokerFeature&, const BrokerFeature&) = default;

        static constexpr auto fields() {
            return std::tuple{field("name", &BrokerFeature::name, since(0)),
                              field("minSupportedVersion", &BrokerFeature::min_supported_version, since(0)),
                              field("maxSupportedVersion", &BrokerFeature::max_supported_version, since(0))};
        }
    };
    std::int32_t broker_id = 0;
    bool is_migrating_zk_broker = false;
    Uuid incarnation_id;
    std::int64_t broker_epoch = 0;
    std::vector<BrokerEndpoint> end_points;
    std::vector<BrokerFeature> features;
    std::optional<std::string> rack = "";
    bool fenced = true;
    bool in_controlled_shutdown = false;
    std::vector<Uuid> log_dirs;
    std::optional<std::vector<Uuid>> cordoned_log_dirs;
    friend bool operator==(const RegisterBrokerRecord&, const RegisterBrokerRecord&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("brokerId", &RegisterBrokerRecord::broker_id, since(0)),
            field("isMigratingZkBroker", &RegisterBrokerRecord::is_migrating_zk_broker, since(2)),
            field("incarnationId", &RegisterBrokerRecord::incarnation_id, since(0)),
            field("brokerEpoch", &RegisterBrokerRecord::broker_epoch, since(0)),
            field("endPoints", &RegisterBrokerRecord::end_points, since(0)),
            field("features", &RegisterBrokerRecord::features, since(0)),
            field("rack", &RegisterBrokerRecord::rack, since(0)).nullable(since(0)),
            field("fenced", &RegisterBrokerRecord::fenced, since(0)),
            field("inControlledShutdown", &RegisterBrokerRecord::in_controlled_shutdown, since(1)),
            field("logDirs", &RegisterBrokerRecord::log_dirs, since(3)).tagged(0, since(3)),
            field("cordonedLogDirs", &RegisterBrokerRecord::cordoned_log_dirs, since(4))
                .nullable(since(4))
                .tagged(1, since(4))};
    }
};

struct UnregisterBrokerRecord {
    static constexpr std::string_view kName = "UnregisterBrokerRecord";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 1;
    std::int32_t broker_id = 0;
    std::int64_t broker_epoch = 0;
    friend bool operator==(const UnregisterBrokerRecord&, const UnregisterBrokerRecord&) = default;

    static constexpr auto fields() {
        return std::tuple{field("brokerId", &UnregisterBrokerRecord::broker_id, since(0)),
                          field("brokerEpoch", &UnregisterBrokerRecord::broker_epoch, since(0))};
    }
};

struct TopicRecord {
    static constexpr std::string_view kName = "TopicRecord";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 2;
    std::string name;
    Uuid topic_id;
    friend bool operator==(const TopicRecord&, const TopicRecord&) = default;

    static constexpr auto fields() {
        return std::tuple{field("name", &TopicRecord::name, since(0)),
                          field("topicId", &TopicRecord::topic_id, since(0))};
    }
};

struct PartitionRecord {
    static constexpr std::string_view kName = "PartitionRecord";
    static constexpr Versions kVersions{0, 2};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 3;
    std::int32_t partition_id = -1;
    Uuid topic_id;
    std::vector<std::int32_t> replicas;
    std::vector<std::int32_t> isr;
    std::vector<std::int32_t> removing_replicas;
    std::vector<std::int32_t> adding_replicas;
    std::int32_t leader = -1;
    std::int8_t leader_recovery_state = 0;
    std::int32_t leader_epoch = -1;
    std::int32_t partition_epoch = -1;
    std::vector<Uuid> directories;
    std::optional<std::vector<std::int32_t>> eligible_leader_replicas;
    std::optional<std::vector<std::int32_t>> last_known_elr;
    friend bool operator==(const PartitionRecord&, const PartitionRecord&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("partitionId", &PartitionRecord::partition_id, since(0)),
            field("topicId", &PartitionRecord::topic_id, since(0)),
            field("replicas", &PartitionRecord::replicas, since(0)),
            field("isr", &PartitionRecord::isr, since(0)),
            field("removingReplicas", &PartitionRecord::removing_replicas, since(0)),
            field("addingReplicas", &PartitionRecord::adding_replicas, since(0)),
            field("leader", &PartitionRecord::leader, since(0)),
            field("leaderRecoveryState", &PartitionRecord::leader_recovery_state, since(0))
                .tagged(0, since(0)),
            field("leaderEpoch", &PartitionRecord::leader_epoch, since(0)),
            field("partitionEpoch", &PartitionRecord::partition_epoch, since(0)),
            field("directories", &PartitionRecord::directories, since(1)),
            field("eligibleLeaderReplicas", &PartitionRecord::eligible_leader_replicas, since(2))
                .nullable(since(2))
                .tagged(1, since(2)),
            field("lastKnownElr", &PartitionRecord::last_known_elr, since(2))
                .nullable(since(2))
                .tagged(2, since(2))};
    }
};

struct ConfigRecord {
    static constexpr std::string_view kName = "ConfigRecord";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 4;
    std::int8_t resource_type = 0;
    std::string resource_name;
    std::string name;
    std::optional<std::string> value = "";
    friend bool operator==(const ConfigRecord&, const ConfigRecord&) = default;

    static constexpr auto fields() {
        return std::tuple{field("resourceType", &ConfigRecord::resource_type, since(0)),
                          field("resourceName", &ConfigRecord::resource_name, since(0)),
                          field("name", &ConfigRecord::name, since(0)),
                          field("value", &ConfigRecord::value, since(0)).nullable(since(0))};
    }
};

struct PartitionChangeRecord {
    static constexpr std::string_view kName = "PartitionChangeRecord";
    static constexpr Versions kVersions{0, 2};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 5;
    std::int32_t partition_id = -1;
    Uuid topic_id;
    std::optional<std::vector<std::int32_t>> isr;
    std::int32_t leader = -2;
    std::optional<std::vector<std::int32_t>> replicas;
    std::optional<std::vector<std::int32_t>> removing_replicas;
    std::optional<std::vector<std::int32_t>> adding_replicas;
    std::int8_t leader_recovery_state = -1;
    std::optional<std::vector<Uuid>> directories;
    std::optional<std::vector<std::int32_t>> eligible_leader_replicas;
    std::optional<std::vector<std::int32_t>> last_known_elr;
    friend bool operator==(const PartitionChangeRecord&, const PartitionChangeRecord&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("partitionId", &PartitionChangeRecord::partition_id, since(0)),
            field("topicId", &PartitionChangeRecord::topic_id, since(0)),
            field("isr", &PartitionChangeRecord::isr, since(0)).nullable(since(0)).tagged(0, since(0)),
            field("leader", &PartitionChangeRecord::leader, since(0)).tagged(1, since(0)),
            field("replicas", &PartitionChangeRecord::replicas, since(0))
                .nullable(since(0))
                .tagged(2, since(0)),
            field("removingReplicas", &PartitionChangeRecord::removing_replicas, since(0))
                .nullable(since(0))
                .tagged(3, since(0)),
            field("addingReplicas", &PartitionChangeRecord::adding_replicas, since(0))
                .nullable(since(0))
                .tagged(4, since(0)),
            field("leaderRecoveryState", &PartitionChangeRecord::leader_recovery_state, since(0))
                .tagged(5, since(0)),
            field("directories", &PartitionChangeRecord::directories, since(1))
                .nullable(since(1))
                .tagged(8, since(1)),
            field("eligibleLeaderReplicas", &PartitionChangeRecord::eligible_leader_replicas, since(2))
                .nullable(since(2))
                .tagged(6, since(2)),
            field("lastKnownElr", &PartitionChangeRecord::last_known_elr, since(2))
                .nullable(since(2))
                .tagged(7, since(2))};
    }
};

struct FenceBrokerRecord {
    static constexpr std::string_view kName = "FenceBrokerRecord";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 7;
    std::int32_t id = 0;
    std::int64_t epoch = 0;
    friend bool operator==(const FenceBrokerRecord&, const FenceBrokerRecord&) = default;

    static constexpr auto fields() {
        return std::tuple{field("id", &FenceBrokerRecord::id, since(0)),
                          field("epoch", &FenceBrokerRecord::epoch, since(0))};
    }
};

struct UnfenceBrokerRecord {
    static constexpr std::string_view kName = "UnfenceBrokerRecord";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 8;
    std::int32_t id = 0;
    std::int64_t epoch = 0;
    friend bool operator==(const UnfenceBrokerRecord&, const UnfenceBrokerRecord&) = default;

    static constexpr auto fields() {
        return std::tuple{field("id", &UnfenceBrokerRecord::id, since(0)),
                          field("epoch", &UnfenceBrokerRecord::epoch, since(0))};
    }
};

struct RemoveTopicRecord {
    static constexpr std::string_view kName = "RemoveTopicRecord";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 9;
    Uuid topic_id;
    friend bool operator==(const RemoveTopicRecord&, const RemoveTopicRecord&) = default;

    static constexpr auto fields() {
        return std::tuple{field("topicId", &RemoveTopicRecord::topic_id, since(0))};
    }
};

struct FeatureLevelRecord {
    static constexpr std::string_view kName = "FeatureLevelRecord";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 12;
    std::string name;
    std::int16_t feature_level = 0;
    friend bool operator==(const FeatureLevelRecord&, const FeatureLevelRecord&) = default;

    static constexpr auto fields() {
        return std::tuple{field("name", &FeatureLevelRecord::name, since(0)),
                          field("featureLevel", &FeatureLevelRecord::feature_level, since(0))};
    }
};

struct BrokerRegistrationChangeRecord {
    static constexpr std::string_view kName = "BrokerRegistrationChangeRecord";
    static constexpr Versions kVersions{0, 3};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 17;
    std::int32_t broker_id = 0;
    std::int64_t broker_epoch = 0;
    std::int8_t fenced = 0;
    std::int8_t in_controlled_shutdown = 0;
    std::vector<Uuid> log_dirs;
    std::optional<std::vector<Uuid>> cordoned_log_dirs;
    friend bool operator==(const BrokerRegistrationChangeRecord&,
                           const BrokerRegistrationChangeRecord&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("brokerId", &BrokerRegistrationChangeRecord::broker_id, since(0)),
            field("brokerEpoch", &BrokerRegistrationChangeRecord::broker_epoch, since(0)),
            field("fenced", &BrokerRegistrationChangeRecord::fenced, since(0)).tagged(0, since(0)),
            field("inControlledShutdown", &BrokerRegistrationChangeRecord::in_controlled_shutdown, since(1))
                .tagged(1, since(1)),
            field("logDirs", &BrokerRegistrationChangeRecord::log_dirs, since(2)).tagged(2, since(2)),
            field("cordonedLogDirs", &BrokerRegistrationChangeRecord::cordoned_log_dirs, since(3))
                .nullable(since(3))
                .tagged(3, since(3))};
    }
};

struct NoOpRecord {
    static constexpr std::string_view kName = "NoOpRecord";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 20;
    friend bool operator==(const NoOpRecord&, const NoOpRecord&) = default;

    static constexpr auto fields() { return std::tuple{}; }
};

struct BeginTransactionRecord {
    static constexpr std::string_view kName = "BeginTransactionRecord";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 23;
    std::optional<std::string> name;
    friend bool operator==(const BeginTransactionRecord&, const BeginTransactionRecord&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("name", &BeginTransactionRecord::name, since(0)).nullable(since(0)).tagged(0, since(0))};
    }
};

struct EndTransactionRecord {
    static constexpr std::string_view kName = "EndTransactionRecord";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 24;
    friend bool operator==(const EndTransactionRecord&, const EndTransactionRecord&) = default;

    static constexpr auto fields() { return std::tuple{}; }
};

struct AbortTransactionRecord {
    static constexpr std::string_view kName = "AbortTransactionRecord";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 25;
    std::optional<std::string> reason;
    friend bool operator==(const AbortTransactionRecord&, const AbortTransactionRecord&) = default;

    static constexpr auto fields() {
        return std::tuple{field("reason", &AbortTransactionRecord::reason, since(0))
                              .nullable(since(0))
                              .tagged(0, since(0))};
    }
};

struct ProducerIdsRecord {
    static constexpr std::string_view kName = "ProducerIdsRecord";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 15;
    std::int32_t broker_id = 0;
    std::int64_t broker_epoch = -1;
    std::int64_t next_producer_id = 0;
    friend bool operator==(const ProducerIdsRecord&, const ProducerIdsRecord&) = default;

    static constexpr auto fields() {
        return std::tuple{field("brokerId", &ProducerIdsRecord::broker_id, since(0)),
                          field("brokerEpoch", &ProducerIdsRecord::broker_epoch, since(0)),
                          field("nextProducerId", &ProducerIdsRecord::next_producer_id, since(0))};
    }
};

struct RegisterControllerRecord {
    static constexpr std::string_view kName = "RegisterControllerRecord";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 27;
    struct ControllerEndpoint {
        std::string name;
        std::string host;
        std::uint16_t port = 0;
        std::int16_t security_protocol = 0;
        friend bool operator==(const ControllerEndpoint&, const ControllerEndpoint&) = default;

        static constexpr auto fields() {
            return std::tuple{field("name", &ControllerEndpoint::name, since(0)),
                              field("host", &ControllerEndpoint::host, since(0)),
                              field("port", &ControllerEndpoint::port, since(0)),
                              field("securityProtocol", &ControllerEndpoint::security_protocol, since(0))};
        }
    };
    struct ControllerFeature {
        std::string name;
        std::int16_t min_supported_version = 0;
        std::int16_t max_supported_version = 0;
        friend bool operator==(const ControllerFeature&, const ControllerFeature&) = default;

        static constexpr auto fields() {
            return std::tuple{
                field("name", &ControllerFeature::name, since(0)),
                field("minSupportedVersion", &ControllerFeature::min_supported_version, since(0)),
                field("maxSupportedVersion", &ControllerFeature::max_supported_version, since(0))};
        }
    };
    std::int32_t controller_id = 0;
    Uuid incarnation_id;
    bool zk_migration_ready = false;
    std::vector<ControllerEndpoint> end_points;
    std::vector<ControllerFeature> features;
    friend bool operator==(const RegisterControllerRecord&, const RegisterControllerRecord&) = default;

    static constexpr auto fields() {
        return std::tuple{field("controllerId", &RegisterControllerRecord::controller_id, since(0)),
                          field("incarnationId", &RegisterControllerRecord::incarnation_id, since(0)),
                          field("zkMigrationReady", &RegisterControllerRecord::zk_migration_ready, since(0)),
                          field("endPoints", &RegisterControllerRecord::end_points, since(0)),
                          field("features", &RegisterControllerRecord::features, since(0))};
    }
};

struct ClearElrRecord {
    static constexpr std::string_view kName = "ClearElrRecord";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr std::int16_t kType = 28;
    std::string topic_name;
    friend bool operator==(const ClearElrRecord&, const ClearElrRecord&) = default;

    static constexpr auto fields() {
        return std::tuple{field("topicName", &ClearElrRecord::topic_name, since(0))};
    }
};
struct LeaderChangeMessage {
    static constexpr std::string_view kName = "LeaderChangeMessage";
    static constexpr Versions kVersions{0, 1};
    static constexpr std::int16_t kFlexibleSince = 0;
    struct Voter {
        std::int32_t voter_id = 0;
        Uuid voter_directory_id;
        friend bool operator==(const Voter&, const Voter&) = default;

        static constexpr auto fields() {
            return std::tuple{field("voterId", &Voter::voter_id, since(0)),
                              field("voterDirectoryId", &Voter::voter_directory_id, since(1))};
        }
    };
    std::int16_t version = 0;
    std::int32_t leader_id = 0;
    std::vector<Voter> voters;
    std::vector<Voter> granting_voters;
    friend bool operator==(const LeaderChangeMessage&, const LeaderChangeMessage&) = default;

    static constexpr auto fields() {
        return std::tuple{field("version", &LeaderChangeMessage::version, since(0)),
                          field("leaderId", &LeaderChangeMessage::leader_id, since(0)),
                          field("voters", &LeaderChangeMessage::voters, since(0)),
                          field("grantingVoters", &LeaderChangeMessage::granting_voters, since(0))};
    }
};
HW_WIRE_MESSAGE(RegisterBrokerRecord)
HW_WIRE_MESSAGE(UnregisterBrokerRecord)
HW_WIRE_MESSAGE(TopicRecord)
HW_WIRE_MESSAGE(PartitionRecord)
HW_WIRE_MESSAGE(ConfigRecord)
HW_WIRE_MESSAGE(PartitionChangeRecord)
HW_WIRE_MESSAGE(FenceBrokerRecord)
HW_WIRE_MESSAGE(UnfenceBrokerRecord)
HW_WIRE_MESSAGE(RemoveTopicRecord)
HW_WIRE_MESSAGE(FeatureLevelRecord)
HW_WIRE_MESSAGE(BrokerRegistrationChangeRecord)
HW_WIRE_MESSAGE(NoOpRecord)
HW_WIRE_MESSAGE(BeginTransactionRecord)
HW_WIRE_MESSAGE(EndTransactionRecord)
HW_WIRE_MESSAGE(AbortTransactionRecord)
HW_WIRE_MESSAGE(ProducerIdsRecord)
HW_WIRE_MESSAGE(RegisterControllerRecord)
HW_WIRE_MESSAGE(ClearElrRecord)
HW_WIRE_MESSAGE(LeaderChangeMessage)

}  // namespace highwater::wire
