// Follows one record through history and trace.
#include "harness/story.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

#include "checker/context.h"
#include "checker/sentence.h"
#include "results/timeline.h"

namespace highwater::harness {
namespace {

using checker::Append;
using checker::ids_text;
using checker::Leadership;
using checker::Place;

/// More of a kind are counted, not told.
constexpr int kMostReads = 3;
constexpr std::size_t kMostChanges = 12;

class Storyteller {
public:
    Storyteller(const results::StoredRun& run, const StorySubject& subject)
        : run_(run),
          input_{run.history, run.trace ? &*run.trace : nullptr, {}, {}},
          context_(input_),
          number_(subject.partition),
          trace_(context_.trace_of(subject.partition)) {}

    Result<Story> tell(const StorySubject& subject) {
        const auto found = context_.partitions.find(number_);
        if (found == context_.partitions.end()) {
            return failure(fmt::format("partition {}: no operation of this run names it", number_));
        }
        partition_ = &found->second;
        if (Status known = find_record(subject); !known) return tl::make_unexpected(known.error());
        find_epoch();
        tell_appends();
        tell_copies();
        tell_high_watermark();
        tell_reads();
        tell_truncations();
        const Instant begin = first_time();
        const Instant end = last_time();
        tell_changes(begin, end);
        tell_faults(begin, end);
        return finish();
    }

private:
    enum Rank { kBefore, kSent, kAppended, kCommitted, kAcknowledged, kLast };
    struct Event {
        Instant at;
        std::string text;
        /// Who has the record from now on, or has it no longer.
        BrokerId gains = kNoBroker;
        BrokerId loses = kNoBroker;
        /// Say who has it at this moment.
        bool count_holders = false;
        /// Order within one moment: what a leader does in one step is in its trace in this order.
        int rank = kLast;
    };
    Event& add(Instant at, std::string text, Rank rank = kLast) {
        events_.push_back({at, std::move(text)});
        events_.back().rank = rank;
        return events_.back();
    }

    /// Sets offset_ and value_; either may stay unknown.
    Status find_record(const StorySubject& subject) {
        value_ = subject.value;
        offset_ = subject.offset.value_or(kUnknownOffset);
        if (!value_) {
            const auto places = partition_->places_at(offset_);
            // A record that is gone has more to tell than the one in its place.
            for (const Place& place : places) {
                if (!value_ || !place.final) value_ = place.value;
            }
        } else if (offset_ == kUnknownOffset) {
            for (const Place* place : partition_->places_of(*value_)) {
                if (offset_ == kUnknownOffset || !place->final) offset_ = place->offset;
            }
        }
        const bool sent = value_ && !partition_->appends_of(*value_).empty();
        if (offset_ == kUnknownOffset && !sent) {
            return failure(fmt::format("{} of partition {}: nobody sent or read it",
                                       value_ ? value_text(*value_) : "no such record", number_));
        }
        if (!value_ && !anybody_appended()) {
            return failure(fmt::format("offset {} of partition {}: no log reached it", offset_, number_));
        }
        return {};
    }
    [[nodiscard]] bool anybody_appended() const {
        const auto& lines = trace_.of(TraceKind::Append);
        return std::any_of(lines.begin(), lines.end(), [&](const TraceEvent* line) { return covers(*line); });
    }
    [[nodiscard]] bool covers(const TraceEvent& append) const {
        return offset_ != kUnknownOffset && append.first <= offset_ && offset_ < append.log_end_offset;
    }

    /// The leader epoch in which it was written, from whatever shows it; and its offset, if only a trace
    /// knows.
    void find_epoch() {
        if (offset_ == kUnknownOffset) return;
        if (value_) {
            if (const Place* place = partition_->place(offset_, *value_)) {
                epoch_ = checker::record_epoch(context_, number_, *place);
            }
        }
        for (const TraceEvent* line : trace_.of(TraceKind::Append)) {
            if (epoch_ || !covers(*line)) continue;
            const Leadership* leader = trace_.leadership(line->epoch);
            if (leader == nullptr || leader->node != line->node || !written_then(line->at)) continue;
            epoch_ = line->epoch;
        }
    }
    /// Some append of the value was under way at that time.
    [[nodiscard]] bool written_then(Instant at) const {
        if (!value_) return true;
        const auto appends = partition_->appends_of(*value_);
        return std::any_of(appends.begin(), appends.end(), [&](const Append* append) {
            return append->invoked <= at && (at <= append->completed || append->outcome == Outcome::Info);
        });
    }
    /// The epoch of what a replica gets at our offset while it follows (or leads) in `epoch`.
    [[nodiscard]] std::optional<LeaderEpoch> epoch_written(LeaderEpoch epoch) const {
        const Leadership* leader = trace_.leadership(epoch);
        return leader == nullptr ? std::nullopt : leader->table.epoch_at(offset_);
    }

