// The coordinator of the groups that belong to one partition of __consumer_offsets, sans-IO.
//   replay, loaded       what the log says, before anything else
//   join, sync, ...      requests; those that may wait for others carry a GroupCall
//   written              how a write ended
//   tick                 time passes: sessions, rebalances, writes that take too long
//   take_answers, take_writes   outputs
// What is written takes effect on offsets when it is committed; membership is held in memory and written once
// per generation, as in Kafka. Split by rule: join.cc, rebalance.cc, membership.cc, offsets.cc, describe.cc.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "node/group/group.h"
#include "wire/error_code.h"
#include "wire/messages/describe_groups.h"
#include "wire/messages/heartbeat.h"
#include "wire/messages/join_group.h"
#include "wire/messages/leave_group.h"
#include "wire/messages/list_groups.h"
#include "wire/messages/sync_group.h"
#include "wire/record_batch.h"

namespace highwater::node {

struct GroupSettings {
    Duration initial_rebalance_delay = milliseconds(3000);  // group.initial.rebalance.delay.ms
    Duration min_session_timeout = milliseconds(6000);      // group.min.session.timeout.ms
    Duration max_session_timeout = milliseconds(1800000);   // group.max.session.timeout.ms
    Duration commit_timeout = milliseconds(5000);           // offsets.commit.timeout.ms
    std::size_t max_metadata_bytes = 4096;                  // offset.metadata.max.bytes
};

struct GroupClient {
    std::string id;
    std::string host;
};

struct OffsetCommit {
    std::string group;
    /// -1: of nobody in particular, as tools commit.
    std::int32_t generation = -1;
    std::string member;
    std::optional<std::string> instance;
    struct Entry {
        TopicPartition partition;
        CommittedOffset offset;
    };
    std::vector<Entry> entries;
};

/// One for each entry of an OffsetCommit, in order.
using CommitErrors = std::vector<wire::ErrorCode>;
using GroupResponse =
    std::variant<wire::JoinGroupResponse, wire::SyncGroupResponse, CommitErrors, wire::ErrorCode>;
struct GroupAnswer {
    GroupCall call = 0;
    GroupResponse response;
};

/// Records for one batch; written() must follow with the same id.
struct GroupWrite {
    std::uint64_t id = 0;
    std::vector<wire::Record> records;
};

class GroupCoordinator {
public:
    GroupCoordinator(GroupSettings settings, Rng rng);
    ~GroupCoordinator();

    // -- loading --------------------------------------------------
    /// One record of the log, in order. Errors: a key or value that cannot be read; it is left out then.
    Status replay(const wire::Record& record);
    /// Everything was replayed: members have from now on time to show up.
    void loaded(Instant now);

    // -- membership --------------------------------------------------
    /// `version`: of the request. Before 4 a member need not come back with the id that it is given.
    void join(Instant now, std::int64_t wall_ms, GroupCall call, std::int16_t version,
              const GroupClient& client, const wire::JoinGroupRequest& request);
    void sync(Instant now, std::int64_t wall_ms, GroupCall call, const wire::SyncGroupRequest& request);
    wire::HeartbeatResponse heartbeat(Instant now, const wire::HeartbeatRequest& request);
    /// The answer of version 3 and later; its members carry the errors.
    wire::LeaveGroupResponse leave(Instant now, const wire::LeaveGroupRequest& request);

    // -- offsets --------------------------------------------------
    void commit(Instant now, std::int64_t wall_ms, GroupCall call, const OffsetCommit& request);
    /// nullptr: there is no such group.
    [[nodiscard]] const std::map<TopicPartition, CommittedOffset>* offsets(const std::string& group) const;

    // -- administration --------------------------------------------------
    [[nodiscard]] wire::DescribeGroupsResponse::DescribedGroup describe(const std::string& group,
                                                                        std::int16_t version) const;
    void list(const wire::ListGroupsRequest& request, wire::ListGroupsResponse& response) const;
    /// NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND.
    void remove(Instant now, std::int64_t wall_ms, GroupCall call, const std::string& group);

    // -- time and outputs --------------------------------------------------
    /// `error`: what the partition answered. Records that are committed although the answer is an error
    /// count.
    void written(Instant now, std::uint64_t id, wire::ErrorCode error);
    /// `wall_ms`: for the records of groups that became empty.
    void tick(Instant now, std::int64_t wall_ms);
    [[nodiscard]] Instant deadline() const;
    /// This broker coordinates these groups no longer: every waiting call is answered NOT_COORDINATOR.
    void resign();
    std::vector<GroupAnswer> take_answers();
    std::vector<GroupWrite> take_writes();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace highwater::node
