// DescribeGroups, ListGroups, DeleteGroups.
#include <fmt/format.h>

#include <algorithm>

#include "node/group/state.h"

namespace highwater::node {
namespace {

using wire::ErrorCode;

/// Before, a group that is not there is Dead and no error.
constexpr std::int16_t kNotFoundSince = 6;
/// The type of all groups here, as ListGroups says it.
constexpr const char* kClassic = "classic";

bool same_word(std::string_view a, std::string_view b) {
    const auto lower = [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return lower(x) == lower(y); });
}

bool passes(const std::vector<std::string>& filter, std::string_view word) {
    return filter.empty() || std::any_of(filter.begin(), filter.end(),
                                         [&](const std::string& one) { return same_word(one, word); });
}

}  // namespace

wire::DescribeGroupsResponse::DescribedGroup GroupCoordinator::describe(const std::string& id,
                                                                        std::int16_t version) const {
    wire::DescribeGroupsResponse::DescribedGroup described;
    described.group_id = id;
    described.error_message = std::nullopt;
    const Group* group = state_->group(id);
    if (group == nullptr) {
        described.group_state = "Dead";
        if (version < kNotFoundSince) return described;
        described.error_code = ErrorCode::GroupIdNotFound;
        described.error_message = fmt::format("Group {} not found.", id);
        return described;
    }
    described.group_state = phase_name(group->phase);
    described.protocol_type = group->protocol_type.value_or("");
    const bool stable = group->phase == GroupPhase::Stable;
    if (stable) described.protocol_data = group->protocol.value_or("");
    for (const auto& [member_id, member] : group->members) {
        auto& shown = described.members.emplace_back();
        shown.member_id = member_id;
        shown.group_instance_id = member.instance_id;
        shown.client_id = member.client_id;
        shown.client_host = member.client_host;
        if (!stable) continue;
        if (const Bytes* metadata = member.metadata(described.protocol_data))
            shown.member_metadata = *metadata;
        shown.member_assignment = member.assignment;
    }
    return described;
}

void GroupCoordinator::list(const wire::ListGroupsRequest& request,
                            wire::ListGroupsResponse& response) const {
    if (!passes(request.types_filter, kClassic)) return;
    for (const auto& [id, group] : state_->groups) {
        if (!passes(request.states_filter, phase_name(group.phase))) continue;
        auto& listed = response.groups.emplace_back();
        listed.group_id = id;
        listed.protocol_type = group.protocol_type.value_or("");
        listed.group_state = phase_name(group.phase);
        listed.group_type = kClassic;
    }
}

void GroupCoordinator::remove(Instant now, std::int64_t wall_ms, GroupCall call, const std::string& id) {
    State& state = *state_;
    const Group* group = state.group(id);
    if (group == nullptr) return state.respond(call, ErrorCode::GroupIdNotFound);
    if (group->phase != GroupPhase::Empty) return state.respond(call, ErrorCode::NonEmptyGroup);
    std::vector<wire::Record> records;
    for (const auto& [partition, offset] : group->offsets)
        records.push_back(offset_tombstone(wall_ms, id, partition));
    records.push_back(group_tombstone(wall_ms, id));
    state.write(
        now, std::move(records),
        [&state, call](Instant, ErrorCode written) { state.respond(call, write_error(written)); },
        [&state, id] {
            Group* gone = state.group(id);
            if (gone == nullptr) return;
            gone->offsets.clear();
            // Who has joined meanwhile stays.
            if (gone->phase == GroupPhase::Empty && gone->pending_members.empty()) state.groups.erase(id);
        });
}

}  // namespace highwater::node
