// One partition as the clients knew it: every append, every read, and each place (offset, value) with who
// vouches for it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/history.h"

namespace highwater::checker {

struct Append {
    std::size_t op = 0;  // index into History::operations
    Value value = 0;
    /// Where the answer says it is; unknown unless that is evidence (acknowledged, and offsets are reported
    /// per record).
    Offset offset = kUnknownOffset;
    /// acks=0 is never Ok.
    Outcome outcome = Outcome::Info;
    std::int16_t acks = -1;
    BrokerId broker = kNoBroker;
    std::int32_t client = 0;
    Instant invoked;
    Instant completed;
    std::optional<std::int64_t> sequence;

    [[nodiscard]] bool acked_all() const { return outcome == Outcome::Ok && acks == -1; }
    [[nodiscard]] bool acked_weak() const { return outcome == Outcome::Ok && acks != -1; }
};

/// An answered read of clients (also final ones).
struct Read {
    std::size_t op = 0;
    const Poll* poll = nullptr;
    std::int32_t client = 0;
    Instant invoked;
    Instant completed;
    /// Where the consumer stood before; unknown after assign, reset, or at the first read.
    Offset position = kUnknownOffset;
    /// Where the read began: as told, else the position, else the first record.
    Offset from = kUnknownOffset;
    /// After its last record; `from` if empty.
    Offset end = kUnknownOffset;
};

/// A value at an offset, and everything that shows it there.
struct Place {
    Offset offset = 0;
    Value value = 0;
    bool acked_all = false;
    bool acked_weak = false;
    bool read = false;   // by any read, final ones of other replicas included
    bool final = false;  // in the complete final read
    std::size_t acked_op = kNone;
    std::size_t read_op = kNone;

    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    [[nodiscard]] bool seen() const { return read || final; }
    [[nodiscard]] bool visible() const { return seen() || acked_all; }
    [[nodiscard]] std::size_t any_op() const { return acked_op != kNone ? acked_op : read_op; }
};

/// The log as the complete final read shows it: [log_start, end), and nothing else was visible.
struct FinalLog {
    std::size_t op = 0;
    Instant invoked;
    Instant completed;
    Offset log_start = 0;
    Offset end = 0;
    /// Sorted by offset.
    std::vector<ReadRecord> records;
};

class PartitionHistory {
public:
    explicit PartitionHistory(std::int32_t partition) : partition_(partition) {}

    [[nodiscard]] std::int32_t partition() const { return partition_; }
    /// In the order of their calls.
    [[nodiscard]] const std::vector<Append>& appends() const { return appends_; }
    [[nodiscard]] const std::vector<Read>& reads() const { return reads_; }
    /// Sorted by (offset, value).
    [[nodiscard]] const std::vector<Place>& places() const { return places_; }
    [[nodiscard]] std::span<const Place> places_at(Offset offset) const;
    /// All places of one value, by offset.
    [[nodiscard]] std::vector<const Place*> places_of(Value value) const;
    [[nodiscard]] const Place* place(Offset offset, Value value) const;
    /// Every append of the value; empty if nobody sent it.
    [[nodiscard]] std::vector<const Append*> appends_of(Value value) const;
    [[nodiscard]] bool acked_all(Value value) const;

    /// Nullopt: no final read, or none that reached the end.
    [[nodiscard]] const std::optional<FinalLog>& final_log() const { return final_; }
    [[nodiscard]] bool final_read_tried() const { return final_tried_; }
    [[nodiscard]] std::optional<Value> final_value_at(Offset offset) const;
    /// First offset that is not expired, as far as anybody told.
    [[nodiscard]] Offset log_start() const { return log_start_; }

private:
    friend class HistoryIndexer;

    std::int32_t partition_;
    std::vector<Append> appends_;
    std::vector<Read> reads_;
    std::vector<Place> places_;
    std::vector<std::pair<Value, std::uint32_t>> places_by_value_;
    std::vector<std::pair<Value, std::uint32_t>> appends_by_value_;
    std::optional<FinalLog> final_;
    bool final_tried_ = false;
    Offset log_start_ = 0;
};

/// Every partition that an operation names, by number.
std::map<std::int32_t, PartitionHistory> index_history(const History& history);
/// -1, 0 or 1 as the operation says, else as the meta line says (all if it says neither).
std::int16_t acks_of(const Produce& produce, const HistoryMeta& meta);

}  // namespace highwater::checker
