// duplicate: one value at two offsets. A violation with idempotence, or if the client never retried; else
// at-least-once delivery, counted.
#include <fmt/format.h>

#include <algorithm>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

/// One copy went in an allowed unclean election before the other was written.
bool explained(const Context& context, const PartitionHistory& partition, const Selection<Place>& places) {
    if (!context.meta.unclean || !partition.final_log()) return false;
    const auto lives =
        std::count_if(places.begin(), places.end(), [](const Place* place) { return place->final; });
    return lives <= 1 && std::any_of(places.begin(), places.end(), [&](const Place* place) {
               return !place->final && explain_loss(context, partition.partition(), place->offset,
                                                    record_epoch(context, partition.partition(), *place))
                                           .allowed;
           });
}

}  // namespace

void check_duplicate(const Context& context, Findings& findings) {
    const bool may_retry = !context.meta.idempotence && context.meta.retries > 0;
    for (const auto& [number, partition] : context.partitions) {
        for (const std::uint32_t lowest : partition.copied()) {
            const Place& place = partition.places()[lowest];
            const Selection<Place> places = partition.places_of(place.value);
            const bool allowed = may_retry || explained(context, partition, places);
            if (!findings.count("duplicate", allowed)) continue;
            const Place& second = *places[1];
            Anomaly anomaly;
            anomaly.kind = "duplicate";
            anomaly.allowed = allowed;
            anomaly.partition = number;
            anomaly.offset = second.offset;
            anomaly.value = place.value;
            anomaly.sentence = fmt::format(
                "{} sits at {} offsets: at {} it {}, at {} it {}", value_text(place.value), places.size(),
                place.offset, seen_text(context, number, place.offset, place.any_op()), second.offset,
                seen_text(context, number, second.offset, second.any_op()));
            for (const Place* each : places) anomaly.operations.push_back(each->any_op());
            findings.sample(std::move(anomaly));
        }
    }
}

}  // namespace highwater::checker
