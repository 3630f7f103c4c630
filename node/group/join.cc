// JoinGroup: who may enter, under which id, and whether the others must be asked again.
#include <fmt/format.h>

#include "node/group/state.h"

namespace highwater::node {
namespace {

using wire::ErrorCode;

/// Since then a new member gets its id first and joins with it: one that never hears the answer would
/// otherwise stay in the group as a ghost.
constexpr std::int16_t kKnownIdSince = 4;
/// Since then the leader may be told to leave the assignment as it is.
constexpr std::int16_t kSkipAssignmentSince = 9;
/// A member that has joined for the first time sends no heartbeats before its answer.
constexpr Duration kNewMemberTimeout = seconds(300);

GroupProtocols protocols_of(const wire::JoinGroupRequest& request) {
    GroupProtocols protocols;
    for (const auto& one : request.protocols) protocols.emplace_back(one.name, one.metadata);
    return protocols;
}

void fill_member(GroupMember& member, const GroupClient& client, const wire::JoinGroupRequest& request) {
    member.instance_id = request.group_instance_id;
    member.client_id = client.id;
    member.client_host = client.host;
    member.session_timeout = milliseconds(request.session_timeout_ms);
    // Version 0 has no timeout of its own for this.
    member.rebalance_timeout = request.rebalance_timeout_ms >= 0 ? milliseconds(request.rebalance_timeout_ms)
                                                                 : member.session_timeout;
    member.protocols = protocols_of(request);
}

wire::JoinGroupResponse current_generation(const Group& group, const GroupMember& member) {
    wire::JoinGroupResponse response;
    response.generation_id = group.generation;
    response.protocol_type = group.protocol_type;
    response.protocol_name = group.protocol;
    response.leader = group.leader.value_or("");
    response.member_id = member.id;
    return response;
}

void list_members(const Group& group, wire::JoinGroupResponse& response) {
    for (const auto& [id, one] : group.members) {
        auto& listed = response.members.emplace_back();
        listed.member_id = id;
        listed.group_instance_id = one.instance_id;
        if (const Bytes* metadata = one.metadata(group.protocol.value_or(""))) listed.metadata = *metadata;
    }
}

}  // namespace

std::string GroupCoordinator::State::new_member_id(const std::string& prefix) {
    const Uuid id = rng.uuid();
    std::string text = prefix + "-";
    for (std::size_t i = 0; i < id.bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", id.bytes[i]);
    }
    return text;
}

void GroupCoordinator::State::answer_join(GroupCall call, const std::string& member_id, ErrorCode error) {
    wire::JoinGroupResponse response;
    response.error_code = error;
    response.protocol_name = std::nullopt;
    response.member_id = member_id;
    respond(call, std::move(response));
}

void GroupCoordinator::State::answer_join(const Group& group, GroupMember& member) {
    wire::JoinGroupResponse response = current_generation(group, member);
    if (group.leads(member.id)) list_members(group, response);
    respond(*std::exchange(member.joining, std::nullopt), std::move(response));
}

void GroupCoordinator::join(Instant now, std::int64_t wall_ms, GroupCall call, std::int16_t version,
                            const GroupClient& client, const wire::JoinGroupRequest& request) {
    State& state = *state_;
    state.wall_ms = wall_ms;
    const auto refuse = [&](ErrorCode error) { state.answer_join(call, request.member_id, error); };
    const Duration session = milliseconds(request.session_timeout_ms);
    if (request.group_id.empty()) return refuse(ErrorCode::InvalidGroupId);
    if (session < state.settings.min_session_timeout || session > state.settings.max_session_timeout)
        return refuse(ErrorCode::InvalidSessionTimeout);
    Group* known = state.group(request.group_id);
    if (known == nullptr && !request.member_id.empty()) return refuse(ErrorCode::UnknownMemberId);
    Group fresh;
    if (!(known == nullptr ? fresh : *known).supports(request.protocol_type, protocols_of(request)))
        return refuse(ErrorCode::InconsistentGroupProtocol);
    Group& group = state.group_for(request.group_id);
    if (request.member_id.empty())
        state.join_new(now, call, version, client, request, group);
    else
        state.join_known(now, call, client, request, group);
}

void GroupCoordinator::State::join_new(Instant now, GroupCall call, std::int16_t version,
                                       const GroupClient& client, const wire::JoinGroupRequest& request,
                                       Group& group) {
    if (request.group_instance_id) {
        if (group.static_members.contains(*request.group_instance_id))
            return replace_static(now, call, version, client, request, group);
        return add_member(now, call, client, request, group, new_member_id(*request.group_instance_id));
    }
    const std::string member_id = new_member_id(client.id);
    if (version < kKnownIdSince) return add_member(now, call, client, request, group, member_id);
    group.pending_members[member_id] = now + milliseconds(request.session_timeout_ms);
    answer_join(call, member_id, ErrorCode::MemberIdRequired);
}

void GroupCoordinator::State::join_known(Instant now, GroupCall call, const GroupClient& client,
                                         const wire::JoinGroupRequest& request, Group& group) {
    const std::string& member_id = request.member_id;
    if (group.pending_members.contains(member_id)) {
        if (request.group_instance_id) return answer_join(call, member_id, ErrorCode::UnknownMemberId);
        return add_member(now, call, client, request, group, member_id);
    }
    const ErrorCode error = check_member(group, member_id, request.group_instance_id);
    if (error != ErrorCode::None) return answer_join(call, member_id, error);
    GroupMember& member = group.members.at(member_id);
    const bool same = member.protocols == protocols_of(request);
    switch (group.phase) {
        case GroupPhase::Empty:
            return answer_join(call, member_id, ErrorCode::UnknownMemberId);
        case GroupPhase::PreparingRebalance:
            return rejoin(now, call, client, request, group, member);
        case GroupPhase::CompletingRebalance:
            // It never got the answer, so it asks again: the generation stands.
            if (!same) return rejoin(now, call, client, request, group, member);
            break;
        case GroupPhase::Stable:
            // The leader asks when what is to be assigned has changed.
            if (!same || group.leads(member_id)) return rejoin(now, call, client, request, group, member);
            break;
    }
    member.joining = call;
    answer_join(group, member);
    heard_of(member, now);
}

void GroupCoordinator::State::add_member(Instant now, GroupCall call, const GroupClient& client,
                                         const wire::JoinGroupRequest& request, Group& group,
                                         const std::string& member_id) {
    group.pending_members.erase(member_id);
    if (group.members.empty()) group.protocol_type = request.protocol_type;
    GroupMember& member = group.members[member_id];
    member.id = member_id;
    fill_member(member, client, request);
    member.joining = call;
    member.deadline = now + kNewMemberTimeout;
    if (member.instance_id) group.static_members[*member.instance_id] = member_id;
    if (!group.leader) group.leader = member_id;
    if (group.initial && group.generation == 0) group.new_member_added = true;
    maybe_prepare_rebalance(now, group);
}

void GroupCoordinator::State::rejoin(Instant now, GroupCall call, const GroupClient& client,
                                     const wire::JoinGroupRequest& request, Group& group,
                                     GroupMember& member) {
    // Its former request was given up: nobody reads the answer.
    if (member.joining) answer_join(*member.joining, member.id, ErrorCode::UnknownMemberId);
    fill_member(member, client, request);
    member.joining = call;
    member.deadline = Instant::never();
    maybe_prepare_rebalance(now, group);
}

void GroupCoordinator::State::replace_static(Instant now, GroupCall call, std::int16_t version,
                                             const GroupClient& client, const wire::JoinGroupRequest& request,
                                             Group& group) {
    const std::string old_id = group.static_members.at(*request.group_instance_id);
    const std::string new_id = new_member_id(*request.group_instance_id);
    auto node = group.members.extract(old_id);
    node.key() = new_id;
    GroupMember& member = group.members.insert(std::move(node)).position->second;
    member.id = new_id;
    if (member.joining)
        answer_join(*std::exchange(member.joining, call), old_id, ErrorCode::FencedInstanceId);
    if (member.syncing)
        answer_sync(*std::exchange(member.syncing, std::nullopt), ErrorCode::FencedInstanceId);
    const bool led = group.leads(old_id);
    if (led) group.leader = new_id;
    if (group.not_synced.erase(old_id) > 0) group.not_synced.insert(new_id);
    group.static_members[*request.group_instance_id] = new_id;
    fill_member(member, client, request);
    member.joining = call;
    if (group.phase != GroupPhase::Stable || group.select_protocol() != group.protocol) {
        member.deadline = now + kNewMemberTimeout;
        return maybe_prepare_rebalance(now, group);
    }
    // The same member under another id, with what it had: the others need not hear of it.
    wire::JoinGroupResponse response = current_generation(group, member);
    if (led && version >= kSkipAssignmentSince) {
        response.skip_assignment = true;
        list_members(group, response);
    } else if (led) {
        // It must not take itself for the leader, which would have to assign.
        response.leader = old_id;
    }
    member.joining.reset();
    heard_of(member, now);
    std::map<std::string, Bytes> assignments;
    for (const auto& [id, one] : group.members) assignments[id] = one.assignment;
    std::vector<wire::Record> records = {group_record(wall_ms, group, assignments)};
    write(now, std::move(records),
          [this, call, new_id, response = std::move(response)](Instant, ErrorCode error) {
              if (error == ErrorCode::None) return respond(call, response);
              answer_join(call, new_id, write_error(error));
          },
          {});
}

}  // namespace highwater::node
