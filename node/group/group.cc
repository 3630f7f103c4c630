#include "node/group/group.h"

#include <algorithm>

#include "base/assert.h"

namespace highwater::node {

const Bytes* GroupMember::metadata(const std::string& protocol) const {
    const auto found = std::find_if(protocols.begin(), protocols.end(),
                                    [&](const auto& one) { return one.first == protocol; });
    return found == protocols.end() ? nullptr : &found->second;
}

std::string_view phase_name(GroupPhase phase) {
    switch (phase) {
        case GroupPhase::Empty:
            return "Empty";
        case GroupPhase::PreparingRebalance:
            return "PreparingRebalance";
        case GroupPhase::CompletingRebalance:
            return "CompletingRebalance";
        case GroupPhase::Stable:
            return "Stable";
    }
    return "Unknown";
}

namespace {

bool all_know(const std::map<std::string, GroupMember>& members, const std::string& protocol) {
    return std::all_of(members.begin(), members.end(),
                       [&](const auto& one) { return one.second.metadata(protocol) != nullptr; });
}

}  // namespace

bool Group::supports(const std::string& type, const GroupProtocols& protocols) const {
    if (phase == GroupPhase::Empty) return !type.empty() && !protocols.empty();
    return protocol_type == type && std::any_of(protocols.begin(), protocols.end(), [&](const auto& one) {
               return all_know(members, one.first);
           });
}

std::string Group::select_protocol() const {
    HW_ASSERT(!members.empty());
    std::map<std::string, int> votes;
    for (const auto& [name, one] : members) {
        const auto choice = std::find_if(one.protocols.begin(), one.protocols.end(),
                                         [&](const auto& known) { return all_know(members, known.first); });
        HW_ASSERT(choice != one.protocols.end(), "group {}: {} shares no protocol", id, one.id);
        ++votes[choice->first];
    }
    return std::max_element(votes.begin(), votes.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

Duration Group::longest_rebalance_timeout() const {
    Duration longest{0};
    for (const auto& [name, one] : members) longest = std::max(longest, one.rebalance_timeout);
    return longest;
}

bool Group::all_joined() const {
    return pending_members.empty() && std::all_of(members.begin(), members.end(), [](const auto& one) {
               return one.second.joining.has_value();
           });
}

GroupMember* Group::member(const std::string& member_id) {
    const auto found = members.find(member_id);
    return found == members.end() ? nullptr : &found->second;
}

}  // namespace highwater::node
