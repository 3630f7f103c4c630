// stuck: after a proven heal no acks=all append succeeds in time, or the ISR does not become full.
// node-crashed: a process ended that no fault ended. The runner finds both out and records them as failed
// probes.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

void add(const Context& context, Findings& findings, const char* kind, std::size_t op, std::string sentence) {
    if (!findings.count(kind, false)) return;
    Anomaly anomaly;
    anomaly.kind = kind;
    anomaly.sentence =
        fmt::format("{} (known at {})", sentence, time_text(context, context.operation(op).completed));
    anomaly.operations = {op};
    findings.sample(std::move(anomaly));
}

/// The runner's word, alone or with how long it waited behind a colon.
bool is(const Probe& probe, std::string_view word) {
    return probe.detail == word || (probe.detail.starts_with(word) &&
                                    std::string_view(probe.detail).substr(word.size()).starts_with(": "));
}

/// Where a replica's log ends, and in which epoch, by its trace until then.
struct Standing {
    Offset log_end_offset = kUnknownOffset;
    LeaderEpoch epoch = kNoEpoch;
};
std::map<BrokerId, Standing> standings(const PartitionTrace& trace, Instant until) {
    std::vector<const TraceEvent*> lines;
    for (const TraceKind kind : {TraceKind::Role, TraceKind::Append, TraceKind::Truncate}) {
        for (const TraceEvent* line : trace.of(kind)) {
            if (line->at <= until) lines.push_back(line);
        }
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const TraceEvent* a, const TraceEvent* b) { return a->at < b->at; });
    std::map<BrokerId, Standing> known;
    for (const TraceEvent* line : lines) {
        const Offset end = line->kind == TraceKind::Truncate ? line->to : line->log_end_offset;
        known[line->node] = {.log_end_offset = end, .epoch = line->epoch};
    }
    return known;
}

/// Who leads with which ISR, and how far the replicas outside it are, where a trace tells.
std::string standing(const Context& context, std::size_t op) {
    const Instant until = context.operation(op).completed;
    std::string text;
    for (const auto& [number, partition] : context.partitions) {
        const PartitionTrace& trace = context.trace_of(number);
        const TraceEvent* decided = nullptr;
        for (const TraceEvent* line : trace.of(TraceKind::Partition)) {
            if (line->at <= until) decided = line;
        }
        if (decided == nullptr) continue;
        const std::map<BrokerId, Standing> known = standings(trace, until);
        text += fmt::format(": the ISR of leader {} (epoch {}) is {}", decided->leader, decided->epoch,
                            ids_text(decided->isr));
        if (const auto leader = known.find(decided->leader); leader != known.end())
            text += fmt::format(", LEO {}", leader->second.log_end_offset);
        const std::map<BrokerId, std::string> partings = log_partings(context, number);
        for (const auto& [node, where] : known) {
            if (std::find(decided->isr.begin(), decided->isr.end(), node) != decided->isr.end()) continue;
            text += fmt::format("; broker {} is outside with LEO {}, in epoch {}", node, where.log_end_offset,
                                where.epoch);
            if (const auto parts = partings.find(node); parts != partings.end()) text += ", " + parts->second;
        }
        break;
    }
    return text;
}

}  // namespace

void check_stuck(const Context& context, Findings& findings) {
    std::vector<std::size_t> failed;
    for (std::size_t op = 0; op < context.history.operations.size(); ++op) {
        const auto* probe = context.operation(op).as<Probe>();
        // A failed probe of a path is the proof that its fault works.
        if (probe != nullptr && !probe->ok && probe->source == kNoBroker) failed.push_back(op);
    }
    for (const std::size_t op : failed) {
        const auto& probe = *context.operation(op).as<Probe>();
        if (probe.detail.starts_with("node-crashed")) {
            add(context, findings, "node-crashed", op,
                "a process ended that no fault ended: " + probe.detail);
        } else if (!is(probe, "progress") && !is(probe, "isr-full")) {
            findings.reason("not-healed",
                            fmt::format("after the heal this did not answer: {}", probe.detail));
        }
    }
    // A cluster that nobody proved to be healed may well stand still.
    if (findings.has_reason("not-healed")) return;
    for (const std::size_t op : failed) {
        const auto& probe = *context.operation(op).as<Probe>();
        if (is(probe, "progress")) {
            add(context, findings, "stuck", op,
                "after the heal no acks=all append succeeded within the bound" + standing(context, op));
        } else if (is(probe, "isr-full")) {
            add(context, findings, "stuck", op,
                "after the heal the ISR did not become full within the bound" + standing(context, op));
        }
    }
}

}  // namespace highwater::checker
