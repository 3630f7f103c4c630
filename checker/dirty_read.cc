// dirty-read: a read returned a record that later was gone, and that nobody had acknowledged with acks=all
// ("visible means committed"); or a replica's own trace shows that it served records at or above its high
// watermark.
#include <fmt/format.h>

#include <set>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

void read_then_gone(const Context& context, Findings& findings, const PartitionHistory& partition,
                    const Place& place) {
    const std::int32_t number = partition.partition();
    const LossCause cause = explain_loss(context, number, place.offset, record_epoch(context, number, place));
    findings.evidence("read_then_lost");
    if (!findings.count("dirty-read", cause.allowed)) return;
    Anomaly anomaly;
    anomaly.kind = "dirty-read";
    anomaly.allowed = cause.allowed;
    anomaly.partition = number;
    anomaly.offset = place.offset;
    anomaly.value = place.value;
    const Instant read_at = context.operation(place.read_op).invoked;
    anomaly.sentence =
        fmt::format("{} {} but is not there any more; {}", record_text(place.offset, place.value),
                    seen_text(context, number, place.offset, place.read_op),
                    loss_text(context, number, place.offset, cause, read_at));
    anomaly.operations = {place.read_op};
    if (partition.final_log()) anomaly.operations.push_back(partition.final_log()->op);
    anomaly.context = surroundings(context, number, place.offset, cause, read_at);
    findings.sample(std::move(anomaly));
}

void check_serves(const Context& context, Findings& findings, std::int32_t number, std::set<Offset>& dirty) {
    for (const TraceEvent* serve : context.trace_of(number).of(TraceKind::Serve)) {
        if (serve->high_watermark == kUnknownOffset || serve->to <= serve->high_watermark) continue;
        for (Offset offset = std::max(serve->from, serve->high_watermark); offset < serve->to; ++offset) {
            if (!dirty.insert(offset).second || !findings.count("dirty-read", false)) continue;
            Anomaly anomaly;
            anomaly.kind = "dirty-read";
            anomaly.partition = number;
            anomaly.offset = offset;
            anomaly.sentence = fmt::format(
                "broker {} ({}, epoch {}) served offsets {} to {} to a consumer at {} while its high "
                "watermark was {}",
                serve->node, serve->role, serve->epoch, serve->from, serve->to - 1,
                time_text(context, serve->at), serve->high_watermark);
            findings.sample(std::move(anomaly));
        }
    }
}

}  // namespace

void check_dirty_read(const Context& context, Findings& findings) {
    for (const auto& [number, partition] : context.partitions) {
        std::set<Offset> dirty;
        for (const Place& place : partition.places()) {
            // Acknowledged with acks=all and gone is lost-committed. Without a final read a copy elsewhere
            // may live on.
            if (!place.read || place.acked_all) continue;
            if (!partition.final_log() && partition.acked_all(place.value)) continue;
            if (!is_gone(context, partition, place, false)) continue;
            dirty.insert(place.offset);
            read_then_gone(context, findings, partition, place);
        }
        check_serves(context, findings, number, dirty);
    }
}

}  // namespace highwater::checker
