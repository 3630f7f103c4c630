// inconsistent-offset: two values at one offset that were both visible: read, acked with acks=all, or in the
// final log.
#include <fmt/format.h>

#include <algorithm>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

/// All but the surviving value went in an unclean election that is allowed, or with data that no log can
/// keep.
bool explained(const Context& context, const PartitionHistory& partition,
               const std::vector<const Place*>& visible, LossCause& cause) {
    std::size_t unexplained = 0;
    for (const Place* place : visible) {
        if (place->final) {
            ++unexplained;
            continue;
        }
        cause = explain_loss(context, partition.partition(), place->offset,
                             record_epoch(context, partition.partition(), *place));
        if (!cause.allowed) ++unexplained;
    }
    return unexplained <= 1;
}

void report(const Context& context, Findings& findings, const PartitionHistory& partition,
            const std::vector<const Place*>& visible) {
    LossCause cause;
    const bool allowed = explained(context, partition, visible, cause);
    if (!findings.count("inconsistent-offset", allowed)) return;
    Anomaly anomaly;
    anomaly.kind = "inconsistent-offset";
    anomaly.allowed = allowed;
    anomaly.partition = partition.partition();
    const Place& first = *visible[0];
    const Place& second = *visible[1];
    anomaly.offset = first.offset;
    anomaly.value = first.value;
    const auto told = [&](const Place& place) {
        return fmt::format("{} {}", value_text(place.value),
                           seen_text(context, partition.partition(), place.offset, place.any_op()));
    };
    anomaly.sentence = fmt::format("offset {} had {} values: {}, and {}", first.offset, visible.size(),
                                   told(first), told(second));
    for (const Place* place : visible) anomaly.operations.push_back(place->any_op());
    const Instant since = context.operation(first.any_op()).invoked;
    anomaly.context = surroundings(context, partition.partition(), first.offset, cause, since);
    findings.sample(std::move(anomaly));
}

}  // namespace

void check_inconsistent_offset(const Context& context, Findings& findings) {
    for (const auto& [number, partition] : context.partitions) {
        const std::vector<Place>& places = partition.places();
        std::vector<const Place*> visible;
        for (std::size_t i = 0; i < places.size();) {
            visible.clear();
            const Offset offset = places[i].offset;
            for (; i < places.size() && places[i].offset == offset; ++i) {
                if (places[i].visible()) visible.push_back(&places[i]);
            }
            if (visible.size() > 1) report(context, findings, partition, visible);
        }
    }
}

}  // namespace highwater::checker
