#include "node/group/coordinator.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/overloaded.h"
#include "node/group/state.h"

namespace highwater::node {

using wire::ErrorCode;

ErrorCode write_error(ErrorCode error) {
    if (error == ErrorCode::NotLeaderOrFollower || error == ErrorCode::KafkaStorageError)
        return ErrorCode::NotCoordinator;
    const bool later = error == ErrorCode::NotEnoughReplicas ||
                       error == ErrorCode::NotEnoughReplicasAfterAppend ||
                       error == ErrorCode::RequestTimedOut || error == ErrorCode::UnknownTopicOrPartition;
    return later ? ErrorCode::CoordinatorNotAvailable : error;
}

GroupCoordinator::GroupCoordinator(GroupSettings settings, Rng rng)
    : state_(std::make_unique<State>(settings, rng)) {}
GroupCoordinator::~GroupCoordinator() = default;

Group* GroupCoordinator::State::group(const std::string& id) {
    const auto found = groups.find(id);
    return found == groups.end() ? nullptr : &found->second;
}

Group& GroupCoordinator::State::group_for(const std::string& id) {
    Group& group = groups[id];
    group.id = id;
    return group;
}

// -- loading ------------------------------------------------------------------------------------------------

namespace {

void replay_members(Group& group, const wire::GroupMetadataValue& value) {
    group.members.clear();
    group.static_members.clear();
    for (const auto& read : value.members) {
        GroupMember& member = group.members[read.member_id];
        member.id = read.member_id;
        member.instance_id = read.group_instance_id;
        member.client_id = read.client_id;
        member.client_host = read.client_host;
        member.session_timeout = milliseconds(read.session_timeout);
        // Version 0 of the record has no timeout of its own for this.
        member.rebalance_timeout =
            read.rebalance_timeout >= 0 ? milliseconds(read.rebalance_timeout) : member.session_timeout;
        member.protocols = {{value.protocol.value_or(""), read.subscription}};
        member.assignment = read.assignment;
        if (member.instance_id) group.static_members[*member.instance_id] = member.id;
    }
}

}  // namespace

Status GroupCoordinator::replay(const wire::Record& record) {
    auto entry = read_group_record(record);
    if (!entry) return tl::make_unexpected(entry.error());
    State& state = *state_;
    std::visit(overloaded{
                   [&](const OffsetEntry& read) {
                       Group& group = state.group_for(read.key.group);
                       const TopicPartition partition{read.key.topic, read.key.partition};
                       if (!read.value) {
                           group.offsets.erase(partition);
                           return;
                       }
                       group.offsets[partition] = {read.value->offset, read.value->leader_epoch,
                                                   read.value->metadata};
                   },
                   [&](const GroupEntry& read) {
                       if (!read.value) {
                           state.groups.erase(read.key.group);
                           return;
                       }
                       Group& group = state.group_for(read.key.group);
                       group.generation = read.value->generation;
                       group.protocol_type = read.value->protocol_type;
                       group.protocol = read.value->protocol;
                       group.leader = read.value->leader;
                       replay_members(group, *read.value);
                       group.phase = group.members.empty() ? GroupPhase::Empty : GroupPhase::Stable;
                   },
                   [](const OtherEntry&) {},
               },
               *entry);
    return {};
}

void GroupCoordinator::loaded(Instant now) {
    for (auto& [id, group] : state_->groups) {
        for (auto& [member_id, member] : group.members) State::heard_of(member, now);
    }
}

// -- writes -------------------------------------------------------------------------------------------------

void GroupCoordinator::State::write(Instant now, std::vector<wire::Record> records,
                                    std::function<void(Instant, ErrorCode)> answer,
                                    std::function<void()> apply) {
    const std::uint64_t id = next_write++;
    pending_writes[id] = {now + settings.commit_timeout, std::move(answer), std::move(apply)};
    writes.push_back({id, std::move(records)});
}

void GroupCoordinator::written(Instant now, std::uint64_t id, ErrorCode error) {
    auto found = state_->pending_writes.extract(id);
    if (found.empty()) return;
    State::PendingWrite& write = found.mapped();
    // After the append too few replicas were in sync, but all of those have it.
    const bool committed = error == ErrorCode::None || error == ErrorCode::NotEnoughReplicasAfterAppend;
    if (committed && write.apply) write.apply();
    if (write.answer) write.answer(now, error);
}

// -- time and outputs ---------------------------------------------------------------------------------------

void GroupCoordinator::tick(Instant now, std::int64_t wall_ms) {
    State& state = *state_;
    for (auto& [id, group] : state.groups) state.tick_group(now, group);
    for (auto& [id, write] : state.pending_writes) {
        if (write.expires > now || !write.answer) continue;
        write.expires = Instant::never();
        std::exchange(write.answer, {})(now, ErrorCode::RequestTimedOut);
    }
    for (const std::string& id : std::exchange(state.became_empty, {})) {
        const Group* group = state.group(id);
        if (group == nullptr || group->phase != GroupPhase::Empty) continue;
        std::vector<wire::Record> records = {group_record(wall_ms, *group, {})};
        // Nobody waits for it; without it the members are taken for alive after a failover, and expire.
        state.write(now, std::move(records), {}, {});
    }
    // Somebody asked for an id and never came back.
    std::erase_if(state.groups, [](const auto& one) {
        const Group& group = one.second;
        return group.phase == GroupPhase::Empty && group.generation == 0 && group.offsets.empty() &&
               group.pending_members.empty();
    });
}

Instant GroupCoordinator::deadline() const {
    Instant next = Instant::never();
    for (const auto& [id, group] : state_->groups) {
        next = std::min({next, group.join_ends, group.sync_ends});
        for (const auto& [member_id, until] : group.pending_members) next = std::min(next, until);
        for (const auto& [member_id, member] : group.members) next = std::min(next, member.deadline);
    }
    for (const auto& [id, write] : state_->pending_writes) {
        if (write.answer) next = std::min(next, write.expires);
    }
    return next;
}

void GroupCoordinator::resign() {
    State& state = *state_;
    for (auto& [id, write] : std::exchange(state.pending_writes, {})) {
        if (write.answer) write.answer({}, ErrorCode::NotLeaderOrFollower);
    }
    for (auto& [id, group] : state.groups) {
        for (auto& [member_id, member] : group.members) {
            if (member.joining) state.answer_join(*member.joining, member_id, ErrorCode::NotCoordinator);
            if (member.syncing) state.answer_sync(*member.syncing, ErrorCode::NotCoordinator);
        }
    }
    state.groups.clear();
    state.writes.clear();
}

std::vector<GroupAnswer> GroupCoordinator::take_answers() { return std::exchange(state_->answers, {}); }
std::vector<GroupWrite> GroupCoordinator::take_writes() { return std::exchange(state_->writes, {}); }

}  // namespace highwater::node
