// What every property looks at: the run's configuration, the history and the trace by partition.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checker/checker.h"
#include "checker/log_index.h"
#include "checker/trace_index.h"

namespace highwater::checker {

struct Context {
    explicit Context(const CheckInput& given);

    const CheckInput& input;
    const History& history;
    const HistoryMeta& meta;
    bool traced = false;
    /// Calls and completions of the history lie in [start, end].
    Instant start;
    Instant end;
    std::map<std::int32_t, PartitionHistory> partitions;

    [[nodiscard]] const PartitionTrace& trace_of(std::int32_t partition) const;
    /// min.insync.replicas, but not more than there are replicas.
    [[nodiscard]] std::int32_t effective_min_isr() const {
        return std::min(meta.min_isr, std::max(meta.replication_factor, 1));
    }
    [[nodiscard]] const Operation& operation(std::size_t op) const { return history.operations[op]; }
    [[nodiscard]] std::string client_name(std::size_t op) const;

private:
    std::map<std::int32_t, PartitionTrace> traces_;
};

/// Where a record went: the last two successive leaders of which the first held it and the second did not,
/// and the unclean election between them, if there was one.
struct LossCause {
    std::optional<LeaderEpoch> record_epoch;
    const Leadership* lacking = nullptr;
    LeaderEpoch holder_epoch = kNoEpoch;
    const Election* unclean = nullptr;
    /// No replicated log can keep that record (expected-loss). ELR is off, and the leader that lacks it held
    /// it, was alone in the ISR when a recorded fault took its data, and lost it there. Or ELR is on, and the
    /// last known leader lost it there, after as many unclean shutdowns as the effective min ISR.
    bool expected = false;
    /// It is expected, or unclean election is enabled and one explains the loss.
    bool allowed = false;
};
/// The election of a last known leader after more unclean shutdowns at once than eligible leader replicas
/// promise to survive: min.insync.replicas - 1 since the ISR was last as large as that.
bool beyond_promise(const Context& context, std::int32_t partition, const Election& election);
LossCause explain_loss(const Context& context, std::int32_t partition, Offset offset,
                       std::optional<LeaderEpoch> record_epoch);
/// The epoch of the record that this operation was acked for or read at this offset, as far as the trace
/// tells.
std::optional<LeaderEpoch> record_epoch(const Context& context, std::int32_t partition, Offset offset,
                                        std::size_t op);
/// The same for a place: by its acknowledgement, else by its read.
std::optional<LeaderEpoch> record_epoch(const Context& context, std::int32_t partition, const Place& place);

/// True if the record at this place is proven to be no longer in the log. With a complete final read: it is
/// not there. Without: a later read covers the offset and shows another value, or, with `absence_proves`,
/// nothing. Expired records are not gone.
bool is_gone(const Context& context, const PartitionHistory& partition, const Place& place,
             bool absence_proves);

}  // namespace highwater::checker
