// acked-below-min-isr by what can be seen from outside: the ISR that a leader logged as its own (its "ISR
// updated to" and its taking office), and what clients were told. The broker's clock is that of the history
// up to kClockError. An acknowledgement also counts with a member that the leader is adding, before anybody
// is told: so it is judged only if the controller adds nobody for kPending after it.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

constexpr Duration kClockError = milliseconds(50);
constexpr Duration kPending = seconds(1);

class OutsideMinIsr {
public:
    OutsideMinIsr(const Context& context, Findings& findings, std::int32_t number)
        : context_(context), findings_(findings), number_(number) {
        for (const TraceEvent& line : context.input.trace->events) {
            if (!line.outside) continue;
            const bool starts = line.kind == TraceKind::Start;
            const bool tells = line.kind == TraceKind::Role || line.kind == TraceKind::IsrCommitted;
            if (starts || (tells && line.partition == number)) told_[line.node].push_back(&line);
        }
    }

    void check(const PartitionHistory& partition) {
        for (const Append& append : partition.appends()) {
            if (append.acked_all() && append.broker != kNoBroker) check(append);
        }
    }

private:
    [[nodiscard]] bool too_small(const std::vector<BrokerId>& isr) const {
        return !isr.empty() && static_cast<std::int32_t>(isr.size()) < context_.effective_min_isr();
    }

    void check(const Append& append) {
        const std::vector<const TraceEvent*>& lines = told_[append.broker];
        const auto later = std::partition_point(lines.begin(), lines.end(), [&](const TraceEvent* line) {
            return line->at + kClockError <= append.invoked;
        });
        if (later == lines.begin()) return;
        const TraceEvent& last = **std::prev(later);
        const bool leads = last.kind == TraceKind::IsrCommitted || last.role == "leader";
        if (!leads || last.kind == TraceKind::Start || !too_small(last.isr)) return;
        if (later != lines.end() && (*later)->at <= append.completed + kClockError) return;
        for (const TraceEvent* decision : context_.trace_of(number_).of(TraceKind::Partition)) {
            // A leader that hears of a larger ISR from the metadata log first does not always log it.
            const bool near =
                decision->at + kClockError >= last.at && decision->at <= append.completed + kPending;
            if (near && !too_small(decision->isr)) return;
        }
        report(append, last);
    }

    void report(const Append& append, const TraceEvent& known) {
        if (!findings_.count("acked-below-min-isr", false)) return;
        Anomaly anomaly;
        anomaly.kind = "acked-below-min-isr";
        anomaly.partition = number_;
        anomaly.offset = append.offset;
        anomaly.value = append.value;
        anomaly.operations = {append.op};
        anomaly.sentence = fmt::format(
            "{} {}, but the ISR that broker {} had logged at {} was {}, below min ISR {}, all the time",
            record_text(append.offset, append.value), seen_text(context_, number_, append.offset, append.op),
            append.broker, time_text(context_, known.at), ids_text(known.isr), context_.effective_min_isr());
        findings_.sample(std::move(anomaly));
    }

    const Context& context_;
    Findings& findings_;
    std::int32_t number_;
    /// What each broker told of its ISR, and its starts, by time.
    std::map<BrokerId, std::vector<const TraceEvent*>> told_;
};

}  // namespace

void check_min_isr_outside(const Context& context, Findings& findings) {
    if (!context.traced) return;
    for (const auto& [number, partition] : context.partitions)
        OutsideMinIsr(context, findings, number).check(partition);
}

}  // namespace highwater::checker
