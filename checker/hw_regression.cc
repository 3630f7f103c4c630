// hw-regression: a leader's high watermark fell within one (broker, incarnation, epoch); or ListOffsets
// `latest` fell: a higher epoch answered less than a lower one (unless an unclean election lies between), or
// the same epoch did later.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

struct Answer {
    std::size_t op = 0;
    Instant invoked;
    Instant completed;
    Offset offset = 0;
    LeaderEpoch epoch = kNoEpoch;
};

class HwRegression {
public:
    HwRegression(const Context& context, Findings& findings, const PartitionHistory& partition)
        : context_(context),
          findings_(findings),
          partition_(partition),
          number_(partition.partition()),
          trace_(context.trace_of(number_)) {}

    void check_trace() {
        std::map<std::tuple<BrokerId, std::int32_t, LeaderEpoch>, Offset> reached;
        for (const Leadership& leader : trace_.leaderships()) {
            reached[{leader.node, leader.incarnation, leader.epoch}] = leader.high_watermark;
        }
        for (const TraceEvent* line : trace_.of(TraceKind::Hw)) {
            if (line->role != "leader") continue;
            Offset& highest =
                reached.try_emplace({line->node, line->incarnation, line->epoch}, line->from).first->second;
            const Offset before = std::max(highest, line->from);
            highest = std::max(before, line->to);
            if (line->to >= before) continue;
            add({}, line->to, false,
                fmt::format("the high watermark of leader {} fell {} -> {} in epoch {} at {}", line->node,
                            before, line->to, line->epoch, time_text(context_, line->at)));
        }
    }

    void check_answers() {
        collect();
        across_epochs();
        within_epochs();
        proven_by_views();
    }

private:
    void collect() {
        for (std::size_t op = 0; op < context_.history.operations.size(); ++op) {
            const Operation& operation = context_.operation(op);
            if (const auto* observe = operation.as<Observe>();
                observe != nullptr && observe->partition == number_ && !observe->sampled && observe->leader) {
                exact_views_.push_back(&operation);
            }
            const auto* list = operation.as<ListOffsets>();
            if (list == nullptr || list->partition != number_ || list->which != "latest") continue;
            if (list->status != Outcome::Ok || list->offset == kUnknownOffset) continue;
            const Answer answer{op, operation.invoked, operation.completed, list->offset,
                                list->epoch.value_or(kNoEpoch)};
            (list->epoch ? told_ : untold_).push_back(answer);
        }
        std::sort(told_.begin(), told_.end(), [](const Answer& a, const Answer& b) {
            return std::tie(a.epoch, a.invoked) < std::tie(b.epoch, b.invoked);
        });
    }

    /// Whatever their times: epochs order leaderships, and none may begin below what an earlier one showed.
    void across_epochs() {
        const Answer* highest = nullptr;  // of all lower epochs
        for (std::size_t i = 0; i < told_.size();) {
            const std::size_t first = i;
            const Answer* highest_here = nullptr;
            for (; i < told_.size() && told_[i].epoch == told_[first].epoch; ++i) {
                const Answer& answer = told_[i];
                if (highest != nullptr && answer.offset < highest->offset) {
                    const Election* unclean = trace_.unclean_between(highest->epoch, answer.epoch);
                    // Without a trace nobody tells every election; enabled, an unclean one may have been.
                    const bool enabled = context_.meta.unclean && (unclean != nullptr || !context_.traced);
                    report(*highest, answer,
                           enabled || (unclean != nullptr && beyond_promise(context_, number_, *unclean)));
                }
                if (highest_here == nullptr || answer.offset > highest_here->offset) highest_here = &answer;
            }
            if (highest == nullptr || highest_here->offset > highest->offset) highest = highest_here;
        }
    }

