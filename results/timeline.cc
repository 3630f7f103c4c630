// The report's time axis, from history, trace and fault records.
#include "results/timeline.h"

#include <algorithm>
#include <map>

namespace highwater::results {
namespace {

/// Does nothing when the value stays as it was.
void step(Steps& steps, Instant at, Offset value) {
    if (value == kUnknownOffset || (!steps.value.empty() && steps.value.back() == value)) return;
    steps.at.push_back(at);
    steps.value.push_back(value);
}

/// Keeps the first, lowest, highest and last point of each of kMostSteps / 4 equal stretches of time.
void thin(Steps& steps) {
    if (steps.at.size() <= kMostSteps) return;
    const std::int64_t span = (steps.at.back() - steps.at.front()).count() + 1;
    const auto stretches = static_cast<std::int64_t>(kMostSteps / 4);
    const std::int64_t width = std::max<std::int64_t>(span / stretches, 1);
    Steps kept;
    for (std::size_t from = 0; from < steps.at.size();) {
        const std::int64_t stretch = (steps.at[from] - steps.at.front()).count() / width;
        std::size_t to = from;
        while (to < steps.at.size() && (steps.at[to] - steps.at.front()).count() / width == stretch) ++to;
        const auto begin = steps.value.begin();
        const auto first = begin + static_cast<std::ptrdiff_t>(from);
        const auto last = begin + static_cast<std::ptrdiff_t>(to);
        std::vector<std::size_t> chosen{from, static_cast<std::size_t>(std::min_element(first, last) - begin),
                                        static_cast<std::size_t>(std::max_element(first, last) - begin),
                                        to - 1};
        std::sort(chosen.begin(), chosen.end());
        chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
        for (const std::size_t i : chosen) {
            kept.at.push_back(steps.at[i]);
            kept.value.push_back(steps.value[i]);
        }
        from = to;
    }
    steps = std::move(kept);
}

class Builder {
public:
    Builder(const History& history, const Trace* trace) : history_(history), trace_(trace) {}

    Timeline build(const std::vector<FaultRecord>& faults) {
        find_span();
        if (trace_ != nullptr) {
            for (const TraceEvent& event : trace_->events) {
                if (event.at > timeline_.end) break;  // the cluster is being stopped
                add(event);
            }
        }
        if (!any_changes()) add_observations();
        add_down_times(faults);
        for (auto& [number, partition] : partitions_) {
            for (auto& [broker, line] : lines_[number]) {
                thin(line.log_end_offset);
                thin(line.high_watermark);
                line.broker = broker;
                partition.replicas.push_back(std::move(line));
            }
            partition.partition = number;
            timeline_.partitions.push_back(std::move(partition));
        }
        return std::move(timeline_);
    }

private:
    void find_span() {
        bool first = true;
        for (const Operation& operation : history_.operations) {
            timeline_.start = first ? operation.invoked : std::min(timeline_.start, operation.invoked);
            timeline_.end = first ? operation.completed : std::max(timeline_.end, operation.completed);
            first = false;
        }
    }

    void add(const TraceEvent& event) {
        if (event.kind == TraceKind::Start) starts_[event.node].push_back(event.at);
        if (event.partition < 0) return;
        if (event.kind == TraceKind::Partition) {
            partitions_[event.partition].changes.push_back(
                {event.at, event.leader, event.epoch, event.isr, event.unclean, event.text});
            return;
        }
        ReplicaLine& line = lines_[event.partition][event.node];
        partitions_.try_emplace(event.partition);
        switch (event.kind) {
            case TraceKind::Role:
            case TraceKind::Following:
                step(line.log_end_offset, event.at, event.log_end_offset);
                step(line.high_watermark, event.at, event.high_watermark);
                break;
            case TraceKind::Append:
                step(line.log_end_offset, event.at, event.log_end_offset);
                break;
            case TraceKind::Truncate:
                step(line.log_end_offset, event.at, event.to);
                break;
            case TraceKind::Hw:
                step(line.high_watermark, event.at, event.to);
                break;
            default:
                break;
        }
    }

