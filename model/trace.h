// White-box trace lines as the checker reads them (docs/run-format.md, trace.jsonl).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

namespace highwater {

enum class TraceKind : std::uint8_t {
    Start,
    Registered,
    Stop,
    Role,
    Append,
    Hw,
    IsrProposed,
    IsrCommitted,
    Truncate,
    Following,
    Ack,
    Serve,
    Offline,
    Checkpoint,
    Register,
    Fence,
    Unfence,
    ShuttingDown,
    Partition,
    TopicDeleted,
    Config,
    Bug,
    Invariant,
    LogEnd,
    Sample,
    Registration
};

struct TraceReplica {
    BrokerId id = kNoBroker;
    Offset log_end_offset = kUnknownOffset;
    Duration behind{0};
};

/// One line, flat: a field is set when its kind has it.
struct TraceEvent {
    Instant at;
    BrokerId node = kNoBroker;
    std::int32_t incarnation = 0;
    std::int64_t sequence = 0;
    TraceKind kind = TraceKind::Start;
    std::int32_t partition = -1;
    std::string topic;
    std::string role;  // role, start
    std::string text;  // reason, cause, incarnation, bugs; config: its name; bug, invariant: name
    std::optional<std::string> value;  // config: what it was set to; nullopt: removed
    std::string detail;                // bug: id; invariant: what does not hold
    std::int64_t count = 0;            // bug
    BrokerId leader = kNoBroker;
    BrokerId broker = kNoBroker;
    BrokerEpoch broker_epoch = kUnknownBrokerEpoch;
    LeaderEpoch epoch = kNoEpoch;
    PartitionEpoch partition_epoch = -1;
    Offset log_end_offset = kUnknownOffset;
    Offset high_watermark = kUnknownOffset;
    Offset from = kUnknownOffset;   // hw, truncate, serve
    Offset to = kUnknownOffset;     // hw, truncate; serve: end
    Offset first = kUnknownOffset;  // append, ack
    Offset last = kUnknownOffset;   // ack
    Offset epoch_start = kUnknownOffset;
    std::optional<std::int16_t> acks;
    std::int16_t error = 0;
    std::int32_t min_isr = 0;
    bool elected = false;
    bool unclean = false;
    bool last_known_leader = false;
    bool clean = false;
    /// Told by an observer, later than it was (docs/run-format.md): no order with lines of other processes.
    bool outside = false;
    /// log-end: the line before it still held at this moment.
    Instant until;
    /// Lines that say it: not every system tells of each stop whether it was clean, or who is eligible.
    bool clean_told = false;
    bool elr_told = false;
    Duration silent{0};
    std::optional<BrokerId> pending_add;
    std::vector<BrokerId> isr;
    std::vector<BrokerId> elr;             // partition
    std::vector<BrokerId> last_known_elr;  // partition
    std::vector<BrokerId> isr_from;        // isr-proposed
    std::vector<BrokerId> maximal_isr;     // ack
    std::vector<TraceReplica> replicas;    // hw; isr-proposed: lagging
    std::vector<OffsetAndEpoch> table;     // role; truncate: the diverging pair
};

struct Trace {
    /// Sorted by (at, node, incarnation, sequence).
    std::vector<TraceEvent> events;
};

std::string_view trace_kind_name(TraceKind kind);
std::optional<TraceKind> parse_trace_kind(std::string_view name);
/// Merges files, each one node's. A last line cut short (SIGKILL) is tolerated; anything else malformed is an
/// error naming file and line.
Result<Trace> read_trace(const std::vector<std::string>& paths);
Result<Trace> parse_trace(std::string_view text, const std::string& name);

}  // namespace highwater
