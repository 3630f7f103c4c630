// hw-above-isr: whenever a leader's high watermark rises it must not pass its own log end, nor the fetch
// offset it knows of any member of ISR or pending addition. Computed here from the facts on the line, not
// from the node's own opinion.
#include <fmt/format.h>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

/// Who holds the high watermark back below `line.to`; nullopt if nobody does.
std::optional<TraceReplica> held_back_by(const TraceEvent& line) {
    if (line.log_end_offset != kUnknownOffset && line.to > line.log_end_offset) {
        return TraceReplica{.id = line.node, .log_end_offset = line.log_end_offset};
    }
    // A line without the replicas' progress tells nothing.
    if (line.replicas.empty()) return std::nullopt;
    std::vector<BrokerId> members = line.isr;
    if (line.pending_add) members.push_back(*line.pending_add);
    for (const BrokerId member : members) {
        if (member == line.node) continue;
        TraceReplica known{.id = member};
        for (const TraceReplica& replica : line.replicas) {
            if (replica.id == member) known = replica;
        }
        if (known.log_end_offset < line.to) return known;
    }
    return std::nullopt;
}

}  // namespace

void check_hw_above_isr(const Context& context, Findings& findings) {
    for (const auto& [number, partition] : context.partitions) {
        for (const TraceEvent* line : context.trace_of(number).of(TraceKind::Hw)) {
            if (line->role != "leader" || line->to <= line->from) continue;
            const std::optional<TraceReplica> member = held_back_by(*line);
            if (!member || !findings.count("hw-above-isr", false)) continue;
            Anomaly anomaly;
            anomaly.kind = "hw-above-isr";
            anomaly.partition = number;
            anomaly.offset = line->to;
            const std::string known =
                member->log_end_offset == kUnknownOffset
                    ? "nothing was known yet of"
                    : fmt::format("{} was the log end offset of", member->log_end_offset);
            anomaly.sentence = fmt::format(
                "broker {} raised its high watermark {} -> {} in epoch {} at {} with ISR {}{}, but {} broker "
                "{}",
                line->node, line->from, line->to, line->epoch, time_text(context, line->at),
                ids_text(line->isr),
                line->pending_add ? fmt::format(" and {} joining", *line->pending_add) : "", known,
                member->id);
            findings.sample(std::move(anomaly));
        }
    }
}

}  // namespace highwater::checker
