// Builds PartitionTrace from trace lines, or from observations where there is no trace.
#include "checker/trace_index.h"

#include <fmt/format.h>

#include <algorithm>

namespace highwater::checker {

EpochTable::EpochTable(std::vector<OffsetAndEpoch> entries) : entries_(std::move(entries)) {
    std::sort(entries_.begin(), entries_.end(),
              [](const OffsetAndEpoch& a, const OffsetAndEpoch& b) { return a.epoch < b.epoch; });
}

void EpochTable::add(OffsetAndEpoch entry) {
    if (entries_.empty() || entries_.back().epoch < entry.epoch) entries_.push_back(entry);
}

std::optional<std::pair<Offset, Offset>> EpochTable::range(LeaderEpoch epoch, Offset log_end) const {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (entries_[i].epoch != epoch) continue;
        return std::pair{entries_[i].offset, i + 1 < entries_.size() ? entries_[i + 1].offset : log_end};
    }
    return std::nullopt;
}

std::optional<LeaderEpoch> EpochTable::epoch_at(Offset offset) const {
    std::optional<LeaderEpoch> found;
    for (const OffsetAndEpoch& entry : entries_) {
        if (entry.offset <= offset) found = entry.epoch;
    }
    return found;
}

std::string EpochTable::to_string() const {
    std::string text;
    for (const OffsetAndEpoch& entry : entries_) {
        text += fmt::format("{}{} from {}", text.empty() ? "" : ", ", entry.epoch, entry.offset);
    }
    return text;
}

bool PartitionTrace::unclean_seen() const {
    return std::any_of(elections_.begin(), elections_.end(), [](const Election& e) { return e.unclean; });
}

const Election* PartitionTrace::unclean_between(LeaderEpoch after, LeaderEpoch until) const {
    for (const Election& election : elections_) {
        if (election.unclean && election.epoch > after && election.epoch <= until) return &election;
    }
    return nullptr;
}

const Leadership* PartitionTrace::leadership(LeaderEpoch epoch) const {
    for (const Leadership& leadership : leaderships_) {
        if (leadership.epoch == epoch) return &leadership;
    }
    return nullptr;
}

const Leadership* PartitionTrace::last_leadership(Instant until) const {
    const Leadership* last = nullptr;
    for (const Leadership& leadership : leaderships_) {
        if (leadership.at <= until) last = &leadership;
    }
    return last;
}

const DataLoss* PartitionTrace::loss_at(const TraceEvent& line) const {
    for (const DataLoss& loss : losses_) {
        if (loss.node == line.node && loss.at == line.at && loss.sequence == line.sequence) return &loss;
    }
    return nullptr;
}

const TraceEvent* PartitionTrace::ack_line(Offset offset, BrokerId broker, Instant from, Instant to) const {
    const auto above = [](Offset o, const TraceEvent* event) { return o < event->first; };
    auto at = std::upper_bound(acks_by_offset_.begin(), acks_by_offset_.end(), offset, above);
    while (at != acks_by_offset_.begin()) {
        const TraceEvent* event = *--at;
        if (offset - event->first >= longest_ack_) return nullptr;
        const bool theirs = broker == kNoBroker || event->node == broker;
        if (theirs && event->last >= offset && event->at >= from && event->at <= to) return event;
    }
    return nullptr;
}

std::optional<LeaderEpoch> PartitionTrace::epoch_in_file(Offset offset, BrokerId broker, Instant from) const {
    const auto above = [](Offset o, const TraceEvent* event) { return o < event->first; };
    auto at = std::upper_bound(written_by_offset_.begin(), written_by_offset_.end(), offset, above);
    const TraceEvent* first = nullptr;
    while (at != written_by_offset_.begin()) {
        const TraceEvent* event = *--at;
        if (offset - event->first >= longest_write_) break;
        const bool theirs = event->node == broker && offset < event->log_end_offset && event->at >= from;
        if (theirs && (first == nullptr || event->at < first->at)) first = event;
    }
    return first == nullptr ? std::nullopt : std::optional(first->epoch);
}