    void tell_appends() {
        if (!value_) return;
        for (const Append* append : partition_->appends_of(*value_)) {
            const std::string client = context_.client_name(append->op);
            const std::string broker =
                append->broker == kNoBroker ? "" : fmt::format(" to broker {}", append->broker);
            const std::string acks = append->acks == -1 ? "all" : std::to_string(append->acks);
            add(append->invoked,
                fmt::format("{} sent {} with acks={}{}", client, value_text(*value_), acks, broker), kSent);
            const auto& produce = *context_.operation(append->op).as<Produce>();
            const TraceEvent* line =
                trace_.ack_line(offset_, append->broker, append->invoked, append->completed);
            if (line != nullptr && line->outside) {
                tell_ack_from_outside(*line);
            } else if (line != nullptr) {
                add(line->at,
                    fmt::format("broker {} acknowledged it in epoch {}: ISR {}, high watermark {}",
                                line->node, line->epoch, ids_text(line->isr), line->high_watermark),
                    kAcknowledged)
                    .count_holders = true;
            }
            add(append->completed, told_text(client, produce));
        }
    }
    /// Who was in whose ISR then: the controller's metadata log has the ISR, files show who had the record.
    void tell_ack_from_outside(const TraceEvent& ack) {
        std::string text = fmt::format("broker {} acknowledged it", ack.node);
        const TraceEvent* heard = nullptr;
        for (const TraceKind kind : {TraceKind::Role, TraceKind::IsrCommitted, TraceKind::Registration}) {
            for (const TraceEvent* line : trace_.of(kind)) {
                const bool before = line->node == ack.node && line->at <= ack.at;
                if (before && (heard == nullptr || line->at >= heard->at)) heard = line;
            }
        }
        if (heard != nullptr)
            text +=
                fmt::format("; it had last heard of ISR {}, partition epoch {}, at {}", ids_text(heard->isr),
                            heard->partition_epoch, checker::time_text(context_, heard->at));
        const TraceEvent* decision = nullptr;
        for (const TraceEvent* line : trace_.of(TraceKind::Partition)) {
            if (line->at <= ack.at) decision = line;
        }
        if (decision != nullptr) {
            text += fmt::format("; the controller's ISR was {} since {}", ids_text(decision->isr),
                                checker::time_text(context_, decision->at));
            for (const BrokerId member : decision->isr) {
                if (const auto end = end_seen(member, ack.at))
                    text += fmt::format("; the file of broker {} {}", member, end_text(*end));
            }
        }
        add(ack.at, std::move(text), kAcknowledged);
    }
    struct EndSeen {
        Offset offset = 0;
        Instant at;
    };
    /// Where a replica's file ended when it was looked at next.
    [[nodiscard]] std::optional<EndSeen> end_seen(BrokerId broker, Instant at) const {
        const TraceEvent* before = nullptr;
        for (const TraceEvent* line : trace_.of(TraceKind::LogEnd)) {
            if (line->node != broker) continue;
            if (before != nullptr && line->until >= at) return EndSeen{before->log_end_offset, line->until};
            before = line;
        }
        return std::nullopt;
    }
    [[nodiscard]] std::string end_text(const EndSeen& end) const {
        if (end.offset > offset_) return "has it";
        return fmt::format("ENDS AT {}, still at {}", end.offset, checker::time_text(context_, end.at));
    }
    static std::string told_text(const std::string& client, const Produce& produce) {
        const std::string error = produce.error.empty() ? "" : fmt::format(" ({})", produce.error.view());
        switch (produce.status) {
            case Outcome::Ok:
                return fmt::format(
                    "{} was told that it is written{}", client,
                    produce.offset == kUnknownOffset ? "" : fmt::format(" at offset {}", produce.offset));
            case Outcome::Fail:
                return fmt::format("{} was told that it is refused{}: surely not written", client, error);
            case Outcome::Info:
                break;
        }
        return fmt::format("{} could not know whether it was written{}", client, error);
    }

