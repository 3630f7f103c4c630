// unclean-election: a leader was chosen from outside the ISR. A violation while unclean election is disabled.
#include <fmt/format.h>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

/// From which ISR it was missing, where a trace tells.
std::string outside(const PartitionTrace& trace, const Election& election) {
    const TraceEvent* before = nullptr;
    for (const TraceEvent* line : trace.of(TraceKind::Partition)) {
        if (line->epoch < election.epoch) before = line;
    }
    return before == nullptr ? "" : fmt::format(", outside the ISR {}", ids_text(before->isr));
}

}  // namespace

void check_unclean_election(const Context& context, Findings& findings) {
    for (const auto& [number, partition] : context.partitions) {
        for (const Election& election : context.trace_of(number).elections()) {
            if (!election.unclean) continue;
            findings.evidence("unclean-election");
            if (!findings.count("unclean-election", context.meta.unclean)) continue;
            Anomaly anomaly;
            anomaly.kind = "unclean-election";
            anomaly.allowed = context.meta.unclean;
            anomaly.partition = number;
            anomaly.sentence = fmt::format(
                "broker {} was elected uncleanly in epoch {} at {}{}{}", election.leader, election.epoch,
                time_text(context, election.at), outside(context.trace_of(number), election),
                context.meta.unclean ? "" : ", though unclean.leader.election.enable is false");
            if (election.op != Place::kNone) anomaly.operations = {election.op};
            findings.sample(std::move(anomaly));
        }
    }
}

}  // namespace highwater::checker
