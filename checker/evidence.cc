// Evidence: what proves that the run exercised something. Events are counted from the trace, else from
// observations, between the first and the last operation of the history; "name@fault" counts those within a
// fault's time.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "checker/properties.h"

namespace highwater::checker {
namespace {

/// acks=all acknowledgements that took at least this long count as slow-ack.
constexpr Duration kSlowAck = milliseconds(200);
/// A leader's high watermark that stays below its log's end for at least this long counts as hw-behind-leo.
constexpr Duration kBehind = milliseconds(200);

class Evidence {
public:
    Evidence(const Context& context, Findings& findings) : context_(context), findings_(findings) {}

    void run() {
        find_fault_windows();
        for (const Operation& operation : context_.history.operations) count_operation(operation);
        for (const auto& [number, partition] : context_.partitions) {
            const auto seen = [](const Place& place) { return place.seen(); };
            findings_.evidence("read",
                               std::count_if(partition.places().begin(), partition.places().end(), seen));
        }
        if (context_.traced) {
            for (const TraceEvent& event : context_.input.trace->events) count_event(event);
        } else {
            count_observations();
        }
    }

private:
    struct Window {
        Instant from;
        Instant to;
    };
    struct View {
        std::optional<BrokerId> leader;
        std::optional<std::vector<BrokerId>> isr;
    };

    void find_fault_windows() {
        for (const Operation& operation : context_.history.operations) {
            const auto* fault = operation.as<FaultOp>();
            if (fault == nullptr) continue;
            const bool ok = !fault->kind.empty() && fault->kind != "heal" && fault->status == "ok";
            // A fault with an id may have a second operation, for its end.
            if (ok && (fault->id.empty() || struck_.insert({fault->id, fault->target}).second)) {
                findings_.evidence("fault");
            }
            if (fault->id.empty()) continue;
            const Window window{operation.invoked, operation.completed};
            Window& known = windows_.try_emplace(fault->id, window).first->second;
            known.from = std::min(known.from, window.from);
            known.to = std::max(known.to, window.to);
        }
    }

    void event(const char* name, Instant from, Instant to) {
        findings_.evidence(name);
        for (const auto& [id, window] : windows_) {
            if (from >= window.from && to <= window.to) findings_.evidence(fmt::format("{}@{}", name, id));
        }
    }
    void event(const char* name, Instant at) { event(name, at, at); }

    void count_operation(const Operation& operation) {
        const auto* produce = operation.as<Produce>();
        if (const auto* other = operation.as<OtherOp>(); other != nullptr && other->op == "hidden-retries")
            event("hidden-retries", operation.completed);
        if (produce == nullptr) return;
        const std::int16_t acks = acks_of(*produce, context_.meta);
        if (produce->status == Outcome::Ok && acks == -1) {
            findings_.evidence("acked");
            if (operation.completed - operation.invoked >= kSlowAck) {
                event("slow-ack", operation.invoked, operation.completed);
            }
        } else if (produce->status == Outcome::Ok && acks == 1) {
            findings_.evidence("acked_weak");
        } else if (produce->status != Outcome::Fail) {
            findings_.evidence("unknown_outcomes");
        }
        if (produce->error == "NOT_ENOUGH_REPLICAS" || produce->error == "19") {
            findings_.evidence("rejected");
            event("not-enough-replicas", operation.completed);
        }
    }

    void count_event(const TraceEvent& line) {
        const bool counts = line.at >= context_.start && line.at <= context_.end;
        switch (line.kind) {
            case TraceKind::Partition:
                changed(line, counts);
                return;
            case TraceKind::Fence:
                fence(line, counts);
                return;
            case TraceKind::Unfence:
                fenced_.erase(line.broker);
                return;
            case TraceKind::ShuttingDown:
                shutting_down_.insert(line.broker);
                if (counts) event("controlled-shutdown", line.at);
                return;
            case TraceKind::Start:
                if (counts && line.incarnation > 1) event("restarted", line.at);
                return;
            case TraceKind::Truncate:
                if (counts && line.to < line.from) event("truncated", line.at);
                // Without an epoch it is a cut to the high watermark, which nobody asked for.
                if (counts && !line.table.empty() && line.table.front().epoch >= 0)
                    event("diverging-fetch", line.at);
                return;
            case TraceKind::IsrProposed:
                if (counts && line.isr.size() < line.isr_from.size()) event("lag-shrink", line.at);
                return;
            case TraceKind::Offline:
                if (counts) event("offline", line.at);
                return;
            case TraceKind::Role:
                behind_.erase({line.node, line.partition});
                return;
            case TraceKind::Append:
                if (line.acks) behind_.try_emplace({line.node, line.partition}, line.at);
                return;
            case TraceKind::Hw:
                caught_up(line, counts);
                return;
            case TraceKind::Registered:
            case TraceKind::Stop:
            case TraceKind::IsrCommitted:
            case TraceKind::Following:
            case TraceKind::Ack:
            case TraceKind::Serve:
            case TraceKind::Checkpoint:
            case TraceKind::Register:
            case TraceKind::TopicDeleted:
            case TraceKind::Config:
            case TraceKind::Bug:
            case TraceKind::Invariant:
            case TraceKind::LogEnd:
            case TraceKind::Registration:
                return;
            case TraceKind::Sample:
                sampled(line, counts);
                return;
        }
    }

