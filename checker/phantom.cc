// phantom: a value was read that nobody sent to this partition.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {

void check_phantom(const Context& context, Findings& findings) {
    // The append of a value may have been under way when the history was cut short.
    if (context.meta.preexisting || context.history.cut_short) return;
    std::set<Value> known(context.meta.preexisting_values.begin(), context.meta.preexisting_values.end());
    for (const auto& [number, partition] : context.partitions) {
        std::set<Value> told;
        for (const Place& place : partition.places()) {
            if (place.sent || !place.seen() || known.contains(place.value)) continue;
            if (!told.insert(place.value).second) continue;
            if (!findings.count("phantom", false)) continue;
            std::string elsewhere;
            for (const auto& [other, history] : context.partitions) {
                if (other != number && !history.appends_of(place.value).empty()) {
                    elsewhere = fmt::format("; it was sent to partition {}", other);
                }
            }
            Anomaly anomaly;
            anomaly.kind = "phantom";
            anomaly.partition = number;
            anomaly.offset = place.offset;
            anomaly.value = place.value;
            anomaly.sentence = fmt::format(
                "{} {}, but nobody sent it to partition {}{}", record_text(place.offset, place.value),
                seen_text(context, number, place.offset, place.read_op), number, elsewhere);
            anomaly.operations = {place.read_op};
            findings.sample(std::move(anomaly));
        }
    }
}

}  // namespace highwater::checker
