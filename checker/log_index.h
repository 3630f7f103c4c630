// One partition as the clients knew it: every append, every read, and each place (offset, value) with who
// vouches for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/history.h"

namespace highwater::checker {

/// Index into History::operations.
using OpIndex = std::uint32_t;
inline constexpr OpIndex kNoOp = std::numeric_limits<OpIndex>::max();

// Append and Place are kept small: there are as many of them as operations.
struct Append {
    Value value = 0;
    /// Where the answer says it is; unknown unless that is evidence (acknowledged, and offsets are reported
    /// per record).
    Offset offset = kUnknownOffset;
    Instant invoked;
    Instant completed;
    OpIndex op = 0;
    std::int32_t client = 0;
    BrokerId broker = kNoBroker;
    std::int16_t acks = -1;
    /// acks=0 is never Ok.
    Outcome outcome = Outcome::Info;

    [[nodiscard]] bool acked_all() const { return outcome == Outcome::Ok && acks == -1; }
    [[nodiscard]] bool acked_weak() const { return outcome == Outcome::Ok && acks != -1; }
};

/// An answered read of clients (also final ones).
struct Read {
    OpIndex op = 0;
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
    static constexpr OpIndex kNone = kNoOp;

    Offset offset = 0;
    Value value = 0;
    OpIndex acked_op = kNone;
    OpIndex read_op = kNone;
    /// Where the appends of this value begin in the index by value.
    std::uint32_t first_append = 0;
    bool acked_all : 1 = false;
    bool acked_weak : 1 = false;
    bool read : 1 = false;     // by any read, final ones of other replicas included
    bool final : 1 = false;    // in the complete final read
    bool sent : 1 = false;     // somebody appended the value
    bool refused : 1 = false;  // every append of the value failed definitely

    [[nodiscard]] bool seen() const { return read || final; }
    [[nodiscard]] bool visible() const { return seen() || acked_all; }
    [[nodiscard]] OpIndex any_op() const { return acked_op != kNone ? acked_op : read_op; }
};

/// The log as the complete final read shows it: [log_start, end), and nothing else was visible. Its records
/// are the places that are `final`.
struct FinalLog {
    OpIndex op = 0;
    Instant invoked;
    Instant completed;
    Offset log_start = 0;
    Offset end = 0;
};

/// Some of the items of a vector, as pointers.
template <class T>
class Selection {
public:
    class Iterator {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = const T*;
        using difference_type = std::ptrdiff_t;
        using pointer = const value_type*;
        using reference = value_type;

        Iterator() = default;
        Iterator(const T* items, const std::uint32_t* at) : items_(items), at_(at) {}
        const T* operator*() const { return items_ + *at_; }
        Iterator& operator++() {
            ++at_;
            return *this;
        }
        Iterator operator++(int) { return Iterator(items_, at_++); }
        friend bool operator==(const Iterator&, const Iterator&) = default;

    private:
        const T* items_ = nullptr;
        const std::uint32_t* at_ = nullptr;
    };

    Selection(const T* items, std::span<const std::uint32_t> which) : items_(items), which_(which) {}
    [[nodiscard]] Iterator begin() const { return {items_, which_.data()}; }
    [[nodiscard]] Iterator end() const { return {items_, which_.data() + which_.size()}; }
    [[nodiscard]] std::size_t size() const { return which_.size(); }
    [[nodiscard]] bool empty() const { return which_.empty(); }
    const T* operator[](std::size_t i) const { return items_ + which_[i]; }
    [[nodiscard]] const T* front() const { return (*this)[0]; }

private:
    const T* items_;
    std::span<const std::uint32_t> which_;
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
    [[nodiscard]] Selection<Place> places_of(Value value) const;
    /// Of each value that has more than one place the lowest, by offset.
    [[nodiscard]] const std::vector<std::uint32_t>& copied() const { return copied_; }
    [[nodiscard]] const Place* place(Offset offset, Value value) const;
    /// Every append of the value; empty if nobody sent it.
    [[nodiscard]] Selection<Append> appends_of(Value value) const;
    [[nodiscard]] Selection<Append> appends_of(const Place& place) const;
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
    std::vector<std::uint32_t> places_by_value_;   // indices; equal values by offset
    std::vector<std::uint32_t> appends_by_value_;  // indices; equal values by call
    std::vector<std::uint32_t> copied_;
    std::optional<FinalLog> final_;
    bool final_tried_ = false;
    Offset log_start_ = 0;
};

/// Every partition that an operation names, by number.
std::map<std::int32_t, PartitionHistory> index_history(const History& history);
/// -1, 0 or 1 as the operation says, else as the meta line says (all if it says neither).
std::int16_t acks_of(const Produce& produce, const HistoryMeta& meta);

}  // namespace highwater::checker
