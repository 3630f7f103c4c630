// aborted-read: a value was read whose append definitely failed: the broker said that it had not written it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {

void check_aborted_read(const Context& context, Findings& findings) {
    for (const auto& [number, partition] : context.partitions) {
        std::set<Value> told;
        for (const Place& place : partition.places()) {
            if (!place.seen()) continue;
            const std::vector<const Append*> appends = partition.appends_of(place.value);
            const bool refused =
                !appends.empty() && std::all_of(appends.begin(), appends.end(),
                                                [](const Append* a) { return a->outcome == Outcome::Fail; });
            if (!refused || !told.insert(place.value).second || !findings.count("aborted-read", false))
                continue;
            const Append& append = *appends.front();
            const auto& produce = std::get<Produce>(context.operation(append.op).what);
            Anomaly anomaly;
            anomaly.kind = "aborted-read";
            anomaly.partition = number;
            anomaly.offset = place.offset;
            anomaly.value = place.value;
            anomaly.sentence = fmt::format(
                "{} was refused{}{} at {}, and yet {}", record_text(place.offset, place.value),
                produce.error.empty() ? "" : " with ", produce.error, time_text(context, append.completed),
                seen_text(context, number, place.offset, place.read_op));
            anomaly.operations = {append.op, place.read_op};
            findings.sample(std::move(anomaly));
        }
    }
}

}  // namespace highwater::checker
