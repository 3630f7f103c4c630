// The records of __consumer_offsets: what groups have committed, and who is in them.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct OffsetCommitKey {
    static constexpr std::string_view kName = "OffsetCommitKey";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = std::numeric_limits<std::int16_t>::max();
    std::string group;
    std::string topic;
    std::int32_t partition = 0;
    friend bool operator==(const OffsetCommitKey&, const OffsetCommitKey&) = default;

    static constexpr auto fields() {
        return std::tuple{field("group", &OffsetCommitKey::group, between(0, 0)),
                          field("topic", &OffsetCommitKey::topic, between(0, 0)),
                          field("partition", &OffsetCommitKey::partition, between(0, 0))};
    }
};

struct OffsetCommitValue {
    static constexpr std::string_view kName = "OffsetCommitValue";
    static constexpr Versions kVersions{0, 4};
    static constexpr std::int16_t kFlexibleSince = 4;
    std::int64_t offset = 0;
    std::int32_t leader_epoch = -1;
    std::string metadata;
    std::int64_t commit_timestamp = 0;
    std::int64_t expire_timestamp = -1;
    Uuid topic_id;
    friend bool operator==(const OffsetCommitValue&, const OffsetCommitValue&) = default;

    static constexpr auto fields() {
        return std::tuple{field("offset", &OffsetCommitValue::offset, since(0)),
                          field("leaderEpoch", &OffsetCommitValue::leader_epoch, since(3)),
                          field("metadata", &OffsetCommitValue::metadata, since(0)),
                          field("commitTimestamp", &OffsetCommitValue::commit_timestamp, since(0)),
                          field("expireTimestamp", &OffsetCommitValue::expire_timestamp, between(1, 1)),
                          field("topicId", &OffsetCommitValue::topic_id, since(4)).tagged(0, since(4))};
    }
};

struct GroupMetadataKey {
    static constexpr std::string_view kName = "GroupMetadataKey";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = std::numeric_limits<std::int16_t>::max();
    std::string group;
    friend bool operator==(const GroupMetadataKey&, const GroupMetadataKey&) = default;

    static constexpr auto fields() {
        return std::tuple{field("group", &GroupMetadataKey::group, between(0, 0))};
    }
};

struct GroupMetadataValue {
    static constexpr std::string_view kName = "GroupMetadataValue";
    static constexpr Versions kVersions{0, 4};
    static constexpr std::int16_t kFlexibleSince = 4;
    struct MemberMetadata {
        std::string member_id;
        std::optional<std::string> group_instance_id;
        std::string client_id;
        std::string client_host;
        std::int32_t rebalance_timeout = -1;
        std::int32_t session_timeout = 0;
        Bytes subscription;
        Bytes assignment;
        friend bool operator==(const MemberMetadata&, const MemberMetadata&) = default;

        static constexpr auto fields() {
            return std::tuple{
                field("memberId", &MemberMetadata::member_id, since(0)),
                field("groupInstanceId", &MemberMetadata::group_instance_id, since(3)).nullable(since(3)),
                field("clientId", &MemberMetadata::client_id, since(0)),
                field("clientHost", &MemberMetadata::client_host, since(0)),
                field("rebalanceTimeout", &MemberMetadata::rebalance_timeout, since(1)),
                field("sessionTimeout", &MemberMetadata::session_timeout, since(0)),
                field("subscription", &MemberMetadata::subscription, since(0)),
                field("assignment", &MemberMetadata::assignment, since(0))};
        }
    };
    std::string protocol_type;
    std::int32_t generation = 0;
    std::optional<std::string> protocol = "";
    std::optional<std::string> leader = "";
    std::int64_t current_state_timestamp = -1;
    std::vector<MemberMetadata> members;
    friend bool operator==(const GroupMetadataValue&, const GroupMetadataValue&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("protocolType", &GroupMetadataValue::protocol_type, since(0)),
            field("generation", &GroupMetadataValue::generation, since(0)),
            field("protocol", &GroupMetadataValue::protocol, since(0)).nullable(since(0)),
            field("leader", &GroupMetadataValue::leader, since(0)).nullable(since(0)),
            field("currentStateTimestamp", &GroupMetadataValue::current_state_timestamp, since(2)),
            field("members", &GroupMetadataValue::members, since(0))};
    }
};
HW_WIRE_MESSAGE(OffsetCommitKey)
HW_WIRE_MESSAGE(OffsetCommitValue)
HW_WIRE_MESSAGE(GroupMetadataKey)
HW_WIRE_MESSAGE(GroupMetadataValue)

}  // namespace highwater::wire