    void within_epochs() {
        std::vector<const Answer*> by_return;
        for (const Answer& answer : told_) by_return.push_back(&answer);
        std::sort(by_return.begin(), by_return.end(), [](const Answer* a, const Answer* b) {
            return std::tie(a->epoch, a->completed) < std::tie(b->epoch, b->completed);
        });
        std::size_t next = 0;
        const Answer* highest = nullptr;
        for (const Answer& answer : told_) {  // by epoch and call
            if (highest != nullptr && highest->epoch != answer.epoch) highest = nullptr;
            while (next < by_return.size() && by_return[next]->epoch < answer.epoch) ++next;
            for (; next < by_return.size() && by_return[next]->epoch == answer.epoch &&
                   by_return[next]->completed < answer.invoked;
                 ++next) {
                if (highest == nullptr || by_return[next]->offset > highest->offset)
                    highest = by_return[next];
            }
            if (highest != nullptr && answer.offset < highest->offset) report(*highest, answer, false);
        }
    }

    /// An answer without an epoch, given while an exact view names the leader: everything that a leader had
    /// shown or acknowledged before is below it, unless an unclean election was seen.
    void proven_by_views() {
        if (untold_.empty() || exact_views_.empty() || trace_.unclean_seen()) return;
        for (const Answer& answer : untold_) {
            if (!under_exact_view(answer)) continue;
            Answer highest;
            for (const Append& append : partition_.appends()) {
                if (!append.acked_all() || append.offset == kUnknownOffset) continue;
                raise(highest, {append.op, append.invoked, append.completed, append.offset + 1, kNoEpoch},
                      answer);
            }
            for (const Read& read : partition_.reads()) {
                if (read.poll->from_follower || read.poll->high_watermark == kUnknownOffset) continue;
                raise(highest, {read.op, read.invoked, read.completed, read.poll->high_watermark, kNoEpoch},
                      answer);
            }
            if (answer.offset < highest.offset) report(highest, answer, false);
        }
    }

    static void raise(Answer& highest, const Answer& fact, const Answer& before) {
        if (fact.completed < before.invoked && fact.offset > highest.offset) highest = fact;
    }

    [[nodiscard]] bool under_exact_view(const Answer& answer) const {
        const auto& list = *context_.operation(answer.op).as<ListOffsets>();
        const Observe* view = nullptr;
        Instant since{std::numeric_limits<std::int64_t>::min()};
        for (const Operation* operation : exact_views_) {
            if (operation->completed < answer.invoked) {
                if (operation->completed >= since) view = &*operation->as<Observe>();
                since = std::max(since, operation->completed);
            } else if (operation->invoked <= answer.completed) {
                return false;
            }
        }
        return view != nullptr && (list.broker == kNoBroker || list.broker == *view->leader);
    }

    void report(const Answer& earlier, const Answer& later, bool allowed) {
        const auto epoch = [](const Answer& answer) {
            return answer.epoch == kNoEpoch ? "" : fmt::format(" in epoch {}", answer.epoch);
        };
        const std::string unclean = allowed ? "; an unclean election may explain it" : "";
        add({earlier.op, later.op}, later.offset, allowed,
            fmt::format("the log was visible up to {}{} at {}, but ListOffsets latest answered {}{} at {}{}",
                        earlier.offset, epoch(earlier), time_text(context_, earlier.completed), later.offset,
                        epoch(later), time_text(context_, later.completed), unclean));
    }

    void add(std::vector<std::size_t> operations, Offset offset, bool allowed, std::string sentence) {
        if (!findings_.count("hw-regression", allowed)) return;
        Anomaly anomaly;
        anomaly.kind = "hw-regression";
        anomaly.allowed = allowed;
        anomaly.partition = number_;
        anomaly.offset = offset;
        anomaly.sentence = std::move(sentence);
        anomaly.operations = std::move(operations);
        findings_.sample(std::move(anomaly));
    }

    const Context& context_;
    Findings& findings_;
    const PartitionHistory& partition_;
    std::int32_t number_;
    const PartitionTrace& trace_;
    std::vector<const Operation*> exact_views_;
    std::vector<Answer> told_;
    std::vector<Answer> untold_;
};

}  // namespace

void check_hw_regression(const Context& context, Findings& findings) {
    for (const auto& [number, partition] : context.partitions) {
        HwRegression rule(context, findings, partition);
        rule.check_trace();
        rule.check_answers();
    }
}

}  // namespace highwater::checker