    /// Of a leader: the high watermark has reached the log's end, or has come nearer to it.
    void caught_up(const TraceEvent& line, bool counts) {
        const auto behind = behind_.find({line.node, line.partition});
        if (behind == behind_.end()) return;
        if (counts && line.at - behind->second >= kBehind) event("hw-behind-leo", behind->second, line.at);
        if (line.to >= line.log_end_offset) {
            behind_.erase(behind);
        } else {
            behind->second = line.at;
        }
    }

    /// What a probe of a leader saw: behind since the first such answer.
    void sampled(const TraceEvent& line, bool counts) {
        const std::pair key{line.node, line.partition};
        if (line.leader != line.node || line.high_watermark >= line.log_end_offset) {
            const auto behind = behind_.find(key);
            if (behind == behind_.end()) return;
            if (counts && line.at - behind->second >= kBehind)
                event("hw-behind-leo", behind->second, line.at);
            behind_.erase(behind);
        } else {
            behind_.try_emplace(key, line.at);
        }
    }

    void fence(const TraceEvent& line, bool counts) {
        // Every broker starts fenced when it registers: no event of its own.
        if (line.text == "registered") return;
        fenced_.insert(line.broker);
        if (!counts) return;
        event("fenced", line.at);
        if (line.text == "session-timeout") event("session-timeout", line.at);
        // A broker that leads nothing is released in the same decision, without a line for the beginning.
        if (line.text == "controlled-shutdown" && !shutting_down_.erase(line.broker))
            event("controlled-shutdown", line.at);
    }

    void changed(const TraceEvent& line, bool counts) {
        View next;
        next.leader = line.leader;
        next.isr = line.isr;
        // The controller writes the partition's change before the fence that caused it, as Kafka does.
        if (line.text == "fenced" || line.unclean) {
            if (const auto known = views_.find(line.partition);
                known != views_.end() && known->second.leader) {
                fenced_.insert(*known->second.leader);
            }
        }
        if (const auto known = views_.find(line.partition); counts && known != views_.end() &&
                                                            known->second.isr && line.elected &&
                                                            !line.unclean && line.leader != kNoBroker) {
            const std::vector<BrokerId>& before = *known->second.isr;
            if (std::find(before.begin(), before.end(), line.leader) == before.end())
                event("elr-election", line.at);
        }
        compare(line.partition, next, line.at, counts);
    }

    void count_observations() {
        std::vector<const Operation*> order;
        for (const Operation& operation : context_.history.operations) {
            if ((operation.as<Observe>() != nullptr)) order.push_back(&operation);
        }
        std::stable_sort(order.begin(), order.end(),
                         [](const Operation* a, const Operation* b) { return a->completed < b->completed; });
        for (const Operation* operation : order) {
            const auto& observe = *operation->as<Observe>();
            View next;
            next.leader = observe.leader;
            next.isr = observe.isr;
            compare(observe.partition, next, operation->completed, true);
        }
    }

    /// A leader is lost when nobody follows it in office, or somebody does after it was fenced.
    void compare(std::int32_t partition, const View& next, Instant at, bool counts) {
        const auto [found, first] = views_.try_emplace(partition, next);
        if (first) return;
        View& known = found->second;
        if (counts && next.isr && known.isr && next.isr->size() < known.isr->size()) event("isr-shrunk", at);
        if (counts && next.isr && known.isr && next.isr->size() > known.isr->size())
            event("isr-expanded", at);
        if (counts && next.leader && known.leader && *next.leader != *known.leader) {
            const bool vacant = *next.leader == kNoBroker;
            event(vacant ? "leader-lost" : "leader-changed", at);
            if (!vacant && fenced_.contains(*known.leader)) event("leader-lost", at);
        }
        if (next.isr) known.isr = next.isr;
        if (next.leader) known.leader = next.leader;
    }

    const Context& context_;
    Findings& findings_;
    std::map<std::string, Window> windows_;
    std::map<std::int32_t, View> views_;
    /// Leaders whose high watermark is below their log's end, by node and partition: since when.
    std::map<std::pair<BrokerId, std::int32_t>, Instant> behind_;
    std::set<BrokerId> fenced_;
    std::set<BrokerId> shutting_down_;
    /// Faults counted already, by id and target.
    std::set<std::pair<std::string, std::string>> struck_;
};

}  // namespace

void collect_evidence(const Context& context, Findings& findings) { Evidence(context, findings).run(); }

}  // namespace highwater::checker