    /// Appends of this very record, by leader and followers; and the first leader that wrote another one
    /// there.
    void tell_copies() {
        bool replaced = false;
        for (const TraceEvent* line : trace_.of(TraceKind::Append)) {
            if (!covers(*line)) continue;
            const Leadership* leader = trace_.leadership(line->epoch);
            const bool leads = leader != nullptr && leader->node == line->node;
            if (epoch_ && epoch_written(line->epoch) == epoch_) {
                const std::string isr =
                    line->isr.empty() ? std::string() : fmt::format(": ISR {}", ids_text(line->isr));
                std::string text = leads ? fmt::format("broker {}, the leader of epoch {}, appended it{}",
                                                       line->node, line->epoch, isr)
                                         : fmt::format("broker {} copied it from the leader of epoch {}",
                                                       line->node, line->epoch);
                add(line->at, std::move(text), kAppended).gains = line->node;
            } else if (leads && epoch_ && !replaced) {
                replaced = true;
                add(line->at, fmt::format("broker {}, the leader of epoch {}, wrote {} at offset {} instead",
                                          line->node, line->epoch, other_value(line->epoch), offset_));
            }
        }
    }
    [[nodiscard]] std::string other_value(LeaderEpoch epoch) const {
        for (const Place& place : partition_->places_at(offset_)) {
            if (place.value == value_) continue;
            if (checker::record_epoch(context_, number_, place).value_or(epoch) == epoch)
                return value_text(place.value);
        }
        return "another record";
    }

    void tell_high_watermark() {
        for (const TraceEvent* line : trace_.of(TraceKind::Hw)) {
            if (offset_ == kUnknownOffset || line->role != "leader" || line->from > offset_ ||
                offset_ >= line->to)
                continue;
            if (!epoch_ || epoch_written(line->epoch) != epoch_) continue;
            add(line->at,
                fmt::format("the high watermark of broker {} passed it ({} -> {}, ISR {}): committed",
                            line->node, line->from, line->to, ids_text(line->isr)),
                kCommitted);
            passed_ = true;
        }
        for (const TraceEvent* line : trace_.of(TraceKind::Sample)) {
            const bool led = line->leader == line->node && line->epoch != kNoEpoch;
            if (passed_ || offset_ == kUnknownOffset || !led || line->high_watermark <= offset_) continue;
            if (!epoch_ || epoch_written(line->epoch) != epoch_) continue;
            add(line->at,
                fmt::format("broker {} told a high watermark of {}: committed, in its eyes", line->node,
                            line->high_watermark),
                kCommitted);
            passed_ = true;
        }
    }

    void tell_reads() {
        int told = 0;
        int more = 0;
        for (const checker::Read& read : partition_->reads()) {
            if (read.poll->final || !value_ || offset_ == kUnknownOffset) continue;
            const auto& records = read.poll->records;
            if (std::find(records.begin(), records.end(), ReadRecord{offset_, *value_}) == records.end())
                continue;
            if (++told > kMostReads) {
                ++more;
                continue;
            }
            std::string text = fmt::format("{} read it", context_.client_name(read.op));
            if (read.poll->broker != kNoBroker) text += fmt::format(" from broker {}", read.poll->broker);
            if (read.poll->high_watermark != kUnknownOffset)
                text += fmt::format(", which told a high watermark of {}", read.poll->high_watermark);
            add(read.completed, std::move(text));
        }
        if (more > 0) end_.push_back(fmt::format("it was read {} more times", more));
        for (const TraceEvent* line : trace_.of(TraceKind::Serve)) {
            if (line->from > offset_ || offset_ >= line->to || offset_ < line->high_watermark) continue;
            add(line->at,
                fmt::format(
                    "broker {} ({}, epoch {}) served it to a consumer while its high watermark was {}: dirty",
                    line->node, line->role, line->epoch, line->high_watermark));
            break;
        }
    }

