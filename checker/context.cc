// The context of a check, and the two questions most properties ask: is this record gone, and which election
// took it.
#include "checker/context.h"

#include <set>

namespace highwater::checker {

Context::Context(const CheckInput& given)
    : input(given), history(given.history), meta(given.history.meta), traced(given.trace != nullptr) {
    bool first = true;
    for (const Operation& operation : history.operations) {
        start = first ? operation.invoked : std::min(start, operation.invoked);
        end = first ? operation.completed : std::max(end, operation.completed);
        first = false;
    }
    partitions = index_history(history);
    traces_ = index_trace(history, input.trace, end);
    for (const auto& [number, trace] : traces_) partitions.try_emplace(number, PartitionHistory(number));
}

const PartitionTrace& Context::trace_of(std::int32_t partition) const {
    static const PartitionTrace none;
    const auto found = traces_.find(partition);
    return found == traces_.end() ? none : found->second;
}

std::string Context::client_name(std::size_t op) const {
    const std::int32_t client = operation(op).client;
    const bool known = client >= 0 && static_cast<std::size_t>(client) < history.clients.size();
    return known ? history.clients[static_cast<std::size_t>(client)] : "";
}

bool beyond_promise(const Context& context, std::int32_t partition, const Election& election) {
    if (!election.last_known_leader || !context.traced) return false;
    Instant whole;
    for (const TraceEvent* line : context.trace_of(partition).of(TraceKind::Partition)) {
        if (line->at < election.at && std::ssize(line->isr) >= context.effective_min_isr()) whole = line->at;
    }
    std::set<BrokerId> unclean;
    for (const TraceEvent& line : context.input.trace->events) {
        const bool since = line.at > whole && line.at <= election.at;
        if (line.kind == TraceKind::Register && since && !line.clean) unclean.insert(line.broker);
    }
    return std::ssize(unclean) >= context.effective_min_isr();
}

LossCause explain_loss(const Context& context, std::int32_t partition, Offset offset,
                       std::optional<LeaderEpoch> record_epoch) {
    LossCause cause;
    cause.record_epoch = record_epoch;
    const PartitionTrace& trace = context.trace_of(partition);
    if (!record_epoch) {
        // No epoch to look up: any unclean election explains it.
        for (const Election& election : trace.elections()) {
            if (election.unclean && cause.unclean == nullptr) cause.unclean = &election;
        }
        cause.allowed = context.meta.unclean && cause.unclean != nullptr;
        return cause;
    }
    bool held = true;  // by the leader of its own epoch
    LeaderEpoch holder = *record_epoch;
    for (const Leadership& leadership : trace.leaderships()) {
        if (leadership.epoch <= *record_epoch) continue;
        const auto range = leadership.table.range(*record_epoch, leadership.log_end_offset);
        const bool holds = range && range->first <= offset && offset < range->second;
        if (held && !holds) {
            cause.lacking = &leadership;
            cause.holder_epoch = holder;
        }
        held = holds;
        holder = leadership.epoch;
    }
    // A loss after the last leader took office is nobody's election.
    if (held) cause.lacking = nullptr;
    if (cause.lacking != nullptr) {
        cause.unclean = trace.unclean_between(cause.holder_epoch, cause.lacking->epoch);
        for (const DataLoss& loss : trace.losses()) {
            const bool theirs = loss.node == cause.lacking->node && loss.at <= cause.lacking->at;
            const bool took = loss.to <= offset && offset < loss.from;
            if (!theirs || !took || loss.fault == kNoOp) continue;
            const bool elected = cause.unclean != nullptr && cause.unclean->leader == loss.node;
            if (context.meta.elr ? elected && beyond_promise(context, partition, *cause.unclean)
                                 : loss.sole_in_sync)
                cause.expected = true;
        }
    }
    cause.allowed = cause.expected || (context.meta.unclean && cause.unclean != nullptr);
    return cause;
}

std::optional<LeaderEpoch> record_epoch(const Context& context, std::int32_t partition, Offset offset,
                                        std::size_t op) {
    if (!context.traced || op == Place::kNone) return std::nullopt;
    const PartitionTrace& trace = context.trace_of(partition);
    const Operation& operation = context.operation(op);
    if (const auto* produce = operation.as<Produce>()) {
        const TraceEvent* line =
            trace.ack_line(offset, produce->broker, operation.invoked, operation.completed);
        if (line != nullptr && line->epoch != kNoEpoch) return line->epoch;
        // Who watches from outside hears the answer, and sees the epoch in the file.
        return trace.epoch_in_file(offset, produce->broker, operation.invoked);
    } else if (const auto* poll = operation.as<Poll>()) {
        const TraceEvent* line =
            trace.serve_line(offset, poll->broker, operation.invoked, operation.completed);
        const Leadership* leader = line == nullptr ? nullptr : trace.leadership(line->epoch);
        if (leader != nullptr) return leader->table.epoch_at(offset);
    }
    return std::nullopt;
}

std::optional<LeaderEpoch> record_epoch(const Context& context, std::int32_t partition, const Place& place) {
    const std::optional<LeaderEpoch> acked = record_epoch(context, partition, place.offset, place.acked_op);
    return acked ? acked : record_epoch(context, partition, place.offset, place.read_op);
}

bool is_gone(const Context& context, const PartitionHistory& partition, const Place& place,
             bool absence_proves) {
    if (place.offset < partition.log_start()) return false;
    if (partition.final_log()) return !place.final;
    const Instant known = context.operation(place.any_op()).completed;
    for (const Read& read : partition.reads()) {
        // An earlier read may show what was at the offset before, in an unclean run.
        if (read.invoked < known || read.from > place.offset || read.end <= place.offset) continue;
        bool same = false;
        bool other = false;
        for (const ReadRecord& record : read.poll->records) {
            if (record.offset != place.offset) continue;
            (record.value == place.value ? same : other) = true;
        }
        if (!same && (other || absence_proves)) return true;
    }
    return false;
}

}  // namespace highwater::checker
