// Builds PartitionHistory: one pass in the order of calls (consumer positions need it), then sorted indices.
#include "checker/log_index.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/assert.h"
#include "base/overloaded.h"

namespace highwater::checker {
namespace {

/// A record that a read returned.
struct Sighting {
    Offset offset;
    Value value;
    OpIndex op;
    bool final;
};

/// Sorts what mostly is sorted already.
template <class T, class Less>
void sort_if_needed(std::vector<T>& items, Less less) {
    if (!std::is_sorted(items.begin(), items.end(), less)) std::sort(items.begin(), items.end(), less);
}

/// Indices by producer (the upper bits of a value), each producer's in their order: with one request in
/// flight that is the order of the values. Empty if there are too many producers for that to be worth while.
template <class T>
std::vector<std::uint32_t> by_producer(const std::vector<T>& items) {
    constexpr std::int64_t most_producers = 4096;
    constexpr int producer_shift = 40;
    std::vector<std::uint32_t> ends;
    for (const T& item : items) {
        const std::int64_t producer = item.value >> producer_shift;
        if (producer < 0 || producer >= most_producers) return {};
        const auto at = static_cast<std::size_t>(producer);
        if (at >= ends.size()) ends.resize(at + 1);
        ++ends[at];
    }
    std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), std::uint32_t{0});
    std::vector<std::uint32_t> indices(items.size());
    for (std::uint32_t i = 0; i < items.size(); ++i) {
        indices[ends[static_cast<std::size_t>(items[i].value >> producer_shift)]++] = i;
    }
    return indices;
}

/// Indices of the items, by value, equal ones in their order.
template <class T>
std::vector<std::uint32_t> by_value(const std::vector<T>& items) {
    std::vector<std::uint32_t> indices = by_producer(items);
    if (indices.empty()) {
        indices.resize(items.size());
        std::iota(indices.begin(), indices.end(), std::uint32_t{0});
    }
    sort_if_needed(indices, [&](std::uint32_t a, std::uint32_t b) {
        return items[a].value < items[b].value || (items[a].value == items[b].value && a < b);
    });
    return indices;
}

template <class T>
std::span<const std::uint32_t> with_value(const std::vector<T>& items,
                                          const std::vector<std::uint32_t>& indices, Value value) {
    const auto less = [&](std::uint32_t index, Value wanted) { return items[index].value < wanted; };
    const auto first = std::lower_bound(indices.begin(), indices.end(), value, less);
    auto last = first;
    while (last != indices.end() && items[*last].value == value) ++last;
    return {first, last};
}

bool before(const Place& a, const Place& b) {
    return a.offset < b.offset || (a.offset == b.offset && a.value < b.value);
}

Place fresh_place(Offset offset, Value value) {
    Place place;
    place.offset = offset;
    place.value = value;
    return place;
}

/// What acknowledgements tell.
std::vector<Place> acked_places(const std::vector<Append>& appends) {
    std::vector<std::uint32_t> acks;
    for (std::uint32_t i = 0; i < appends.size(); ++i) {
        if (appends[i].offset != kUnknownOffset) acks.push_back(i);
    }
    sort_if_needed(acks, [&](std::uint32_t a, std::uint32_t b) {
        return std::tie(appends[a].offset, appends[a].value, appends[a].op) <
               std::tie(appends[b].offset, appends[b].value, appends[b].op);
    });
    std::vector<Place> places;
    places.reserve(acks.size() + acks.size() / 16);
    for (const std::uint32_t ack : acks) {
        const Append& append = appends[ack];
        if (places.empty() || places.back().offset != append.offset || places.back().value != append.value)
            places.push_back(fresh_place(append.offset, append.value));
        Place& place = places.back();
        if (place.acked_op == kNoOp) place.acked_op = append.op;
        place.acked_all = place.acked_all || append.acked_all();
        place.acked_weak = place.acked_weak || append.acked_weak();
    }
    return places;
}

void see(Place& place, OpIndex op, bool final) {
    place.read_op = std::min(place.read_op, op);
    place.read = place.read || !final;
    place.final = place.final || final;
}

