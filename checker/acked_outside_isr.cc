// acked-outside-isr by what can be seen from outside: the controller's metadata log says who was in the ISR
// and who led when a client was told that its acks=all append is safe, and the files of a replica say that it
// had nothing there at a later moment. (Where replicas tell themselves, in an exact order, the rule is one of
// checker/replica_rules.cc.)
//
// Why this can't be a false alarm. A replica's file is never behind its log. A look that began at or after
// the acknowledgement and found the file to end at or below the offset therefore shows that the replica had
// not got the record until then: what it has of its leader's epoch it keeps while that leader stays. The
// controller's times are those of its decisions on the wall clock; whatever happened within kClockError of
// one is not judged.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

/// Between the controller's wall clock, in milliseconds, and the clock of the history.
constexpr Duration kClockError = milliseconds(50);

bool contains(const std::vector<BrokerId>& ids, BrokerId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

class OutsideView {
public:
    OutsideView(const Context& context, Findings& findings, std::int32_t number)
        : context_(context),
          findings_(findings),
          number_(number),
          decisions_(context.trace_of(number).of(TraceKind::Partition)) {
        std::map<BrokerId, const TraceEvent*> before;
        for (const TraceEvent* line : context.trace_of(number).of(TraceKind::LogEnd)) {
            const TraceEvent*& last = before[line->node];
            if (last != nullptr) ends_[line->node].push_back({last->log_end_offset, line->until});
            last = line;
        }
    }

    void check(const PartitionHistory& partition) {
        if (ends_.empty()) return;
        for (const Append& append : partition.appends()) {
            if (append.acked_all() && append.offset != kUnknownOffset && append.broker != kNoBroker)
                check(append);
        }
        for (Found& found : found_) report(found);
    }

private:
    using Decision = std::vector<const TraceEvent*>::const_iterator;

    /// A look that began at `seen` found the log to end there.
    struct End {
        Offset offset = 0;
        Instant seen;
    };
    struct Found {
        Append append;
        BrokerId member = kNoBroker;
        const TraceEvent* decision = nullptr;
        Instant member_since;
        End end;
        std::int64_t others = 0;
    };

    /// The decision that was surely in force when the append was called; end() if there is none.
    [[nodiscard]] Decision in_force(Instant called) const {
        const auto later = std::partition_point(
            decisions_.begin(), decisions_.end(),
            [called](const TraceEvent* line) { return line->at + kClockError <= called; });
        return later == decisions_.begin() ? decisions_.end() : std::prev(later);
    }

    static bool same_office(const TraceEvent& a, const TraceEvent& b) {
        return a.leader == b.leader && a.epoch == b.epoch;
    }

    void check(const Append& append) {
        const Decision first = in_force(append.invoked);
        if (first == decisions_.end() || (*first)->leader != append.broker) return;
        std::vector<BrokerId> members = (*first)->isr;
        Decision last = first;
        for (; last != decisions_.end() && (*last)->at <= append.completed + kClockError; ++last) {
            if (!same_office(**first, **last)) return;
            std::erase_if(members, [&](BrokerId id) { return !contains((*last)->isr, id); });
        }
        const auto successor = std::find_if(
            last, decisions_.end(), [&](const TraceEvent* line) { return !same_office(**first, *line); });
        const auto office_ends = successor == decisions_.end()
                                     ? std::optional<Instant>()
                                     : std::optional((*successor)->at - kClockError);
        for (const BrokerId member : members) {
            if (member != append.broker) check(append, member, first, office_ends);
        }
    }

    void check(const Append& append, BrokerId member, Decision first, std::optional<Instant> office_ends) {
        const std::vector<End>& ends = ends_[member];
        const auto end = std::partition_point(ends.begin(), ends.end(),
                                              [&](const End& e) { return e.seen < append.completed; });
        if (end == ends.end() || end->offset > append.offset) return;
        if (office_ends && end->seen > *office_ends) return;
        Decision since = first;
        while (since != decisions_.begin() && contains((*std::prev(since))->isr, member)) --since;
        if (began_anew(member, (*since)->at - kClockError, end->seen)) return;
        add(append, member, **first, (*since)->at, *end);
    }

    /// Started, or lost data by a recorded fault: the controller may count on it a little longer.
    [[nodiscard]] bool began_anew(BrokerId member, Instant from, Instant to) {
        const auto [known, fresh] = breaks_.try_emplace(member);
        if (fresh) {
            for (const TraceEvent& line : context_.input.trace->events) {
                if (line.kind == TraceKind::Start && line.node == member)
                    known->second.emplace_back(line.at, line.at);
            }
            for (const OpIndex op : faults_that_take_data(context_.history, member, {}, Instant::never())) {
                const Operation& fault = context_.operation(op);
                known->second.emplace_back(fault.invoked, fault.completed);
            }
        }
        return std::any_of(known->second.begin(), known->second.end(),
                           [&](const auto& times) { return times.second >= from && times.first <= to; });
    }

    /// Once a member and decision, with the first record.
    void add(const Append& append, BrokerId member, const TraceEvent& decision, Instant since, End end) {
        for (Found& found : found_) {
            if (found.member != member || found.decision != &decision) continue;
            ++found.others;
            return;
        }
        found_.push_back({append, member, &decision, since, end});
    }

    void report(const Found& found) {
        if (!findings_.count("acked-outside-isr", false)) return;
        Anomaly anomaly;
        anomaly.kind = "acked-outside-isr";
        anomaly.partition = number_;
        anomaly.offset = found.append.offset;
        anomaly.value = found.append.value;
        anomaly.operations = {found.append.op};
        anomaly.sentence = fmt::format(
            "{} was acked (acks=all) by broker {}, the leader of epoch {}, at {}; broker {} had been in the "
            "controller's ISR {} since {}, but its log still ended at {} at {}",
            record_text(found.append.offset, found.append.value), found.append.broker, found.decision->epoch,
            time_text(context_, found.append.completed), found.member, ids_text(found.decision->isr),
            time_text(context_, found.member_since), found.end.offset, time_text(context_, found.end.seen));
        if (found.others > 0)
            anomaly.sentence += fmt::format("; so it was with {} more records", found.others);
        findings_.sample(std::move(anomaly));
    }

    const Context& context_;
    Findings& findings_;
    std::int32_t number_;
    const std::vector<const TraceEvent*>& decisions_;
    std::map<BrokerId, std::vector<End>> ends_;
    /// From when to when it was not simply itself.
    std::map<BrokerId, std::vector<std::pair<Instant, Instant>>> breaks_;
    std::vector<Found> found_;
};

}  // namespace

void check_acked_outside_isr(const Context& context, Findings& findings) {
    if (!context.traced) return;
    for (const auto& [number, partition] : context.partitions)
        OutsideView(context, findings, number).check(partition);
}

}  // namespace highwater::checker
