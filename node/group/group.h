// One classic consumer group: its members, its generation, what it has committed; and what follows from these
// alone. Names follow Kafka's ClassicGroup. Rules are in join.cc, rebalance.cc, membership.cc, offsets.cc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/partition.h"
#include "base/time.h"

namespace highwater::node {

/// A request whose answer waits for others; numbered by the caller.
using GroupCall = std::uint64_t;

/// Name of an assignor and what it is told of a member, in the order of the member's preference.
using GroupProtocols = std::vector<std::pair<std::string, Bytes>>;

struct GroupMember {
    std::string id;
    /// group.instance.id of a static member.
    std::optional<std::string> instance_id;
    std::string client_id;
    std::string client_host;
    Duration rebalance_timeout{0};
    Duration session_timeout{0};
    GroupProtocols protocols;
    Bytes assignment;
    /// Its JoinGroup or SyncGroup that has no answer yet.
    std::optional<GroupCall> joining;
    std::optional<GroupCall> syncing;
    /// It is given up at this moment unless it is heard of. never(): it waits for others.
    Instant deadline = Instant::never();

    [[nodiscard]] const Bytes* metadata(const std::string& protocol) const;
};

enum class GroupPhase : std::uint8_t { Empty, PreparingRebalance, CompletingRebalance, Stable };
/// As DescribeGroups spells it.
std::string_view phase_name(GroupPhase phase);

struct CommittedOffset {
    Offset offset = kUnknownOffset;
    LeaderEpoch leader_epoch = kNoEpoch;
    std::string metadata;
    friend bool operator==(const CommittedOffset&, const CommittedOffset&) = default;
};

struct Group {
    std::string id;
    GroupPhase phase = GroupPhase::Empty;
    std::int32_t generation = 0;
    std::optional<std::string> protocol_type;
    /// The assignor of this generation.
    std::optional<std::string> protocol;
    std::optional<std::string> leader;
    std::map<std::string, GroupMember> members;
    /// group.instance.id -> member id.
    std::map<std::string, std::string> static_members;
    /// Ids that were given out and have not joined yet, each until when.
    std::map<std::string, Instant> pending_members;

    // PreparingRebalance
    Instant join_ends = Instant::never();
    /// The first generation after Empty waits for more members, whoever is there already.
    bool initial = false;
    Duration initial_left{0};
    bool new_member_added = false;
    // CompletingRebalance, and Stable until all have asked
    Instant sync_ends = Instant::never();
    std::set<std::string> not_synced;

    std::map<TopicPartition, CommittedOffset> offsets;

    /// Members may only enter with a protocol that all others know, too.
    [[nodiscard]] bool supports(const std::string& type, const GroupProtocols& protocols) const;
    /// The protocol that most members prefer of those that all know. Requires members.
    [[nodiscard]] std::string select_protocol() const;
    [[nodiscard]] Duration longest_rebalance_timeout() const;
    [[nodiscard]] bool all_joined() const;
    [[nodiscard]] GroupMember* member(const std::string& member_id);
    [[nodiscard]] bool leads(const std::string& member_id) const { return leader == member_id; }
};

}  // namespace highwater::node
