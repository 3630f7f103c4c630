// Builds small histories and traces for tests: times in milliseconds, everything else the defaults of a
// three-replica topic with min ISR 2 and acks=all.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "checker/checker.h"

namespace highwater::checker {

inline constexpr std::size_t kMost = 256;

class HistoryBuilder {
public:
    History history;

    HistoryBuilder() {
        history.meta.min_isr = 2;
        history.meta.broker = "node";
        // References that tests keep stay good.
        history.operations.reserve(kMost);
    }
    Produce& produce(std::int64_t from_ms, std::int64_t to_ms, Value value, Offset offset,
                     Outcome status = Outcome::Ok, std::int16_t acks = -1) {
        Produce produce;
        produce.value = value;
        produce.offset = offset;
        produce.status = status;
        produce.acks = acks;
        return add<Produce>(from_ms, to_ms, "p1", std::move(produce));
    }
    Poll& poll(std::int64_t from_ms, std::int64_t to_ms, std::vector<ReadRecord> records,
               const std::string& client = "c1") {
        Poll poll;
        poll.records = std::move(records);
        if (!poll.records.empty()) poll.from = poll.records.front().offset;
        return add<Poll>(from_ms, to_ms, client, std::move(poll));
    }
    /// A complete final read of [0, last record].
    Poll& final(std::vector<ReadRecord> records, std::int64_t from_ms = 9000) {
        Poll poll;
        poll.high_watermark = records.empty() ? 0 : records.back().offset + 1;
        poll.records = std::move(records);
        poll.log_start = 0;
        poll.from = 0;
        poll.final = true;
        poll.complete = true;
        return add<Poll>(from_ms, from_ms + 50, "final", std::move(poll));
    }
    template <class T>
    T& add(std::int64_t from_ms, std::int64_t to_ms, const std::string& client, T what) {
        Operation operation;
        operation.invoked = at(from_ms);
        operation.completed = at(to_ms);
        operation.client = history.client_index(client);
        operation.what = std::move(what);
        history.operations.push_back(std::move(operation));
        return *history.operations.back().as<T>();
    }
    static Instant at(std::int64_t ms) { return {ms * 1'000'000}; }

    [[nodiscard]] Verdict judge() const { return check({.history = history}); }
    [[nodiscard]] Verdict judge(const Trace& trace) const {
        return check({.history = history, .trace = &trace});
    }
};

class TraceBuilder {
public:
    Trace trace;

    TraceBuilder() { trace.events.reserve(kMost); }
    TraceEvent& line(std::int64_t ms, BrokerId node, TraceKind kind) {
        TraceEvent event;
        event.at = HistoryBuilder::at(ms);
        event.node = node;
        event.incarnation = 1;
        event.sequence = static_cast<std::int64_t>(trace.events.size() + 1);
        event.kind = kind;
        event.topic = "t";
        event.partition = 0;
        trace.events.push_back(std::move(event));
        return trace.events.back();
    }
    TraceEvent& leads(std::int64_t ms, BrokerId node, LeaderEpoch epoch, Offset log_end,
                      std::vector<OffsetAndEpoch> table, std::vector<BrokerId> isr) {
        TraceEvent& event = line(ms, node, TraceKind::Role);
        event.role = "leader";
        event.leader = node;
        event.epoch = epoch;
        event.log_end_offset = log_end;
        event.epoch_start = log_end;
        event.high_watermark = 0;
        event.table = std::move(table);
        event.isr = std::move(isr);
        return event;
    }
    TraceEvent& elects(std::int64_t ms, BrokerId leader, LeaderEpoch epoch, bool unclean,
                       std::vector<BrokerId> isr) {
        TraceEvent& event = line(ms, 100, TraceKind::Partition);
        event.leader = leader;
        event.epoch = epoch;
        event.elected = true;
        event.unclean = unclean;
        event.isr = std::move(isr);
        return event;
    }
    TraceEvent& acks(std::int64_t ms, BrokerId node, LeaderEpoch epoch, Offset first, Offset last,
                     std::vector<BrokerId> isr) {
        TraceEvent& event = line(ms, node, TraceKind::Ack);
        event.epoch = epoch;
        event.acks = -1;
        event.first = first;
        event.last = last;
        event.isr = isr;
        event.maximal_isr = std::move(isr);
        event.high_watermark = last + 1;
        return event;
    }
    TraceEvent& moves(std::int64_t ms, BrokerId node, LeaderEpoch epoch, Offset from, Offset to,
                      std::vector<BrokerId> isr, std::vector<TraceReplica> replicas) {
        TraceEvent& event = line(ms, node, TraceKind::Hw);
        event.role = "leader";
        event.epoch = epoch;
        event.from = from;
        event.to = to;
        event.log_end_offset = to;
        event.isr = std::move(isr);
        event.replicas = std::move(replicas);
        return event;
    }
    TraceEvent& cuts(std::int64_t ms, BrokerId node, LeaderEpoch epoch, Offset from, Offset to) {
        TraceEvent& event = line(ms, node, TraceKind::Truncate);
        event.epoch = epoch;
        event.from = from;
        event.to = to;
        return event;
    }
};

inline std::int64_t count(const Verdict& verdict, const std::string& kind) {
    const auto found = verdict.counts.find(kind);
    return found == verdict.counts.end() ? 0 : found->second;
}
inline std::int64_t evidence(const Verdict& verdict, const std::string& name) {
    const auto found = verdict.evidence.find(name);
    return found == verdict.evidence.end() ? 0 : found->second;
}
inline bool violated(const Verdict& verdict, const std::string& kind) {
    for (const std::string& violation : verdict.violations) {
        if (violation == kind) return true;
    }
    return false;
}
inline std::string sentence(const Verdict& verdict, const std::string& kind) {
    for (const Anomaly& anomaly : verdict.anomalies) {
        if (anomaly.kind == kind) return anomaly.sentence;
    }
    return "";
}

}  // namespace highwater::checker
