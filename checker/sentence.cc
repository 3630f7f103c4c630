// Sentences and surroundings of anomalies.
#include "checker/sentence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace highwater::checker {
namespace {

constexpr Offset kNeighbours = 3;
constexpr std::size_t kMostTruncations = 2;
constexpr std::size_t kMostFaults = 8;

void join(std::string& text, const std::string& part) {
    if (part.empty()) return;
    text += text.empty() ? part : "; " + part;
}

std::string log_end_text(const PartitionTrace& trace, LeaderEpoch epoch) {
    const Leadership* leadership = trace.leadership(epoch);
    return leadership == nullptr ? "" : fmt::format(" with LEO {}", leadership->log_end_offset);
}

std::string election_text(const Context& context, std::int32_t partition, const LossCause& cause) {
    const PartitionTrace& trace = context.trace_of(partition);
    if (cause.unclean != nullptr) {
        const Election& election = *cause.unclean;
        return fmt::format("broker {} was elected uncleanly in epoch {} at {}{}", election.leader,
                           election.epoch, time_text(context, election.at),
                           log_end_text(trace, election.epoch));
    }
    if (cause.lacking != nullptr) {
        return fmt::format("broker {} took office in epoch {} at {}{} without any unclean election",
                           cause.lacking->node, cause.lacking->epoch, time_text(context, cause.lacking->at),
                           log_end_text(trace, cause.lacking->epoch));
    }
    return "";
}

std::string final_text(const Context& context, std::int32_t partition, Offset offset) {
    const auto found = context.partitions.find(partition);
    if (found == context.partitions.end() || !found->second.final_log()) return "";
    const PartitionHistory& history = found->second;
    if (offset == kUnknownOffset) return "the final log does not have it";
    if (offset >= history.final_log()->end)
        return fmt::format("the final log ends at {}", history.final_log()->end);
    const std::optional<Value> instead = history.final_value_at(offset);
    return instead ? fmt::format("the final log has {} there", value_text(*instead))
                   : std::string("the final log has nothing there");
}

std::string produce_text(const Context& context, std::int32_t partition, Offset offset,
                         const Operation& operation, const Produce& produce) {
    const TraceEvent* line =
        context.trace_of(partition).ack_line(offset, produce.broker, operation.invoked, operation.completed);
    const std::int16_t acks = acks_of(produce, context.meta);
    const std::string how = acks == -1 ? "" : fmt::format(" with acks={}", acks);
    if (line != nullptr && !line->outside) {
        return fmt::format("was acked{} by broker {} in epoch {} at {} with ISR {}", how, line->node,
                           line->epoch, time_text(context, line->at), ids_text(line->isr));
    }
    const std::string who = produce.broker == kNoBroker ? "" : fmt::format(" by broker {}", produce.broker);
    const auto epoch = context.trace_of(partition).epoch_in_file(offset, produce.broker, operation.invoked);
    return fmt::format("was acked{}{}{} at {}", how.empty() ? " with acks=all" : how, who,
                       epoch ? fmt::format(" in epoch {}", *epoch) : std::string(),
                       time_text(context, operation.completed));
}

}  // namespace

std::string time_text(const Context& context, Instant at) {
    return fmt::format("{:.2f} s", to_seconds(at - context.start));
}

std::string ids_text(const std::vector<BrokerId>& ids) { return fmt::format("{{{}}}", fmt::join(ids, ",")); }

std::string record_text(Offset offset, Value value) {
    if (offset == kUnknownOffset) return value_text(value);
    return value == 0 ? fmt::format("offset {}", offset)
                      : fmt::format("offset {} ({})", offset, value_text(value));
}

std::string seen_text(const Context& context, std::int32_t partition, Offset offset, std::size_t op) {
    const Operation& operation = context.operation(op);
    if (const auto* produce = operation.as<Produce>()) {
        return produce_text(context, partition, offset, operation, *produce);
    }
    std::string from;
    if (const auto* poll = operation.as<Poll>(); poll != nullptr && poll->broker != kNoBroker) {
        from = fmt::format(" from broker {}", poll->broker);
    }
    return fmt::format("was read by {}{} at {}", context.client_name(op), from,
                       time_text(context, operation.completed));
}

std::string loss_text(const Context& context, std::int32_t partition, Offset offset, const LossCause& cause,
                      Instant since) {
    std::string text = election_text(context, partition, cause);
    std::size_t told = 0;
    for (const TraceEvent* cut : context.trace_of(partition).of(TraceKind::Truncate)) {
        if (cut->at < since || offset < cut->to || offset >= cut->from || told == kMostTruncations) continue;
        ++told;
        join(text, fmt::format("broker {} truncated {} -> {} at {}", cut->node, cut->from, cut->to,
                               time_text(context, cut->at)));
    }
    if (told == 0) join(text, final_text(context, partition, offset));
    return text;
}

std::string loss_story(const Context& context, std::int32_t partition, const Place& place,
                       const LossCause& cause) {
    const std::size_t op = place.any_op();
    std::string text =
        record_text(place.offset, place.value) + " " + seen_text(context, partition, place.offset, op);
    if (place.acked_op != Place::kNone && place.read_op != Place::kNone) {
        text += fmt::format(" and {}", seen_text(context, partition, place.offset, place.read_op));
    }
    join(text, loss_text(context, partition, place.offset, cause, context.operation(op).invoked));
    return text;
}

std::vector<std::string> surroundings(const Context& context, std::int32_t partition, Offset offset,
                                      const LossCause& cause, Instant since) {
    std::vector<std::string> lines;
    const auto found = context.partitions.find(partition);
    if (offset != kUnknownOffset && found != context.partitions.end() && found->second.final_log()) {
        std::string records;
        for (Offset o = std::max(offset - kNeighbours, Offset{0}); o <= offset + kNeighbours; ++o) {
            const std::optional<Value> value = found->second.final_value_at(o);
            if (value) records += fmt::format(" {}={}", o, value_text(*value));
        }
        lines.push_back(fmt::format("final log around it:{}; it ends at {}",
                                    records.empty() ? " nothing" : records, found->second.final_log()->end));
    }
    if (cause.record_epoch) lines.push_back(fmt::format("record of leader epoch {}", *cause.record_epoch));
    if (cause.lacking != nullptr) {
        lines.push_back(fmt::format("epochs of broker {} as it took office in epoch {}: {}; LEO {}",
                                    cause.lacking->node, cause.lacking->epoch,
                                    cause.lacking->table.to_string(), cause.lacking->log_end_offset));
    }
    // A fault that began a little before may be what did it.
    const Instant from = since - seconds(10);
    for (const Operation& operation : context.history.operations) {
        const auto* fault = operation.as<FaultOp>();
        if (fault == nullptr || operation.completed < from || lines.size() >= kMostFaults) continue;
        lines.push_back(fmt::format("fault {} {} at {}: {}", fault->kind, fault->target,
                                    time_text(context, operation.invoked), fault->status));
    }
    return lines;
}

}  // namespace highwater::checker
