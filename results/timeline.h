// What happened when, for the report's one time axis: faults, who led, who was in the ISR, log end offsets
// and high watermarks, every operation. Made from history, trace and fault records; judges nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/fault.h"
#include "model/history.h"
#include "model/trace.h"

namespace highwater::results {

/// A partition record of the controller, or, without a trace, a change that an observer saw.
struct LeaderChange {
    Instant at;
    BrokerId leader = kNoBroker;
    LeaderEpoch epoch = kNoEpoch;
    std::vector<BrokerId> isr;
    bool unclean = false;
    std::string cause;
};

/// A value that holds from each of its points to the next.
struct Steps {
    std::vector<Instant> at;
    std::vector<Offset> value;
};

struct ReplicaLine {
    BrokerId broker = kNoBroker;
    Steps log_end_offset;
    Steps high_watermark;
};

struct PartitionTimeline {
    std::int32_t partition = 0;
    std::vector<LeaderChange> changes;
    /// By broker.
    std::vector<ReplicaLine> replicas;
};

/// A process was not there: from the fault (or its own last line) to its next start.
struct DownTime {
    BrokerId process = kNoBroker;
    Instant from;
    std::optional<Instant> until;
};

struct Timeline {
    /// The first call and the last completion of the history.
    Instant start;
    Instant end;
    std::vector<PartitionTimeline> partitions;
    std::vector<DownTime> down;
};

/// Steps with more points than this are thinned: of each stretch of time its first, last, lowest and highest
/// point stay.
inline constexpr std::size_t kMostSteps = 200'000;

Timeline make_timeline(const History& history, const Trace* trace, const std::vector<FaultRecord>& faults);

/// When a fault ended: undone, else, for one that lasts, at heal; a kill ends with its process's next start,
/// which `timeline` knows. nullopt: momentary, or never.
std::optional<Instant> end_of_fault(const FaultRecord& fault, const Timeline& timeline,
                                    std::optional<Instant> healed, const std::vector<FaultRecord>& all);

}  // namespace highwater::results
