// The trace of one partition, ordered for questions: who led when with which epoch table, which elections
// there were, and which acknowledgement, append, read or truncation covers an offset.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "checker/log_index.h"
#include "model/history.h"
#include "model/trace.h"

namespace highwater::checker {

/// Leader epochs of one log: entry i holds [start_i, start_i+1).
class EpochTable {
public:
    EpochTable() = default;
    explicit EpochTable(std::vector<OffsetAndEpoch> entries);
    /// Adds an entry if its epoch is above all others.
    void add(OffsetAndEpoch entry);
    [[nodiscard]] const std::vector<OffsetAndEpoch>& entries() const { return entries_; }
    /// [start, end) of the epoch in a log that ends at `log_end`; nullopt if the table lacks it.
    [[nodiscard]] std::optional<std::pair<Offset, Offset>> range(LeaderEpoch epoch, Offset log_end) const;
    /// Epoch of the record at the offset; nullopt below the first entry.
    [[nodiscard]] std::optional<LeaderEpoch> epoch_at(Offset offset) const;
    /// "0 from 0, 4 from 120".
    [[nodiscard]] std::string to_string() const;

private:
    std::vector<OffsetAndEpoch> entries_;
};

/// A replica's time in office: from its `role` line as leader.
struct Leadership {
    BrokerId node = kNoBroker;
    std::int32_t incarnation = 0;
    LeaderEpoch epoch = kNoEpoch;
    Instant at;
    /// At taking office.
    Offset log_end_offset = 0;
    Offset high_watermark = kUnknownOffset;
    /// At taking office, its own epoch included.
    EpochTable table;
};

struct Election {
    Instant at;
    LeaderEpoch epoch = kNoEpoch;
    BrokerId leader = kNoBroker;
    bool unclean = false;
    /// An unclean one, of who led last, with nobody in the ISR or eligible before.
    bool last_known_leader = false;
    std::vector<BrokerId> isr;
    std::size_t op = kNoOp;  // the observe that told it, if no trace did
};

/// A replica came back from a restart with less than it had.
struct DataLoss {
    BrokerId node = kNoBroker;
    /// When it told.
    Instant at;
    std::int64_t sequence = 0;
    Offset from = 0;  // its log end before
    Offset to = 0;    // and after
    /// The recorded fault that takes unflushed or stored data and struck it in between; kNoOp: none did.
    OpIndex fault = kNoOp;
    /// It was the only member of the controller's ISR then.
    bool sole_in_sync = false;
};

/// Recorded faults that take unflushed or stored data of this broker and were in force at some time of
/// [from, to].
std::vector<OpIndex> faults_that_take_data(const History& history, BrokerId node, Instant from, Instant to);

class PartitionTrace {
public:
    /// By time.
    [[nodiscard]] const std::vector<DataLoss>& losses() const { return losses_; }
    /// The one that this line told; nullptr if it told none.
    [[nodiscard]] const DataLoss* loss_at(const TraceEvent& line) const;
    /// By epoch.
    [[nodiscard]] const std::vector<Leadership>& leaderships() const { return leaderships_; }
    /// By time; also those that elected nobody.
    [[nodiscard]] const std::vector<Election>& elections() const { return elections_; }
    [[nodiscard]] bool unclean_seen() const;
    /// First unclean election with an epoch in (after, until].
    [[nodiscard]] const Election* unclean_between(LeaderEpoch after, LeaderEpoch until) const;
    [[nodiscard]] const Leadership* leadership(LeaderEpoch epoch) const;
    /// The last one that began by then.
    [[nodiscard]] const Leadership* last_leadership(Instant until) const;

    /// The `ack` line of this answer: covers the offset, error 0, from that broker (any if unknown), within
    /// [from, to].
    [[nodiscard]] const TraceEvent* ack_line(Offset offset, BrokerId broker, Instant from, Instant to) const;
    /// The epoch that the record has in that broker's file, as it was first seen there from then on (only
    /// where files tell: lines from outside). Nullopt: nobody saw.
    [[nodiscard]] std::optional<LeaderEpoch> epoch_in_file(Offset offset, BrokerId broker,
                                                           Instant from) const;
    /// The `serve` line of a read of this offset.
    [[nodiscard]] const TraceEvent* serve_line(Offset offset, BrokerId broker, Instant from,
                                               Instant to) const;

    // All lines of a kind in the order of time.
    [[nodiscard]] const std::vector<const TraceEvent*>& of(TraceKind kind) const;

private:
    friend class TraceIndexer;

    std::vector<Leadership> leaderships_;
    std::vector<Election> elections_;
    std::vector<DataLoss> losses_;
    std::map<TraceKind, std::vector<const TraceEvent*>> by_kind_;
    std::vector<const TraceEvent*> acks_by_offset_;
    Offset longest_ack_ = 1;
    std::vector<const TraceEvent*> written_by_offset_;
    Offset longest_write_ = 1;
};

/// What of a trace (and of the history's exact observations) concerns each partition. Lines after `until` are
/// ignored.
std::map<std::int32_t, PartitionTrace> index_trace(const History& history, const Trace* trace, Instant until);

}  // namespace highwater::checker
