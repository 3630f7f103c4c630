// OffsetCommit, and what OffsetFetch reads: offsets count once they are committed to the log.
#include "node/group/state.h"

namespace highwater::node {

using wire::ErrorCode;

ErrorCode GroupCoordinator::State::check_commit(Instant now, const OffsetCommit& request, Group* group) {
    const bool of_nobody = request.generation < 0 && request.member.empty() && !request.instance;
    if (group == nullptr) return request.generation < 0 ? ErrorCode::None : ErrorCode::IllegalGeneration;
    if (request.generation < 0 && group->phase == GroupPhase::Empty) return ErrorCode::None;
    if (of_nobody) return ErrorCode::UnknownMemberId;
    const ErrorCode error = check_member(*group, request.member, request.instance);
    if (error != ErrorCode::None) return error;
    if (request.generation != group->generation) return ErrorCode::IllegalGeneration;
    if (group->phase == GroupPhase::CompletingRebalance) return ErrorCode::RebalanceInProgress;
    GroupMember& member = group->members.at(request.member);
    if (!member.joining && !member.syncing) heard_of(member, now);
    return ErrorCode::None;
}

void GroupCoordinator::commit(Instant now, std::int64_t wall_ms, GroupCall call,
                              const OffsetCommit& request) {
    State& state = *state_;
    CommitErrors errors(request.entries.size(), ErrorCode::None);
    const ErrorCode error = state.check_commit(now, request, state.group(request.group));
    std::vector<wire::Record> records;
    std::vector<OffsetCommit::Entry> taken;
    for (std::size_t i = 0; i < errors.size(); ++i) {
        const OffsetCommit::Entry& entry = request.entries[i];
        errors[i] = error;
        if (error == ErrorCode::None && entry.offset.metadata.size() > state.settings.max_metadata_bytes)
            errors[i] = ErrorCode::OffsetMetadataTooLarge;
        if (errors[i] != ErrorCode::None) continue;
        records.push_back(offset_record(wall_ms, request.group, entry.partition, entry.offset));
        taken.push_back(entry);
    }
    if (records.empty()) return state.respond(call, std::move(errors));
    state.group_for(request.group);
    state.write(
        now, std::move(records),
        [&state, call, errors = std::move(errors)](Instant, ErrorCode written) mutable {
            for (ErrorCode& one : errors) {
                if (one == ErrorCode::None) one = write_error(written);
            }
            state.respond(call, std::move(errors));
        },
        [&state, id = request.group, taken = std::move(taken)] {
            Group& group = state.group_for(id);
            for (const OffsetCommit::Entry& entry : taken) group.offsets[entry.partition] = entry.offset;
        });
}

const std::map<TopicPartition, CommittedOffset>* GroupCoordinator::offsets(const std::string& group) const {
    const Group* known = state_->group(group);
    return known == nullptr ? nullptr : &known->offsets;
}

}  // namespace highwater::node
