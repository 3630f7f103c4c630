// One coordinator of groups, driven by the commands of a transcript. Times are milliseconds since its
// beginning; generated member ids are shown as CLIENT/N, in the order in which they were given out.
//   join GROUP [member=ID] [v=9] [client=a] [instance=i] [session=10000] [rebalance=60000] [protocols=range]
//   sync GROUP ID gen=N [assign=ID:text,ID:text]       heartbeat GROUP ID gen=N [instance=i]
//   leave GROUP [ID] [instance=i]                      commit GROUP [ID] [gen=N] PARTITION=OFFSET ...
//   [metadata=N] fetch GROUP      describe GROUP      list      delete GROUP hold             writes wait
//   from here on; else they are committed at once written [ERROR]  ends the oldest write that waits wait MS
//   time passes, deadline by deadline failover         another coordinator takes over from what was committed
//   resign
#pragma once

#include <deque>
#include <memory>

#include "node/group/coordinator.h"
#include "tests/node_replica/transcript.h"

namespace highwater::node {

class GroupBench {
public:
    GroupBench();
    std::string run(const std::string& command);

private:
    std::string call(const std::string& verb, CommandWords& words);
    void join(CommandWords& words);
    void sync(CommandWords& words);
    void commit(CommandWords& words);
    std::string fetch(CommandWords& words);
    std::string describe(CommandWords& words);
    std::string list();
    void wait(Duration time);
    void end_write(wire::ErrorCode error);
    /// Writes, unless they are held, and answers since the last call.
    std::string take();
    std::string show(const GroupAnswer& answer);
    /// The real id behind "a/1".
    std::string id_of(const std::string& shown) const;
    std::string shown_id(const std::string& id);

    Instant now_{0};
    std::uint64_t seed_ = 1;
    std::unique_ptr<GroupCoordinator> coordinator_;
    bool held_ = false;
    std::deque<GroupWrite> waiting_;
    std::vector<wire::Record> log_;
    GroupCall next_call_ = 1;
    /// What each call was, "join" or "sync a/1".
    std::map<GroupCall, std::string> calls_;
    std::map<std::string, std::string> shown_;
    std::map<std::string, int> given_;
};

}  // namespace highwater::node
