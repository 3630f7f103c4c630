// lost-committed: a committed record that the final log has not. lost-weak: the same with acks 1 or 0, never
// read. Committed is what was acked with acks=all, and, with a trace, what lay below a high watermark that
// its leader reported.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

/// Records of one leader epoch that were below a leader's high watermark and that the final leader's log
/// lacks.
struct LostRange {
    LeaderEpoch epoch = kNoEpoch;
    Offset from = 0;
    Offset to = 0;
};

class LostCommitted {
public:
    LostCommitted(const Context& context, Findings& findings, const PartitionHistory& partition)
        : context_(context), findings_(findings), partition_(partition) {}

    void run() {
        check_acked();
        check_acked_somewhere();
        if (context_.traced && partition_.final_log()) check_traced();
        if (partition_.final_log()) check_weak();
        report_unseen();
    }

private:
    void check_acked() {
        for (const Place& place : partition_.places()) {
            if (!place.acked_all || place.offset < partition_.log_start()) continue;
            if (is_gone(context_, partition_, place, true)) {
                lost(place, record_epoch(context_, partition_.partition(), place));
            } else if (!place.seen()) {
                unseen(place.offset, place.value);
            }
        }
    }

    /// Acknowledged at an offset that nobody told: anywhere in the log will do.
    void check_acked_somewhere() {
        for (const Append& append : partition_.appends()) {
            if (!append.acked_all() || append.offset != kUnknownOffset) continue;
            const Selection<Place> places = partition_.places_of(append.value);
            const bool there = std::any_of(places.begin(), places.end(), [&](const Place* place) {
                return place->offset < partition_.log_start() || place->final ||
                       (place->read && !partition_.final_log());
            });
            if (there) continue;
            const bool may_have_expired = context_.meta.retention && partition_.log_start() > 0;
            if (!partition_.final_log() || may_have_expired) {
                unseen(kUnknownOffset, append.value);
                continue;
            }
            Place nowhere;
            nowhere.offset = kUnknownOffset;
            nowhere.value = append.value;
            nowhere.acked_op = append.op;
            for (const Place* place : places) {
                if (place->read) nowhere.read_op = place->read_op;
            }
            lost(nowhere, std::nullopt);
        }
    }

    std::vector<LostRange> lost_ranges() const {
        const PartitionTrace& trace = context_.trace_of(partition_.partition());
        const FinalLog& final = *partition_.final_log();
        const Leadership* last = trace.last_leadership(final.completed);
        if (last == nullptr) return {};
        // The highest offset below which each epoch's records were committed, over all leaders that had them.
        std::map<LeaderEpoch, std::pair<Offset, Offset>> committed;
        for (const TraceEvent* line : trace.of(TraceKind::Hw)) {
            if (line->role != "leader" || line->at > final.invoked) continue;
            const Leadership* leader = trace.leadership(line->epoch);
            if (leader == nullptr || leader->node != line->node) continue;
            for (const OffsetAndEpoch& entry : leader->table.entries()) {
                const auto range = leader->table.range(entry.epoch, line->to);
                const Offset end = std::min(range->second, line->to);
                if (end <= range->first) continue;
                auto [known, fresh] = committed.try_emplace(entry.epoch, *range);
                if (fresh) known->second.second = end;
                known->second.first = std::min(known->second.first, range->first);
                known->second.second = std::max(known->second.second, end);
            }
        }
        std::vector<LostRange> lost;
        const auto add = [&](LeaderEpoch epoch, Offset from, Offset to) {
            from = std::max(from, partition_.log_start());
            if (from < to) lost.push_back({epoch, from, to});
        };
        for (const auto& [epoch, range] : committed) {
            const auto kept = last->table.range(epoch, final.end);
            if (!kept) {
                add(epoch, range.first, range.second);
                continue;
            }
            add(epoch, range.first, std::min(range.second, kept->first));
            add(epoch, std::max(range.first, kept->second), range.second);
        }
        return lost;
    }

    void check_traced() {
        for (const LostRange& range : lost_ranges()) {
            for (Offset offset = range.from; offset < range.to; ++offset) {
                if (counted_.contains({offset, range.epoch}) || counted_.contains({offset, kNoEpoch}))
                    continue;
                lost(known_place(offset, range.epoch), range.epoch);
            }
        }
    }

