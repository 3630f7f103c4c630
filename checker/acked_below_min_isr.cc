// What min.insync.replicas promises: acked-below-min-isr (acks=all answered ok while the ISR, as the leader
// knew it, was too small), min-isr-not-refused (an acks=all append was written then), visible-under-min-isr
// (the high watermark moved then). Decided by the leader's own trace lines, or by exact observations; samples
// prove nothing between them.
#include <fmt/format.h>

#include <charconv>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

/// Before Kafka 3.7 the high watermark moved below min ISR too.
bool moves_below_min_isr(std::string_view broker) {
    constexpr std::string_view prefix = "kafka-";
    if (!broker.starts_with(prefix)) return false;
    broker.remove_prefix(prefix.size());
    const char* const end = broker.data() + broker.size();
    int major = 99;
    int minor = 99;
    const auto parsed = std::from_chars(broker.data(), end, major);
    if (parsed.ptr + 1 < end && *parsed.ptr == '.') std::from_chars(parsed.ptr + 1, end, minor);
    return major < 3 || (major == 3 && minor < 7);
}

class MinIsr {
public:
    MinIsr(const Context& context, Findings& findings, std::int32_t number)
        : context_(context), findings_(findings), number_(number), trace_(context.trace_of(number)) {}

    void check_trace() {
        for (const TraceEvent* line : trace_.of(TraceKind::Ack)) {
            // The maximal ISR decides: a member that is being added counts as soon as it holds the high
            // watermark back.
            const auto& isr = line->maximal_isr.empty() ? line->isr : line->maximal_isr;
            if (line->acks != -1 || line->error != 0 || !too_small(isr)) continue;
            add("acked-below-min-isr", *line, line->first,
                fmt::format("broker {} acked offsets {} to {} (acks=all) in epoch {} at {} with ISR {}, "
                            "below min ISR {}",
                            line->node, line->first, line->last, line->epoch, time_text(context_, line->at),
                            ids_text(isr), context_.effective_min_isr()));
        }
        for (const TraceEvent* line : trace_.of(TraceKind::Append)) {
            if (line->acks != -1 || !too_small(line->isr)) continue;
            add("min-isr-not-refused", *line, line->first,
                fmt::format("broker {} wrote an acks=all append at offset {} in epoch {} at {} with ISR {}, "
                            "below min ISR "
                            "{}; it must answer NOT_ENOUGH_REPLICAS",
                            line->node, line->first, line->epoch, time_text(context_, line->at),
                            ids_text(line->isr), context_.effective_min_isr()));
        }
        for (const TraceEvent* line : trace_.of(TraceKind::Hw)) {
            if (line->role != "leader" || line->to <= line->from || !too_small(line->isr)) continue;
            add("visible-under-min-isr", *line, line->from,
                fmt::format("broker {} moved its high watermark {} -> {} in epoch {} at {} with ISR {}, "
                            "below min ISR {}",
                            line->node, line->from, line->to, line->epoch, time_text(context_, line->at),
                            ids_text(line->isr), context_.effective_min_isr()),
                moves_below_min_isr(context_.meta.broker));
        }
    }

    /// Exact observations hold until the next one.
    void check_windows(const PartitionHistory& partition) {
        const std::vector<std::size_t> views = exact_views();
        for (const Append& append : partition.appends()) {
            if (!append.acked_all()) continue;
            const Observe* view = nullptr;
            bool alone = true;
            for (const std::size_t op : views) {
                const Operation& operation = context_.operation(op);
                if (operation.completed < append.invoked)
                    view = operation.as<Observe>();
                else if (operation.invoked <= append.completed)
                    alone = false;
            }
            if (view == nullptr || !alone || !below(*view)) continue;
            if (!findings_.count("acked-below-min-isr", false)) continue;
            Anomaly anomaly;
            anomaly.kind = "acked-below-min-isr";
            anomaly.partition = number_;
            anomaly.offset = append.offset;
            anomaly.value = append.value;
            anomaly.sentence = fmt::format("{} {} while the ISR was {}, below min ISR {}, all the time",
                                           record_text(append.offset, append.value),
                                           seen_text(context_, number_, append.offset, append.op),
                                           ids_text(*view->isr), context_.effective_min_isr());
            anomaly.operations = {append.op};
            findings_.sample(std::move(anomaly));
        }
    }

private:
    /// An empty list is a line that does not tell.
    [[nodiscard]] bool too_small(const std::vector<BrokerId>& isr) const {
        return !isr.empty() && static_cast<std::int32_t>(isr.size()) < context_.effective_min_isr();
    }

    [[nodiscard]] bool below(const Observe& view) const {
        std::int32_t wanted = context_.effective_min_isr();
        if (view.replicas) wanted = std::min(wanted, static_cast<std::int32_t>(view.replicas->size()));
        return static_cast<std::int32_t>(view.isr->size()) < wanted;
    }

    [[nodiscard]] std::vector<std::size_t> exact_views() const {
        std::vector<std::size_t> views;
        for (std::size_t op = 0; op < context_.history.operations.size(); ++op) {
            const auto* observe = context_.operation(op).as<Observe>();
            if (observe != nullptr && observe->partition == number_ && !observe->sampled && observe->isr) {
                views.push_back(op);
            }
        }
        std::stable_sort(views.begin(), views.end(), [&](std::size_t a, std::size_t b) {
            return context_.operation(a).completed < context_.operation(b).completed;
        });
        return views;
    }

    void add(const char* kind, const TraceEvent& line, Offset offset, std::string sentence,
             bool allowed = false) {
        if (!findings_.count(kind, allowed)) return;
        Anomaly anomaly;
        anomaly.kind = kind;
        anomaly.allowed = allowed;
        anomaly.partition = number_;
        anomaly.offset = offset;
        anomaly.sentence = std::move(sentence);
        const auto found = context_.partitions.find(number_);
        if (found != context_.partitions.end() && offset != kUnknownOffset) {
            for (const Place& place : found->second.places_at(offset)) {
                if (place.acked_op == Place::kNone) continue;
                const Operation& operation = context_.operation(place.acked_op);
                if (operation.invoked > line.at || operation.completed < line.at) continue;
                anomaly.value = place.value;
                anomaly.operations = {place.acked_op};
            }
        }
        findings_.sample(std::move(anomaly));
    }

    const Context& context_;
    Findings& findings_;
    std::int32_t number_;
    const PartitionTrace& trace_;
};

}  // namespace

void check_min_isr(const Context& context, Findings& findings) {
    for (const auto& [number, partition] : context.partitions) {
        MinIsr rule(context, findings, number);
        if (context.traced)
            rule.check_trace();
        else
            rule.check_windows(partition);
    }
}

}  // namespace highwater::checker
