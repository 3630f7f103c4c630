// acked-not-visible: a leader acknowledged an append with acks=all and later, in the same epoch, served a
// consumer with a high watermark below it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

using Office = std::tuple<BrokerId, std::int32_t, LeaderEpoch>;
Office office_of(const TraceEvent& line) { return {line.node, line.incarnation, line.epoch}; }

void report(const Context& context, Findings& findings, const TraceEvent& ack, const TraceEvent& serve) {
    if (!findings.count("acked-not-visible", false)) return;
    Anomaly anomaly;
    anomaly.kind = "acked-not-visible";
    anomaly.partition = serve.partition;
    anomaly.offset = ack.last;
    anomaly.sentence = fmt::format(
        "broker {} acked offset {} (acks=all) in epoch {} at {}, but at {} it served a consumer with high "
        "watermark {}",
        ack.node, ack.last, ack.epoch, time_text(context, ack.at), time_text(context, serve.at),
        serve.high_watermark);
    findings.sample(std::move(anomaly));
}

}  // namespace

void check_acked_not_visible(const Context& context, Findings& findings) {
    for (const auto& [number, partition] : context.partitions) {
        const PartitionTrace& trace = context.trace_of(number);
        const auto& acks = trace.of(TraceKind::Ack);
        std::map<Office, const TraceEvent*> highest;
        std::size_t next = 0;
        for (const TraceEvent* serve : trace.of(TraceKind::Serve)) {
            for (; next < acks.size() && acks[next]->at < serve->at; ++next) {
                const TraceEvent& ack = *acks[next];
                if (ack.acks != -1 || ack.error != 0) continue;
                const TraceEvent*& known = highest[office_of(ack)];
                if (known == nullptr || ack.last > known->last) known = &ack;
            }
            const auto found = highest.find(office_of(*serve));
            if (serve->role != "leader" || serve->high_watermark == kUnknownOffset || found == highest.end())
                continue;
            if (serve->high_watermark <= found->second->last)
                report(context, findings, *found->second, *serve);
        }
    }
}

}  // namespace highwater::checker
