// aborted-read: a value was read whose append definitely failed: the broker said that it had not written it.
#include <fmt/format.h>

#include <set>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {

void check_aborted_read(const Context& context, Findings& findings) {
    for (const auto& [number, partition] : context.partitions) {
        std::set<Value> told;
        for (const Place& place : partition.places()) {
            if (!place.refused || !place.seen() || !told.insert(place.value).second ||
                !findings.count("aborted-read", false))
                continue;
            const Append& append = *partition.appends_of(place).front();
            const auto& produce = *context.operation(append.op).as<Produce>();
            Anomaly anomaly;
            anomaly.kind = "aborted-read";
            anomaly.partition = number;
            anomaly.offset = place.offset;
            anomaly.value = place.value;
            anomaly.sentence =
                fmt::format("{} was refused{}{} at {}, and yet {}", record_text(place.offset, place.value),
                            produce.error.empty() ? "" : " with ", produce.error.view(),
                            time_text(context, append.completed),
                            seen_text(context, number, place.offset, place.read_op));
            anomaly.operations = {append.op, place.read_op};
            findings.sample(std::move(anomaly));
        }
    }
}

}  // namespace highwater::checker