const TraceEvent* PartitionTrace::serve_line(Offset offset, BrokerId broker, Instant from, Instant to) const {
    const auto& serves = of(TraceKind::Serve);
    const auto before = [](const TraceEvent* event, Instant instant) { return event->at < instant; };
    auto at = std::lower_bound(serves.begin(), serves.end(), from, before);
    for (; at != serves.end() && (*at)->at <= to; ++at) {
        const bool theirs = broker == kNoBroker || (*at)->node == broker;
        if (theirs && (*at)->from <= offset && offset < (*at)->to) return *at;
    }
    return nullptr;
}

const std::vector<const TraceEvent*>& PartitionTrace::of(TraceKind kind) const {
    static const std::vector<const TraceEvent*> none;
    const auto found = by_kind_.find(kind);
    return found == by_kind_.end() ? none : found->second;
}

namespace {

bool takes_data(std::string_view kind) {
    return kind == "wipe" || kind == "power-loss" || kind.starts_with("lose-") || kind.starts_with("disk-") ||
           kind.starts_with("corrupt");
}

/// "2" or "1,2".
bool aims_at(std::string_view target, BrokerId node) {
    return fmt::format(",{},", target).find(fmt::format(",{},", node)) != std::string::npos;
}

}  // namespace

std::vector<OpIndex> faults_that_take_data(const History& history, BrokerId node, Instant from, Instant to) {
    std::vector<OpIndex> found;
    for (std::size_t op = 0; op < history.operations.size(); ++op) {
        const Operation& operation = history.operations[op];
        const auto* fault = operation.as<FaultOp>();
        const bool between = operation.completed >= from && operation.invoked <= to;
        if (fault != nullptr && between && fault->status == "ok" && takes_data(fault->kind) &&
            aims_at(fault->target, node))
            found.push_back(static_cast<OpIndex>(op));
    }
    return found;
}

/// Follows the log ends of a partition's replicas and remembers where one fell over a restart.
class LossFinder {
public:
    explicit LossFinder(const History& history) : history_(history) {}

    void look(const TraceEvent& event, std::vector<DataLoss>& losses) {
        if (event.kind == TraceKind::Partition) in_sync_.emplace_back(event.at, event.isr);
        if (event.kind == TraceKind::Truncate) set(event, event.to);
        if (event.kind == TraceKind::Append) set(event, event.log_end_offset);
        if (event.kind != TraceKind::Role) return;
        const auto known = ends_.find(event.node);
        if (known != ends_.end() && event.incarnation > known->second.incarnation &&
            event.log_end_offset < known->second.offset) {
            losses.push_back(loss(event, known->second));
        }
        set(event, event.log_end_offset);
    }

private:
    struct End {
        Offset offset = 0;
        std::int32_t incarnation = 0;
        Instant at;
    };

    void set(const TraceEvent& event, Offset end) { ends_[event.node] = {end, event.incarnation, event.at}; }

    [[nodiscard]] DataLoss loss(const TraceEvent& event, const End& before) const {
        DataLoss found{event.node, event.at, event.sequence, before.offset, event.log_end_offset};
        for (const OpIndex op : faults_that_take_data(history_, event.node, before.at, event.at)) {
            found.fault = op;
            for (const auto& [at, isr] : in_sync_) {
                if (at <= history_.operations[op].invoked)
                    found.sole_in_sync = isr == std::vector<BrokerId>{event.node};
            }
        }
        return found;
    }

    const History& history_;
    std::map<BrokerId, End> ends_;
    std::vector<std::pair<Instant, std::vector<BrokerId>>> in_sync_;
};

