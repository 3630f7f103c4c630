// unclean-election: a leader was chosen that was neither in the ISR nor eligible. A violation while unclean
// election is disabled, except that of the last known leader (last-known-leader-election): with nobody in
// sync or eligible any more, eligible leader replicas call for it.
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
            const bool last_known = election.last_known_leader && context.meta.elr;
            const char* const kind = last_known ? "last-known-leader-election" : "unclean-election";
            const bool allowed = last_known || context.meta.unclean;
            findings.evidence(kind);
            if (!findings.count(kind, allowed)) continue;
            Anomaly anomaly;
            anomaly.kind = kind;
            anomaly.allowed = allowed;
            anomaly.partition = number;
            anomaly.sentence =
                last_known
                    ? fmt::format(
                          "broker {}, which led last, was elected in epoch {} at {}, "
                          "with nobody in the ISR or eligible",
                          election.leader, election.epoch, time_text(context, election.at))
                    : fmt::format(
                          "broker {} was elected uncleanly in epoch {} at {}{}{}", election.leader,
                          election.epoch, time_text(context, election.at),
                          outside(context.trace_of(number), election),
                          context.meta.unclean ? "" : ", though unclean.leader.election.enable is false");
            if (election.op != Place::kNone) anomaly.operations = {election.op};
            findings.sample(std::move(anomaly));
        }
    }
}

}  // namespace highwater::checker