/// Marks the places that the read shows; what is none of them goes to `others`.
void mark_seen(std::vector<Place>& places, const Read& read, bool final, std::vector<Sighting>& others) {
    auto at = places.begin();
    for (const ReadRecord& record : read.poll->records) {
        const auto is_it = [&] {
            return at != places.end() && at->offset == record.offset && at->value == record.value;
        };
        // The next record mostly is the next place.
        if (at != places.end()) ++at;
        if (!is_it())
            at = std::lower_bound(places.begin(), places.end(), fresh_place(record.offset, record.value),
                                  before);
        if (is_it())
            see(*at, read.op, final);
        else
            others.push_back({record.offset, record.value, read.op, final});
    }
}

/// Adds what only reads show.
void add_seen(std::vector<Place>& places, std::vector<Sighting> others) {
    sort_if_needed(others, [](const Sighting& a, const Sighting& b) {
        return std::tie(a.offset, a.value, a.op) < std::tie(b.offset, b.value, b.op);
    });
    const auto acked = static_cast<std::ptrdiff_t>(places.size());
    for (const Sighting& other : others) {
        const bool known = static_cast<std::ptrdiff_t>(places.size()) > acked &&
                           places.back().offset == other.offset && places.back().value == other.value;
        if (!known) places.push_back(fresh_place(other.offset, other.value));
        see(places.back(), other.op, other.final);
    }
    std::inplace_merge(places.begin(), places.begin() + acked, places.end(), before);
}

OpIndex op_index(std::size_t op) {
    HW_ASSERT(op < kNoOp);
    return static_cast<OpIndex>(op);
}

}  // namespace

std::int16_t acks_of(const Produce& produce, const HistoryMeta& meta) {
    if (produce.acks) return *produce.acks;
    if (meta.acks == "0") return 0;
    if (meta.acks == "1") return 1;
    return -1;
}

std::span<const Place> PartitionHistory::places_at(Offset offset) const {
    const auto less = [](const Place& place, Offset o) { return place.offset < o; };
    const auto first = std::lower_bound(places_.begin(), places_.end(), offset, less);
    auto last = first;
    while (last != places_.end() && last->offset == offset) ++last;
    return {first, last};
}

Selection<Place> PartitionHistory::places_of(Value value) const {
    return {places_.data(), with_value(places_, places_by_value_, value)};
}

const Place* PartitionHistory::place(Offset offset, Value value) const {
    for (const Place& place : places_at(offset)) {
        if (place.value == value) return &place;
    }
    return nullptr;
}

Selection<Append> PartitionHistory::appends_of(Value value) const {
    return {appends_.data(), with_value(appends_, appends_by_value_, value)};
}

Selection<Append> PartitionHistory::appends_of(const Place& place) const {
    std::size_t last = place.first_append;
    if (place.sent) {
        while (last < appends_by_value_.size() && appends_[appends_by_value_[last]].value == place.value)
            ++last;
    }
    return {appends_.data(),
            std::span(appends_by_value_).subspan(place.first_append, last - place.first_append)};
}

bool PartitionHistory::acked_all(Value value) const {
    const Selection<Append> appends = appends_of(value);
    return std::any_of(appends.begin(), appends.end(),
                       [](const Append* append) { return append->acked_all(); });
}

std::optional<Value> PartitionHistory::final_value_at(Offset offset) const {
    for (const Place& place : places_at(offset)) {
        if (place.final) return place.value;
    }
    return std::nullopt;
}

class HistoryIndexer {
public:
    explicit HistoryIndexer(const History& history) : history_(history) {}