    void tell_truncations() {
        for (const TraceEvent* line : trace_.of(TraceKind::Truncate)) {
            if (offset_ == kUnknownOffset || offset_ < line->to || offset_ >= line->from || !epoch_) continue;
            std::string text =
                fmt::format("broker {} truncated its log {} -> {}", line->node, line->from, line->to);
            if (!line->outside)
                text += fmt::format(", as its leader {} of epoch {} told it", line->leader, line->epoch);
            add(line->at, std::move(text)).loses = line->node;
        }
    }

    [[nodiscard]] Instant first_time() const {
        Instant first = Instant::never();
        for (const Event& event : events_) first = std::min(first, event.at);
        return events_.empty() ? context_.start : first;
    }
    [[nodiscard]] Instant last_time() const {
        Instant last = context_.start;
        for (const Event& event : events_) last = std::max(last, event.at);
        // A record that is gone may have lost its place without a line of its own.
        const checker::LossCause cause = loss();
        return cause.lacking == nullptr ? last : std::max(last, cause.lacking->at + milliseconds(1));
    }
    [[nodiscard]] checker::LossCause loss() const {
        return epoch_ ? checker::explain_loss(context_, number_, offset_, epoch_) : checker::LossCause{};
    }

    /// Who led and who was in the ISR, from just before the record until its story ends.
    void tell_changes(Instant begin, Instant end) {
        const results::LeaderChange* before = nullptr;
        std::vector<const results::LeaderChange*> within;
        timeline_ = results::make_timeline(run_.history, input_.trace, run_.faults);
        for (const results::PartitionTimeline& partition : timeline_.partitions) {
            if (partition.partition != number_) continue;
            for (const results::LeaderChange& change : partition.changes) {
                if (change.at <= begin) before = &change;
                if (change.at > begin && change.at <= end) within.push_back(&change);
            }
        }
        if (before != nullptr) {
            add(begin,
                fmt::format("at this time {} leads in epoch {} with ISR {}", leader_text(before->leader),
                            before->epoch, ids_text(before->isr)),
                kBefore);
        }
        for (std::size_t i = 0; i < within.size() && i < kMostChanges; ++i) {
            add(within[i]->at, change_text(i == 0 ? before : within[i - 1], *within[i]));
        }
        if (within.size() > kMostChanges)
            end_.push_back(fmt::format("{} more changes of leader and ISR in that time are not told",
                                       within.size() - kMostChanges));
    }
    static std::string leader_text(BrokerId leader) {
        return leader == kNoBroker ? "nobody" : fmt::format("broker {}", leader);
    }
    [[nodiscard]] std::string change_text(const results::LeaderChange* before,
                                          const results::LeaderChange& now) const {
        if (before != nullptr && before->epoch == now.epoch)
            return fmt::format("the ISR became {} ({})", ids_text(now.isr), now.cause);
        std::string text =
            fmt::format("{} leads from now on, in epoch {} with ISR {} ({})", leader_text(now.leader),
                        now.epoch, ids_text(now.isr), now.unclean ? "UNCLEAN election" : now.cause);
        const Leadership* leader = trace_.leadership(now.epoch);
        if (leader == nullptr || !epoch_) return text;
        const auto range = leader->table.range(*epoch_, leader->log_end_offset);
        const bool has = range && range->first <= offset_ && offset_ < range->second;
        return text + fmt::format("; its log ends at {} and {} the record", leader->log_end_offset,
                                  has ? "has" : "DOES NOT HAVE");
    }

    void tell_faults(Instant begin, Instant end) {
        for (const FaultRecord& fault : run_.faults) {
            if (!fault.ok) continue;
            const std::string name =
                fmt::format("fault {} ({} {})", fault.id, fault_kind_name(fault.kind), fault.struck());
            const auto over = results::end_of_fault(fault, timeline_, run_.phases.healed, run_.faults);
            if (fault.effective <= begin && over && *over > begin) {
                add(begin,
                    fmt::format("{} is in force since {}", name,
                                checker::time_text(context_, fault.effective)),
                    kBefore);
            }
            if (fault.effective > begin && fault.effective <= end)
                add(fault.effective, name + " took effect");
            const bool ended = ends_process(fault.kind);
            if (over && *over > begin && *over <= end) {
                add(*over, ended ? fmt::format("process {} runs again, after {}", fault.struck(), name)
                                 : name + " was over");
            }
        }
        if (run_.phases.healed && *run_.phases.healed > begin && *run_.phases.healed <= end)
            add(*run_.phases.healed, "heal: no fault is left");
    }