class TraceIndexer {
public:
    std::map<std::int32_t, PartitionTrace> run(const History& history, const Trace* trace, Instant until) {
        std::map<std::int32_t, LossFinder> losses;
        if (trace != nullptr) {
            for (const TraceEvent& event : trace->events) {
                if (event.at > until || event.partition < 0) continue;
                add(event);
                losses.try_emplace(event.partition, history)
                    .first->second.look(event, partitions_[event.partition].losses_);
            }
        }
        const bool traced = trace != nullptr;
        for (std::size_t op = 0; op < history.operations.size() && !traced; ++op) {
            if (const auto* observe = history.operations[op].as<Observe>()) {
                add_observed(op, history.operations[op].completed, *observe);
            }
        }
        for (auto& [number, partition] : partitions_) finish(partition);
        return std::move(partitions_);
    }

private:
    void add(const TraceEvent& event) {
        PartitionTrace& partition = partitions_[event.partition];
        partition.by_kind_[event.kind].push_back(&event);
        if (event.kind == TraceKind::Role && event.role == "leader") {
            Leadership leadership;
            leadership.node = event.node;
            leadership.incarnation = event.incarnation;
            leadership.epoch = event.epoch;
            leadership.at = event.at;
            leadership.log_end_offset = event.log_end_offset;
            leadership.high_watermark = event.high_watermark;
            leadership.table = EpochTable(event.table);
            const Offset start =
                event.epoch_start != kUnknownOffset ? event.epoch_start : event.log_end_offset;
            leadership.table.add({.offset = start, .epoch = event.epoch});
            partition.leaderships_.push_back(std::move(leadership));
        } else if (event.kind == TraceKind::Partition && (event.elected || event.unclean)) {
            Election election;
            election.at = event.at;
            election.epoch = event.epoch;
            election.leader = event.leader;
            election.unclean = event.unclean;
            election.last_known_leader =
                event.last_known_leader && event.elr.empty() && nobody_in_sync(partition);
            election.isr = event.isr;
            partition.elections_.push_back(std::move(election));
        } else if (event.kind == TraceKind::Ack && event.error == 0 && event.first != kUnknownOffset) {
            partition.acks_by_offset_.push_back(&event);
            partition.longest_ack_ = std::max(partition.longest_ack_, event.last - event.first + 1);
        } else if (event.kind == TraceKind::Append && event.outside && event.epoch != kNoEpoch) {
            partition.written_by_offset_.push_back(&event);
            partition.longest_write_ = std::max(partition.longest_write_, event.log_end_offset - event.first);
        }
    }

    /// Before the line that was added last.
    static bool nobody_in_sync(const PartitionTrace& partition) {
        const auto& lines = partition.of(TraceKind::Partition);
        return lines.size() > 1 && lines[lines.size() - 2]->isr.empty();
    }

    /// Without a trace, elections are what observers tell: a new leader or epoch.
    void add_observed(std::size_t op, Instant at, const Observe& observe) {
        if (!observe.leader && !observe.unclean) return;
        PartitionTrace& partition = partitions_[observe.partition];
        Election election;
        election.at = at;
        election.epoch = observe.epoch.value_or(kNoEpoch);
        election.leader = observe.leader.value_or(kNoBroker);
        election.unclean = observe.unclean.value_or(false);
        election.isr = observe.isr.value_or(std::vector<BrokerId>{});
        election.op = op;
        for (Election& known : partition.elections_) {
            if (known.epoch != election.epoch || known.leader != election.leader) continue;
            known.unclean = known.unclean || election.unclean;
            return;
        }
        partition.elections_.push_back(std::move(election));
    }

    static void finish(PartitionTrace& partition) {
        const auto by_first = [](const TraceEvent* a, const TraceEvent* b) { return a->first < b->first; };
        std::stable_sort(partition.leaderships_.begin(), partition.leaderships_.end(),
                         [](const Leadership& a, const Leadership& b) { return a.epoch < b.epoch; });
        std::stable_sort(partition.elections_.begin(), partition.elections_.end(),
                         [](const Election& a, const Election& b) { return a.at < b.at; });
        std::stable_sort(partition.acks_by_offset_.begin(), partition.acks_by_offset_.end(), by_first);
        std::stable_sort(partition.written_by_offset_.begin(), partition.written_by_offset_.end(), by_first);
    }

    std::map<std::int32_t, PartitionTrace> partitions_;
};

std::map<std::int32_t, PartitionTrace> index_trace(const History& history, const Trace* trace,
                                                   Instant until) {
    return TraceIndexer().run(history, trace, until);
}

}  // namespace highwater::checker