    std::map<std::int32_t, PartitionHistory> run() {
        // Only consumers' positions need the order of calls across operations.
        const std::vector<Operation>& operations = history_.operations;
        std::vector<OpIndex> others;
        for (std::size_t op = 0; op < operations.size(); ++op) {
            if (const auto* produce = operations[op].as<Produce>())
                add_append(op_index(op), operations[op], *produce);
            else
                others.push_back(op_index(op));
        }
        sort_if_needed(others, [&](OpIndex a, OpIndex b) {
            return std::tie(operations[a].invoked, operations[a].completed, a) <
                   std::tie(operations[b].invoked, operations[b].completed, b);
        });
        for (const OpIndex op : others) add(op, operations[op]);
        for (auto& [number, partition] : partitions_) {
            sort_if_needed(partition.appends_, [](const Append& a, const Append& b) {
                return std::tie(a.invoked, a.completed, a.op) < std::tie(b.invoked, b.completed, b.op);
            });
        }
        for (auto& [number, partition] : partitions_) finish(partition);
        return std::move(partitions_);
    }

private:
    PartitionHistory& partition(std::int32_t number) {
        if (last_ == nullptr || last_->partition() != number) {
            last_ = &partitions_.try_emplace(number, PartitionHistory(number)).first->second;
        }
        return *last_;
    }

    void add(OpIndex op, const Operation& operation) {
        std::visit(overloaded{[](const Produce&) {}, [&](const Poll& poll) { add_read(op, operation, poll); },
                              [&](const Rare<ListOffsets>& list) { partition((*list).partition); },
                              [&](const Rare<Observe>& observe) {
                                  PartitionHistory& into = partition((*observe).partition);
                                  into.log_start_ = std::max(into.log_start_, (*observe).log_start);
                              },
                              [&](const Rare<OtherOp>& other) { move_position(operation.client, *other); },
                              [](const Rare<FaultOp>&) {}, [](const Rare<Probe>&) {}},
                   operation.what);
    }

    void add_append(OpIndex op, const Operation& operation, const Produce& produce) {
        Append append;
        append.op = op;
        append.value = produce.value;
        append.acks = acks_of(produce, history_.meta);
        append.outcome = produce.status;
        if (append.acks == 0 && append.outcome == Outcome::Ok) append.outcome = Outcome::Info;
        // Old clients report 0 for all but the last record of a batch: no offset is evidence then.
        const bool offsets_told = history_.meta.offset_report != "last-of-batch";
        if (append.outcome == Outcome::Ok && offsets_told) append.offset = produce.offset;
        append.broker = produce.broker;
        append.client = operation.client;
        append.invoked = operation.invoked;
        append.completed = operation.completed;
        partition(produce.partition).appends_.push_back(append);
    }

    void add_read(OpIndex op, const Operation& operation, const Poll& poll) {
        PartitionHistory& into = partition(poll.partition);
        if (poll.final) into.final_tried_ = true;
        if (poll.status != Outcome::Ok) return;
        Offset& position =
            positions_.try_emplace({operation.client, poll.partition}, kUnknownOffset).first->second;
        Read read;
        read.op = op;
        read.poll = &poll;
        read.client = operation.client;
        read.invoked = operation.invoked;
        read.completed = operation.completed;
        read.position = position;
        read.from = poll.from != kUnknownOffset ? poll.from : position;
        for (const ReadRecord& record : poll.records) read.end = std::max(read.end, record.offset + 1);
        if (read.from == kUnknownOffset && !poll.records.empty()) {
            read.from = poll.records.front().offset;
            for (const ReadRecord& record : poll.records) read.from = std::min(read.from, record.offset);
        }
        read.end = std::max(read.end, read.from);
        if (!poll.records.empty())
            position = poll.records.back().offset + 1;
        else if (poll.from != kUnknownOffset)
            position = poll.from;
        into.log_start_ = std::max(into.log_start_, poll.log_start);
        into.reads_.push_back(read);
    }

    void move_position(std::int32_t client, const OtherOp& other) {
        if (other.op != "assign" && other.op != "seek" && other.op != "reset") return;
        const PositionChange change = position_change(other);
        const auto concerned = [&](std::int32_t number) {
            return std::find(change.partitions.begin(), change.partitions.end(), number) !=
                   change.partitions.end();
        };
        if (other.op == "assign") {
            for (auto& [key, position] : positions_) {
                if (key.first != client) continue;
                // What is kept over a re-assignment keeps its position, unless it is told one.
                if (!concerned(key.second))
                    position = kUnknownOffset;
                else if (change.position != kUnknownOffset)
                    position = change.position;
            }
            return;
        }
        for (const std::int32_t number : change.partitions) positions_[{client, number}] = change.position;
    }