    Story finish() {
        std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
            return std::tie(a.at, a.rank) < std::tie(b.at, b.rank);
        });
        Story story;
        story.start = context_.start;
        story.record =
            checker::record_text(offset_, value_.value_or(0)) + fmt::format(" of partition {}", number_);
        std::set<BrokerId> holders;
        for (Event& event : events_) {
            const bool had = event.loses != kNoBroker && holders.erase(event.loses) > 0;
            if (event.gains != kNoBroker) holders.insert(event.gains);
            if (had) event.text += ": the record left its log";
            if (event.count_holders)
                event.text += fmt::format("; {} had it then", ids_text({holders.begin(), holders.end()}));
            story.lines.push_back({event.at, std::move(event.text)});
        }
        tell_end();
        story.end = std::move(end_);
        return story;
    }

    void tell_end() {
        // Who looks from outside may miss it.
        if (epoch_ && !passed_ && trace_.of(TraceKind::Sample).empty())
            end_.emplace_back("no leader's high watermark ever passed it");
        const checker::LossCause cause = loss();
        if (cause.lacking != nullptr) {
            end_.push_back(fmt::format(
                "the leader of epoch {} held it; broker {}, elected {}in epoch {} at {}, did not",
                cause.holder_epoch, cause.lacking->node, cause.unclean != nullptr ? "uncleanly " : "",
                cause.lacking->epoch, checker::time_text(context_, cause.lacking->at)));
        }
        if (offset_ == kUnknownOffset) return;
        std::map<BrokerId, std::string> last;
        for (const checker::Read& read : partition_->reads()) {
            if (!read.poll->final || read.from > offset_) continue;
            for (const ReadRecord& record : read.poll->records) {
                if (record.offset != offset_) continue;
                last[read.poll->broker] = value_ && record.value == *value_
                                              ? "has it"
                                              : fmt::format("has {} there", value_text(record.value));
            }
            last.try_emplace(read.poll->broker, "has nothing there");
        }
        std::string text;
        for (const auto& [broker, what] : last)
            text += fmt::format("{}broker {} {}", text.empty() ? "" : ", ", broker, what);
        end_.push_back(text.empty() ? "nobody read the logs at the end" : "at the end " + text);
    }

    const results::StoredRun& run_;
    checker::CheckInput input_;
    checker::Context context_;
    std::int32_t number_;
    const checker::PartitionTrace& trace_;
    const checker::PartitionHistory* partition_ = nullptr;
    Offset offset_ = kUnknownOffset;
    std::optional<Value> value_;
    std::optional<LeaderEpoch> epoch_;
    bool passed_ = false;
    results::Timeline timeline_;
    std::vector<Event> events_;
    std::vector<std::string> end_;
};

}  // namespace

std::optional<StorySubject> subject_of(const Verdict& verdict) {
    for (const Anomaly& anomaly : verdict.anomalies) {
        if (anomaly.allowed || (anomaly.offset == kUnknownOffset && anomaly.value == 0)) continue;
        StorySubject subject;
        subject.partition = anomaly.partition;
        if (anomaly.offset != kUnknownOffset) subject.offset = anomaly.offset;
        if (anomaly.value != 0) subject.value = anomaly.value;
        return subject;
    }
    return std::nullopt;
}

Result<Story> tell_story(const results::StoredRun& run, const StorySubject& subject) {
    return Storyteller(run, subject).tell(subject);
}

Result<Value> parse_value(const std::string& text) {
    const auto number = [](std::string_view digits, std::int64_t& into) {
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
        return error == std::errc() && end == digits.data() + digits.size() && into >= 0;
    };
    std::int64_t producer = 0;
    std::int64_t n = 0;
    const std::size_t dash = text.find('-');
    if (number(text, n)) return n;
    if (text.starts_with('p') && dash != std::string::npos &&
        number(std::string_view(text).substr(1, dash - 1), producer) &&
        number(std::string_view(text).substr(dash + 1), n)) {
        return make_value(producer, n);
    }
    return failure(fmt::format("'{}' is no value: p3-977, or its number", text));
}

}  // namespace highwater::harness