    [[nodiscard]] bool any_changes() const {
        return std::any_of(partitions_.begin(), partitions_.end(),
                           [](const auto& entry) { return !entry.second.changes.empty(); });
    }

    /// A history without a trace: whoever was asked last is believed.
    void add_observations() {
        std::vector<const Operation*> seen;
        for (const Operation& operation : history_.operations) {
            const auto* view = operation.as<Observe>();
            if (view != nullptr && view->leader && view->isr) seen.push_back(&operation);
        }
        std::stable_sort(seen.begin(), seen.end(),
                         [](const auto* a, const auto* b) { return a->completed < b->completed; });
        for (const Operation* operation : seen) {
            const auto& view = *operation->as<Observe>();
            std::vector<LeaderChange>& changes = partitions_[view.partition].changes;
            const LeaderEpoch epoch = view.epoch.value_or(kNoEpoch);
            // A broker that learns late shows the past.
            if (!changes.empty() && epoch < changes.back().epoch) continue;
            if (!changes.empty() && changes.back().leader == *view.leader &&
                changes.back().isr == *view.isr && changes.back().epoch == epoch) {
                continue;
            }
            changes.push_back({operation->completed, *view.leader, epoch, *view.isr,
                               view.unclean.value_or(false), "observed"});
        }
    }

    void add_down_times(const std::vector<FaultRecord>& faults) {
        for (const FaultRecord& fault : faults) {
            if (!fault.ok || !ends_process(fault.kind)) continue;
            for (const BrokerId process : fault.targets) {
                DownTime down{process, fault.effective, std::nullopt};
                for (const Instant start : starts_[process]) {
                    if (start > fault.effective && !down.until) down.until = start;
                }
                timeline_.down.push_back(down);
            }
        }
    }

    const History& history_;
    const Trace* trace_;
    Timeline timeline_;
    std::map<std::int32_t, PartitionTimeline> partitions_;
    std::map<std::int32_t, std::map<BrokerId, ReplicaLine>> lines_;
    std::map<BrokerId, std::vector<Instant>> starts_;
};

/// The first record of `all` after `fault` that takes it back: a resume of one it paused, a release of its
/// id.
std::optional<Instant> taken_back(const FaultRecord& fault, const std::vector<FaultRecord>& all) {
    for (const FaultRecord& later : all) {
        if (!later.ok || later.effective < fault.effective || &later == &fault) continue;
        const bool wakes =
            fault.kind == FaultKind::Pause && later.kind == FaultKind::Resume &&
            std::any_of(fault.targets.begin(), fault.targets.end(), [&](BrokerId id) {
                return std::find(later.targets.begin(), later.targets.end(), id) != later.targets.end();
            });
        const bool releases = later.kind == FaultKind::Release && later.asked == fault.id;
        if (wakes || releases) return later.effective;
    }
    return std::nullopt;
}

}  // namespace

Timeline make_timeline(const History& history, const Trace* trace, const std::vector<FaultRecord>& faults) {
    return Builder(history, trace).build(faults);
}

std::optional<Instant> end_of_fault(const FaultRecord& fault, const Timeline& timeline,
                                    std::optional<Instant> healed, const std::vector<FaultRecord>& all) {
    if (!fault.ok) return std::nullopt;
    if (fault.undone) return fault.undone;
    if (ends_process(fault.kind)) {
        std::optional<Instant> end;
        for (const DownTime& down : timeline.down) {
            if (down.from == fault.effective && down.until)
                end = std::max(end.value_or(*down.until), *down.until);
        }
        return end;
    }
    if (is_momentary(fault.kind)) return std::nullopt;
    if (const auto back = taken_back(fault, all)) return back;
    return healed;
}

}  // namespace highwater::results