    /// The last complete pass of a final reader over the log. Replicas may be read too, but the leader's
    /// alone is the log: what a follower does not have yet is not gone, least of all while nobody leads.
    /// Returns the operations of that pass, sorted.
    static std::vector<OpIndex> find_final(PartitionHistory& partition) {
        std::map<std::int32_t, std::vector<const Read*>> passes;  // by client, the pass under way
        std::vector<const Read*> chosen;
        for (const Read& read : partition.reads_) {
            if (!read.poll->final || read.poll->from_follower) continue;
            std::vector<const Read*>& pass = passes[read.client];
            const bool again =
                !pass.empty() && (pass.back()->poll->complete ||
                                  (read.from != kUnknownOffset && read.from < pass.back()->end));
            if (again) pass.clear();
            pass.push_back(&read);
            if (read.poll->complete) chosen = pass;
        }
        if (chosen.empty()) return {};
        FinalLog log;
        log.op = chosen.back()->op;
        log.invoked = chosen.front()->invoked;
        log.completed = chosen.back()->completed;
        log.log_start = std::max(chosen.front()->poll->from, Offset{0});
        for (const Read* read : chosen) {
            if (read->poll->log_start != kUnknownOffset) log.log_start = read->poll->log_start;
            log.end = std::max({log.end, read->end, read->poll->high_watermark});
        }
        partition.log_start_ = std::max(partition.log_start_, log.log_start);
        partition.final_ = log;
        std::vector<OpIndex> ops;
        for (const Read* read : chosen) ops.push_back(read->op);
        std::sort(ops.begin(), ops.end());
        return ops;
    }

    static void finish(PartitionHistory& partition) {
        std::vector<Place>& places = partition.places_;
        places = acked_places(partition.appends_);
        const std::vector<OpIndex> final_ops = find_final(partition);
        std::vector<Sighting> others;
        for (const Read& read : partition.reads_) {
            // What only an incomplete final read saw was seen all the same.
            const bool final =
                read.poll->final && std::binary_search(final_ops.begin(), final_ops.end(), read.op);
            mark_seen(places, read, final, others);
        }
        add_seen(places, std::move(others));
        partition.places_by_value_ = by_value(places);
        partition.appends_by_value_ = by_value(partition.appends_);
        join(partition);
    }

    /// Each place learns its appends; both sides in the order of their values.
    static void join(PartitionHistory& partition) {
        const std::vector<std::uint32_t>& by_append = partition.appends_by_value_;
        std::uint32_t next = 0;
        const Place* last = nullptr;
        for (const std::uint32_t index : partition.places_by_value_) {
            Place& place = partition.places_[index];
            const auto value_at = [&](std::uint32_t at) { return partition.appends_[by_append[at]].value; };
            while (next < by_append.size() && value_at(next) < place.value) ++next;
            place.first_append = next;
            place.sent = next < by_append.size() && value_at(next) == place.value;
            place.refused = place.sent;
            for (std::uint32_t at = next;
                 place.refused && at < by_append.size() && value_at(at) == place.value; ++at) {
                place.refused = partition.appends_[by_append[at]].outcome == Outcome::Fail;
            }
            const bool copy = last != nullptr && last->value == place.value;
            const auto first = copy ? static_cast<std::uint32_t>(last - partition.places_.data()) : index;
            if (copy && (partition.copied_.empty() || partition.copied_.back() != first))
                partition.copied_.push_back(first);
            if (!copy) last = &place;
        }
        std::sort(partition.copied_.begin(), partition.copied_.end());
    }

    const History& history_;
    std::map<std::int32_t, PartitionHistory> partitions_;
    PartitionHistory* last_ = nullptr;
    std::map<std::pair<std::int32_t, std::int32_t>, Offset> positions_;  // client, partition
};

std::map<std::int32_t, PartitionHistory> index_history(const History& history) {
    return HistoryIndexer(history).run();
}

}  // namespace highwater::checker
