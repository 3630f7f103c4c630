// SyncGroup, Heartbeat, LeaveGroup: what members of a generation say.
#include "node/group/state.h"

namespace highwater::node {

using wire::ErrorCode;

ErrorCode GroupCoordinator::State::check_member(Group& group, const std::string& member_id,
                                                const std::optional<std::string>& instance_id) {
    if (instance_id) {
        const auto named = group.static_members.find(*instance_id);
        if (named == group.static_members.end()) return ErrorCode::UnknownMemberId;
        if (named->second != member_id) return ErrorCode::FencedInstanceId;
    }
    return group.members.contains(member_id) ? ErrorCode::None : ErrorCode::UnknownMemberId;
}

void GroupCoordinator::State::answer_sync(GroupCall call, ErrorCode error) {
    wire::SyncGroupResponse response;
    response.error_code = error;
    respond(call, std::move(response));
}

void GroupCoordinator::State::answer_sync(const Group& group, GroupMember& member, Instant now) {
    wire::SyncGroupResponse response;
    response.protocol_type = group.protocol_type;
    response.protocol_name = group.protocol;
    response.assignment = member.assignment;
    respond(*std::exchange(member.syncing, std::nullopt), std::move(response));
    heard_of(member, now);
}

void GroupCoordinator::State::fail_syncs(Instant now, Group& group, ErrorCode error) {
    for (auto& [id, member] : group.members) {
        member.assignment.clear();
        if (!member.syncing) continue;
        answer_sync(*std::exchange(member.syncing, std::nullopt), error);
        heard_of(member, now);
    }
}

void GroupCoordinator::sync(Instant now, std::int64_t wall_ms, GroupCall call,
                            const wire::SyncGroupRequest& request) {
    State& state = *state_;
    state.wall_ms = wall_ms;
    const auto refuse = [&](ErrorCode error) { state.answer_sync(call, error); };
    Group* group = state.group(request.group_id);
    if (group == nullptr) return refuse(ErrorCode::UnknownMemberId);
    const ErrorCode error = state.check_member(*group, request.member_id, request.group_instance_id);
    if (error != ErrorCode::None) return refuse(error);
    if (request.generation_id != group->generation) return refuse(ErrorCode::IllegalGeneration);
    if ((request.protocol_type && request.protocol_type != group->protocol_type) ||
        (request.protocol_name && request.protocol_name != group->protocol))
        return refuse(ErrorCode::InconsistentGroupProtocol);
    GroupMember& member = group->members.at(request.member_id);
    if (group->phase != GroupPhase::PreparingRebalance) group->not_synced.erase(member.id);
    switch (group->phase) {
        case GroupPhase::Empty:
            return refuse(ErrorCode::UnknownMemberId);
        case GroupPhase::PreparingRebalance:
            return refuse(ErrorCode::RebalanceInProgress);
        case GroupPhase::CompletingRebalance:
            if (member.syncing) state.answer_sync(*member.syncing, ErrorCode::UnknownMemberId);
            member.syncing = call;
            member.deadline = Instant::never();
            if (group->leads(member.id)) state.write_assignment(now, request, *group);
            return;
        case GroupPhase::Stable:
            member.syncing = call;
            return state.answer_sync(*group, member, now);
    }
}

void GroupCoordinator::State::write_assignment(Instant now, const wire::SyncGroupRequest& request,
                                               Group& group) {
    std::map<std::string, Bytes> assignments;
    for (const auto& one : request.assignments) assignments[one.member_id] = one.assignment;
    std::vector<wire::Record> records = {group_record(wall_ms, group, assignments)};
    write(now, std::move(records),
          [this, id = group.id, generation = group.generation, assignments = std::move(assignments)](
              Instant at, ErrorCode error) {
              Group* written = this->group(id);
              // Another rebalance may have begun meanwhile: it has answered everybody.
              if (written == nullptr || written->phase != GroupPhase::CompletingRebalance ||
                  written->generation != generation)
                  return;
              if (error != ErrorCode::None) {
                  fail_syncs(at, *written, write_error(error));
                  return prepare_rebalance(at, *written);
              }
              written->phase = GroupPhase::Stable;
              for (auto& [member_id, member] : written->members) {
                  const auto found = assignments.find(member_id);
                  member.assignment = found == assignments.end() ? Bytes{} : found->second;
                  if (member.syncing) answer_sync(*written, member, at);
              }
          },
          {});
}

wire::HeartbeatResponse GroupCoordinator::heartbeat(Instant now, const wire::HeartbeatRequest& request) {
    State& state = *state_;
    wire::HeartbeatResponse response;
    Group* group = state.group(request.group_id);
    response.error_code = group == nullptr || group->phase == GroupPhase::Empty
                              ? ErrorCode::UnknownMemberId
                              : state.check_member(*group, request.member_id, request.group_instance_id);
    if (response.error_code != ErrorCode::None) return response;
    if (request.generation_id != group->generation) {
        response.error_code = ErrorCode::IllegalGeneration;
        return response;
    }
    GroupMember& member = group->members.at(request.member_id);
    if (!member.joining && !member.syncing) State::heard_of(member, now);
    if (group->phase == GroupPhase::PreparingRebalance) response.error_code = ErrorCode::RebalanceInProgress;
    return response;
}

wire::LeaveGroupResponse GroupCoordinator::leave(Instant now, const wire::LeaveGroupRequest& request) {
    State& state = *state_;
    wire::LeaveGroupResponse response;
    Group* group = state.group(request.group_id);
    auto members = request.members;
    // Before version 3 there is one, at the top.
    if (members.empty() && !request.member_id.empty()) members.emplace_back().member_id = request.member_id;
    for (const auto& asked : members) {
        auto& answer = response.members.emplace_back();
        answer.member_id = asked.member_id;
        answer.group_instance_id = asked.group_instance_id;
        if (group == nullptr) {
            answer.error_code = ErrorCode::UnknownMemberId;
            continue;
        }
        if (!asked.group_instance_id && group->pending_members.erase(asked.member_id) > 0) {
            state.maybe_complete_join(now, *group);
            continue;
        }
        std::string member_id = asked.member_id;
        if (asked.group_instance_id && member_id.empty()) {
            // A tool names only the instance.
            const auto named = group->static_members.find(*asked.group_instance_id);
            if (named != group->static_members.end()) member_id = named->second;
        }
        answer.error_code = state.check_member(*group, member_id, asked.group_instance_id);
        if (answer.error_code == ErrorCode::None) state.remove_member(now, *group, member_id);
    }
    return response;
}

}  // namespace highwater::node
