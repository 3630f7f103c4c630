// Builds PartitionHistory: one pass in the order of calls (consumer positions need it), then sorted indices.
#include "checker/log_index.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/overloaded.h"

namespace highwater::checker {
namespace {

struct Sighting {
    enum class By : std::uint8_t { AckAll, AckWeak, Read, Final };
    Offset offset;
    Value value;
    std::size_t op;
    By by;
};

std::pair<Value, std::uint32_t> by_value(Value value) { return {value, 0}; }

std::vector<Place> merged(std::vector<Sighting> sightings) {
    std::sort(sightings.begin(), sightings.end(), [](const Sighting& a, const Sighting& b) {
        return std::tie(a.offset, a.value, a.op) < std::tie(b.offset, b.value, b.op);
    });
    std::vector<Place> places;
    for (const Sighting& sighting : sightings) {
        if (places.empty() || places.back().offset != sighting.offset ||
            places.back().value != sighting.value) {
            Place fresh;
            fresh.offset = sighting.offset;
            fresh.value = sighting.value;
            places.push_back(fresh);
        }
        Place& place = places.back();
        const bool ack = sighting.by == Sighting::By::AckAll || sighting.by == Sighting::By::AckWeak;
        std::size_t& op = ack ? place.acked_op : place.read_op;
        if (op == Place::kNone) op = sighting.op;
        place.acked_all = place.acked_all || sighting.by == Sighting::By::AckAll;
        place.acked_weak = place.acked_weak || sighting.by == Sighting::By::AckWeak;
        place.read = place.read || sighting.by == Sighting::By::Read;
        place.final = place.final || sighting.by == Sighting::By::Final;
    }
    return places;
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

std::vector<const Place*> PartitionHistory::places_of(Value value) const {
    std::vector<const Place*> found;
    auto at = std::lower_bound(places_by_value_.begin(), places_by_value_.end(), by_value(value));
    for (; at != places_by_value_.end() && at->first == value; ++at) found.push_back(&places_[at->second]);
    return found;
}

const Place* PartitionHistory::place(Offset offset, Value value) const {
    for (const Place& place : places_at(offset)) {
        if (place.value == value) return &place;
    }
    return nullptr;
}

std::vector<const Append*> PartitionHistory::appends_of(Value value) const {
    std::vector<const Append*> found;
    auto at = std::lower_bound(appends_by_value_.begin(), appends_by_value_.end(), by_value(value));
    for (; at != appends_by_value_.end() && at->first == value; ++at) found.push_back(&appends_[at->second]);
    return found;
}

bool PartitionHistory::acked_all(Value value) const {
    const std::vector<const Append*> appends = appends_of(value);
    return std::any_of(appends.begin(), appends.end(),
                       [](const Append* append) { return append->acked_all(); });
}

std::optional<Value> PartitionHistory::final_value_at(Offset offset) const {
    if (!final_) return std::nullopt;
    const auto less = [](const ReadRecord& record, Offset o) { return record.offset < o; };
    const auto found = std::lower_bound(final_->records.begin(), final_->records.end(), offset, less);
    if (found == final_->records.end() || found->offset != offset) return std::nullopt;
    return found->value;
}

class HistoryIndexer {
public:
    explicit HistoryIndexer(const History& history) : history_(history) {}

    std::map<std::int32_t, PartitionHistory> run() {
        std::vector<std::size_t> order(history_.operations.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        const auto earlier = [&](std::size_t a, std::size_t b) {
            const Operation& left = history_.operations[a];
            const Operation& right = history_.operations[b];
            return std::tie(left.invoked, left.completed, a) < std::tie(right.invoked, right.completed, b);
        };
        std::sort(order.begin(), order.end(), earlier);
        for (const std::size_t op : order) add(op, history_.operations[op]);
        for (auto& [number, partition] : partitions_) finish(partition);
        return std::move(partitions_);
    }

private:
    PartitionHistory& partition(std::int32_t number) {
        return partitions_.try_emplace(number, PartitionHistory(number)).first->second;
    }

    void add(std::size_t op, const Operation& operation) {
        std::visit(overloaded{[&](const Produce& produce) { add_append(op, operation, produce); },
                              [&](const Poll& poll) { add_read(op, operation, poll); },
                              [&](const ListOffsets& list) { partition(list.partition); },
                              [&](const Observe& observe) {
                                  PartitionHistory& into = partition(observe.partition);
                                  into.log_start_ = std::max(into.log_start_, observe.log_start);
                              },
                              [&](const OtherOp& other) { move_position(operation.client, other); },
                              [](const FaultOp&) {}, [](const Probe&) {}},
                   operation.what);
    }

    void add_append(std::size_t op, const Operation& operation, const Produce& produce) {
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
        append.sequence = produce.sequence;
        partition(produce.partition).appends_.push_back(append);
    }

    void add_read(std::size_t op, const Operation& operation, const Poll& poll) {
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

    /// The last complete pass of a final reader over the log. Replicas may be read too: the leader's counts.
    /// Returns the operations of that pass.
    static std::vector<std::size_t> find_final(PartitionHistory& partition) {
        std::map<std::int32_t, std::vector<const Read*>> passes;  // by client, the pass under way
        std::vector<const Read*> chosen;
        for (const Read& read : partition.reads_) {
            if (!read.poll->final) continue;
            std::vector<const Read*>& pass = passes[read.client];
            const bool again =
                !pass.empty() && (pass.back()->poll->complete ||
                                  (read.from != kUnknownOffset && read.from < pass.back()->end));
            if (again) pass.clear();
            pass.push_back(&read);
            if (!read.poll->complete) continue;
            const bool leaders = !read.poll->from_follower;
            if (chosen.empty() || leaders || chosen.back()->poll->from_follower) chosen = pass;
        }
        if (chosen.empty()) return {};
        FinalLog log;
        log.op = chosen.back()->op;
        log.invoked = chosen.front()->invoked;
        log.completed = chosen.back()->completed;
        log.log_start = std::max(chosen.front()->poll->from, Offset{0});
        for (const Read* read : chosen) {
            if (read->poll->log_start != kUnknownOffset) log.log_start = read->poll->log_start;
            log.records.insert(log.records.end(), read->poll->records.begin(), read->poll->records.end());
            log.end = std::max({log.end, read->end, read->poll->high_watermark});
        }
        std::stable_sort(log.records.begin(), log.records.end(),
                         [](const ReadRecord& a, const ReadRecord& b) { return a.offset < b.offset; });
        partition.log_start_ = std::max(partition.log_start_, log.log_start);
        partition.final_ = std::move(log);
        std::vector<std::size_t> ops;
        for (const Read* read : chosen) ops.push_back(read->op);
        return ops;
    }

    static void finish(PartitionHistory& partition) {
        const std::vector<std::size_t> final_ops = find_final(partition);
        std::vector<Sighting> sightings;
        for (const Append& append : partition.appends_) {
            if (append.offset == kUnknownOffset) continue;
            const auto by = append.acked_all() ? Sighting::By::AckAll : Sighting::By::AckWeak;
            sightings.push_back({append.offset, append.value, append.op, by});
        }
        for (const Read& read : partition.reads_) {
            const bool final =
                read.poll->final && std::find(final_ops.begin(), final_ops.end(), read.op) != final_ops.end();
            // What only an incomplete final read saw was seen all the same.
            const auto by = final ? Sighting::By::Final : Sighting::By::Read;
            for (const ReadRecord& record : read.poll->records) {
                sightings.push_back({record.offset, record.value, read.op, by});
            }
        }
        partition.places_ = merged(std::move(sightings));
        for (std::uint32_t i = 0; i < partition.places_.size(); ++i) {
            partition.places_by_value_.emplace_back(partition.places_[i].value, i);
        }
        std::sort(partition.places_by_value_.begin(), partition.places_by_value_.end());
        for (std::uint32_t i = 0; i < partition.appends_.size(); ++i) {
            partition.appends_by_value_.emplace_back(partition.appends_[i].value, i);
        }
        std::sort(partition.appends_by_value_.begin(), partition.appends_by_value_.end());
    }

    const History& history_;
    std::map<std::int32_t, PartitionHistory> partitions_;
    std::map<std::pair<std::int32_t, std::int32_t>, Offset> positions_;  // client, partition
};

std::map<std::int32_t, PartitionHistory> index_history(const History& history) {
    return HistoryIndexer(history).run();
}

}  // namespace highwater::checker
