// What the files of the coordinator share. Only node/group includes this.
#pragma once

#include <functional>

#include "node/group/coordinator.h"
#include "node/group/records.h"

namespace highwater::node {

struct GroupCoordinator::State {
    State(GroupSettings settings_, Rng rng_) : settings(settings_), rng(rng_) {}

    GroupSettings settings;
    Rng rng;
    std::map<std::string, Group> groups;
    std::vector<GroupAnswer> answers;
    std::vector<GroupWrite> writes;
    /// Time of day at the last call that may write.
    std::int64_t wall_ms = 0;
    /// Of groups that became empty, to be written at the next tick, which knows the time of day.
    std::vector<std::string> became_empty;

    struct PendingWrite {
        Instant expires;
        /// At the end or at the timeout, whichever comes first; then empty.
        std::function<void(Instant, wire::ErrorCode)> answer;
        /// Once the records are committed.
        std::function<void()> apply;
    };
    std::uint64_t next_write = 1;
    std::map<std::uint64_t, PendingWrite> pending_writes;
    void write(Instant now, std::vector<wire::Record> records,
               std::function<void(Instant, wire::ErrorCode)> answer, std::function<void()> apply);

    Group* group(const std::string& id);
    Group& group_for(const std::string& id);
    void respond(GroupCall call, GroupResponse response) { answers.push_back({call, std::move(response)}); }

    // -- join.cc
    void answer_join(GroupCall call, const std::string& member_id, wire::ErrorCode error);
    /// With the generation as it is now.
    void answer_join(const Group& group, GroupMember& member);
    void join_new(Instant now, GroupCall call, std::int16_t version, const GroupClient& client,
                  const wire::JoinGroupRequest& request, Group& group);
    void join_known(Instant now, GroupCall call, const GroupClient& client,
                    const wire::JoinGroupRequest& request, Group& group);
    void add_member(Instant now, GroupCall call, const GroupClient& client,
                    const wire::JoinGroupRequest& request, Group& group, const std::string& member_id);
    void rejoin(Instant now, GroupCall call, const GroupClient& client, const wire::JoinGroupRequest& request,
                Group& group, GroupMember& member);
    void replace_static(Instant now, GroupCall call, std::int16_t version, const GroupClient& client,
                        const wire::JoinGroupRequest& request, Group& group);
    std::string new_member_id(const std::string& prefix);

    // -- rebalance.cc
    /// As far as the group's phase allows one; else looks whether the one under way is complete.
    void maybe_prepare_rebalance(Instant now, Group& group);
    void prepare_rebalance(Instant now, Group& group);
    void maybe_complete_join(Instant now, Group& group);
    void complete_join(Instant now, Group& group);
    void initial_delay_over(Instant now, Group& group);
    void sync_time_over(Instant now, Group& group);
    /// Answers what it waits for with UNKNOWN_MEMBER_ID, and forgets it.
    void drop_member(Group& group, const std::string& member_id);
    /// drop_member(), and what that means to the others.
    void remove_member(Instant now, Group& group, const std::string& member_id);
    void tick_group(Instant now, Group& group);

    // -- membership.cc
    void answer_sync(GroupCall call, wire::ErrorCode error);
    void answer_sync(const Group& group, GroupMember& member, Instant now);
    void fail_syncs(Instant now, Group& group, wire::ErrorCode error);
    void write_assignment(Instant now, const wire::SyncGroupRequest& request, Group& group);
    /// NONE, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID.
    wire::ErrorCode check_member(Group& group, const std::string& member_id,
                                 const std::optional<std::string>& instance_id);
    static void heard_of(GroupMember& member, Instant now) { member.deadline = now + member.session_timeout; }

    // -- offsets.cc
    wire::ErrorCode check_commit(Instant now, const OffsetCommit& request, Group* group);
};

/// What a client is told when a write ends with `error`.
wire::ErrorCode write_error(wire::ErrorCode error);

}  // namespace highwater::node
