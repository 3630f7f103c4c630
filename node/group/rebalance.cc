// One generation gives way to the next: everybody joins again, or is left behind; then everybody learns what
// the leader assigned.
#include <algorithm>

#include "node/group/state.h"

namespace highwater::node {

using wire::ErrorCode;

void GroupCoordinator::State::maybe_prepare_rebalance(Instant now, Group& group) {
    if (group.phase == GroupPhase::PreparingRebalance)
        maybe_complete_join(now, group);
    else
        prepare_rebalance(now, group);
}

void GroupCoordinator::State::prepare_rebalance(Instant now, Group& group) {
    if (group.phase == GroupPhase::CompletingRebalance)
        fail_syncs(now, group, ErrorCode::RebalanceInProgress);
    group.sync_ends = Instant::never();
    group.not_synced.clear();
    group.initial = group.phase == GroupPhase::Empty;
    group.phase = GroupPhase::PreparingRebalance;
    const Duration patience = group.longest_rebalance_timeout();
    if (!group.initial) {
        group.join_ends = now + patience;
        return maybe_complete_join(now, group);
    }
    // Consumers are mostly started together: one rebalance for all of them instead of one for each.
    const Duration delay = settings.initial_rebalance_delay;
    group.new_member_added = false;
    group.initial_left = std::max(patience - delay, Duration{0});
    group.join_ends = now + delay;
}

void GroupCoordinator::State::initial_delay_over(Instant now, Group& group) {
    if (group.new_member_added && group.initial_left > Duration{0}) {
        group.new_member_added = false;
        const Duration delay = std::min(settings.initial_rebalance_delay, group.initial_left);
        group.initial_left -= delay;
        group.join_ends = now + delay;
        return;
    }
    group.initial = false;
    complete_join(now, group);
}

void GroupCoordinator::State::maybe_complete_join(Instant now, Group& group) {
    if (group.phase == GroupPhase::PreparingRebalance && !group.initial && group.all_joined())
        complete_join(now, group);
}

void GroupCoordinator::State::complete_join(Instant now, Group& group) {
    // Static members may be away for as long as their session lasts.
    std::vector<std::string> left_behind;
    for (const auto& [id, member] : group.members) {
        if (!member.joining && !member.instance_id) left_behind.push_back(id);
    }
    for (const std::string& id : left_behind) drop_member(group, id);
    const GroupMember* leader = group.leader ? group.member(*group.leader) : nullptr;
    if (!group.members.empty() && (leader == nullptr || !leader->joining)) {
        const auto joined = std::find_if(group.members.begin(), group.members.end(),
                                         [](const auto& one) { return one.second.joining.has_value(); });
        if (joined == group.members.end()) {
            // Static members only, and none has come: they have another turn.
            group.join_ends = now + group.longest_rebalance_timeout();
            return;
        }
        group.leader = joined->first;
    }
    group.join_ends = Instant::never();
    ++group.generation;
    if (group.members.empty()) {
        group.phase = GroupPhase::Empty;
        group.protocol.reset();
        group.leader.reset();
        became_empty.push_back(group.id);
        return;
    }
    group.protocol = group.select_protocol();
    group.phase = GroupPhase::CompletingRebalance;
    group.sync_ends = now + group.longest_rebalance_timeout();
    for (auto& [id, member] : group.members) {
        group.not_synced.insert(id);
        if (!member.joining) continue;
        answer_join(group, member);
        heard_of(member, now);
    }
}

void GroupCoordinator::State::sync_time_over(Instant now, Group& group) {
    // Also of a stable group: its leader was in time, others were not.
    group.sync_ends = Instant::never();
    if (group.not_synced.empty()) return;
    for (const std::string& id : std::exchange(group.not_synced, {})) drop_member(group, id);
    prepare_rebalance(now, group);
}

void GroupCoordinator::State::drop_member(Group& group, const std::string& member_id) {
    GroupMember* member = group.member(member_id);
    if (member == nullptr) return;
    if (member->joining) answer_join(*member->joining, "", ErrorCode::UnknownMemberId);
    if (member->syncing) answer_sync(*member->syncing, ErrorCode::UnknownMemberId);
    if (member->instance_id) {
        const auto named = group.static_members.find(*member->instance_id);
        if (named != group.static_members.end() && named->second == member_id)
            group.static_members.erase(named);
    }
    const bool led = group.leads(member_id);
    group.not_synced.erase(member_id);
    group.members.erase(member_id);
    if (!led) return;
    group.leader.reset();
    if (!group.members.empty()) group.leader = group.members.begin()->first;
}

void GroupCoordinator::State::remove_member(Instant now, Group& group, const std::string& member_id) {
    drop_member(group, member_id);
    if (group.phase != GroupPhase::Empty) maybe_prepare_rebalance(now, group);
}

void GroupCoordinator::State::tick_group(Instant now, Group& group) {
    const auto pending =
        std::erase_if(group.pending_members, [&](const auto& one) { return one.second <= now; });
    if (pending > 0) maybe_complete_join(now, group);
    std::vector<std::string> silent;
    for (const auto& [id, member] : group.members) {
        if (member.deadline <= now) silent.push_back(id);
    }
    for (const std::string& id : silent) {
        // Losing the one before may have begun a rebalance that gave this one time again.
        const GroupMember* member = group.member(id);
        if (member != nullptr && member->deadline <= now) remove_member(now, group, id);
    }
    if (group.phase == GroupPhase::PreparingRebalance && group.join_ends <= now) {
        if (group.initial)
            initial_delay_over(now, group);
        else
            complete_join(now, group);
    }
    if (group.sync_ends <= now) sync_time_over(now, group);
}

}  // namespace highwater::node
