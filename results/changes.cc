#include "results/changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace highwater::results {
namespace {

struct State {
    BrokerId leader = kNoBroker;
    LeaderEpoch epoch = kNoEpoch;
    std::vector<BrokerId> isr;
    friend bool operator==(const State&, const State&) = default;
};

std::string step_text(const TraceEvent& event, const State& before, const State& now) {
    std::string text = event.partition == 0 ? "" : fmt::format("{}-{}: ", event.topic, event.partition);
    const std::string isr =
        now.isr.empty() ? std::string("ISR none") : fmt::format("ISR {}", fmt::join(now.isr, ","));
    if (now.leader == kNoBroker && before.leader != kNoBroker)
        text += fmt::format("no leader, epoch {}, {}", now.epoch, isr);
    else if (now.leader != before.leader || now.epoch != before.epoch)
        text += fmt::format("leader {} epoch {} {}", now.leader, now.epoch, isr);
    else
        text += isr;
    return text + fmt::format(" ({})", event.text);
}

}  // namespace

std::vector<std::string> leadership_changes(const Trace& trace) {
    std::vector<std::string> steps;
    std::map<std::pair<std::string, std::int32_t>, State> states;
    for (const TraceEvent& event : trace.events) {
        if (event.kind != TraceKind::Partition) continue;
        State now{event.leader, event.epoch, event.isr};
        std::sort(now.isr.begin(), now.isr.end());
        State& before = states[{event.topic, event.partition}];
        if (now == before) continue;
        steps.push_back(step_text(event, before, now));
        before = std::move(now);
    }
    return steps;
}

std::map<std::string, std::int64_t> error_codes(const History& history) {
    std::map<std::string, std::int64_t> counts;
    for (const Operation& operation : history.operations) {
        if (const auto* produce = operation.as<Produce>(); produce != nullptr && !produce->error.empty())
            ++counts[fmt::format("Produce {}", produce->error.view())];
        if (const auto* poll = operation.as<Poll>(); poll != nullptr && !poll->error.empty())
            ++counts[fmt::format("Fetch {}", poll->error.view())];
    }
    return counts;
}

}  // namespace highwater::results