    /// Who appended or read that record, if anybody can be told.
    Place known_place(Offset offset, LeaderEpoch epoch) const {
        for (const Place& place : partition_.places_at(offset)) {
            if (record_epoch(context_, partition_.partition(), place) == epoch) return place;
        }
        Place unknown;
        unknown.offset = offset;
        return unknown;
    }

    void lost(const Place& place, std::optional<LeaderEpoch> epoch) {
        counted_.insert({place.offset, epoch.value_or(kNoEpoch)});
        if (place.any_op() != Place::kNone) lost_values_.insert(place.value);
        // What was read without such an acknowledgement is counted as dirty-read.
        const bool acked_all = place.acked_all || place.offset == kUnknownOffset;
        if (acked_all && place.read_op != Place::kNone) findings_.evidence("read_then_lost");
        const std::int32_t number = partition_.partition();
        const LossCause cause = explain_loss(context_, number, place.offset, epoch);
        const char* const kind = cause.expected ? "expected-loss" : "lost-committed";
        if (!findings_.count(kind, cause.allowed)) return;
        Anomaly anomaly;
        anomaly.kind = kind;
        anomaly.allowed = cause.allowed;
        anomaly.partition = number;
        anomaly.offset = place.offset;
        anomaly.value = place.value;
        Instant since = context_.start;
        if (place.any_op() != Place::kNone) {
            since = context_.operation(place.any_op()).invoked;
            anomaly.sentence = loss_story(context_, number, place, cause);
            for (const std::size_t op : {place.acked_op, place.read_op}) {
                if (op != Place::kNone) anomaly.operations.push_back(op);
            }
        } else {
            anomaly.sentence = fmt::format(
                "offset {} of epoch {} was below the high watermark of its leader; {}", place.offset,
                epoch.value_or(kNoEpoch), loss_text(context_, number, place.offset, cause, since));
        }
        anomaly.operations.push_back(partition_.final_log() ? partition_.final_log()->op : place.any_op());
        anomaly.context = surroundings(context_, number, place.offset, cause, since);
        findings_.sample(std::move(anomaly));
    }

    void check_weak() {
        for (const Append& append : partition_.appends()) {
            const bool sent_weakly = append.acks == 0 && append.outcome == Outcome::Info;
            if (!append.acked_weak() && !sent_weakly) continue;
            if (append.offset != kUnknownOffset && append.offset < partition_.log_start()) continue;
            const Selection<Place> places = partition_.places_of(append.value);
            const bool seen =
                std::any_of(places.begin(), places.end(), [](const Place* p) { return p->seen(); });
            if (seen || lost_values_.contains(append.value)) continue;
            if (!findings_.count("lost-weak", true)) continue;
            Anomaly anomaly;
            anomaly.kind = "lost-weak";
            anomaly.allowed = true;
            anomaly.partition = partition_.partition();
            anomaly.offset = append.offset;
            anomaly.value = append.value;
            anomaly.sentence = fmt::format(
                "{} was sent with acks={} at {}, never read, and is not in the final log",
                record_text(append.offset, append.value), append.acks, time_text(context_, append.invoked));
            anomaly.operations = {append.op, partition_.final_log()->op};
            findings_.sample(std::move(anomaly));
        }
    }

    void unseen(Offset offset, Value value) {
        if (unseen_++ == 0) first_unseen_ = record_text(offset, value);
    }

    void report_unseen() {
        if (unseen_ == 0) return;
        findings_.evidence("unseen", unseen_);
        findings_.reason(
            "unseen", fmt::format("{} acknowledged records of partition {} were never read, and no complete "
                                  "final read tells what became of them (first: {})",
                                  unseen_, partition_.partition(), first_unseen_));
    }

    const Context& context_;
    Findings& findings_;
    const PartitionHistory& partition_;
    std::set<std::pair<Offset, LeaderEpoch>> counted_;
    std::set<Value> lost_values_;
    std::int64_t unseen_ = 0;
    std::string first_unseen_;
};

}  // namespace

void check_lost_committed(const Context& context, Findings& findings) {
    for (const auto& [number, partition] : context.partitions)
        LostCommitted(context, findings, partition).run();
}

}  // namespace highwater::checker
