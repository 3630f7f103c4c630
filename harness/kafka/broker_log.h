// Lines of a broker's own log that tell what only it knows: the role it took, what it asked and heard about
// its ISR, what metadata told it, and that it began to shut down. Their texts are those of Kafka 3.9 to 4.4.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace highwater::harness {

struct LoggedEvent {
    /// Role, IsrProposed, IsrCommitted, Registration, Truncate; ShuttingDown has no partition.
    TraceKind kind = TraceKind::Role;
    /// Milliseconds since 1970.
    std::int64_t wall_ms = 0;
    std::string topic;
    std::int32_t partition = -1;
    std::string role;
    /// kNoBroker for a leader's own line, and where there is none.
    BrokerId leader = kNoBroker;
    LeaderEpoch epoch = kNoEpoch;
    PartitionEpoch partition_epoch = -1;
    Offset log_end_offset = kUnknownOffset;
    Offset high_watermark = kUnknownOffset;
    /// Truncate, to log_end_offset: what its leader answered, the last common epoch and where it ends there.
    OffsetAndEpoch diverging;
    /// Sorted.
    std::vector<BrokerId> isr;
    std::vector<BrokerId> isr_from;
    /// IsrProposed: who is to leave, its log's end, and since when it has not been caught up.
    std::vector<TraceReplica> lagging;
};

/// `line`: milliseconds, level, message, as harness/kafka/cluster.cc has brokers log. Nullopt: the line tells
/// something else.
std::optional<LoggedEvent> parse_broker_log(std::string_view line);

}  // namespace highwater::harness
