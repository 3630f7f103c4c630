// replica-divergence: the final reads of two replicas show different records below the high watermarks of
// both, or one lacks what the other has there.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

/// The last complete pass of one final reader.
struct Pass {
    std::vector<const Read*> reads;
    bool complete = false;

    [[nodiscard]] Offset high_watermark() const { return reads.back()->poll->high_watermark; }
    [[nodiscard]] Offset log_start() const { return std::max(reads.front()->poll->log_start, Offset{0}); }
    /// By offset, from `first` on.
    [[nodiscard]] std::vector<ReadRecord> records(Offset first) const {
        std::vector<ReadRecord> all;
        for (const Read* read : reads) {
            for (const ReadRecord& record : read->poll->records) {
                if (record.offset >= first) all.push_back(record);
            }
        }
        std::stable_sort(all.begin(), all.end(),
                         [](const ReadRecord& a, const ReadRecord& b) { return a.offset < b.offset; });
        return all;
    }
};

/// By reader.
std::map<std::int32_t, Pass> passes_of(const PartitionHistory& partition) {
    std::map<std::int32_t, Pass> passes;
    for (const Read& read : partition.reads()) {
        if (!read.poll->final) continue;
        Pass& pass = passes[read.client];
        if (pass.complete || (!pass.reads.empty() && read.from < pass.reads.back()->end)) pass = {};
        pass.reads.push_back(&read);
        pass.complete = read.poll->complete && read.poll->high_watermark != kUnknownOffset;
    }
    std::erase_if(passes, [](const auto& entry) { return !entry.second.complete; });
    return passes;
}

void report(const Context& context, Findings& findings, std::int32_t number, const Pass& one,
            const Pass& other, Offset offset, const std::string& how) {
    if (!findings.count("replica-divergence", false)) return;
    Anomaly anomaly;
    anomaly.kind = "replica-divergence";
    anomaly.partition = number;
    anomaly.offset = offset;
    anomaly.sentence =
        fmt::format("at the end brokers {} and {} differ below their high watermarks {} and {}: {}",
                    one.reads.front()->poll->broker, other.reads.front()->poll->broker, one.high_watermark(),
                    other.high_watermark(), how);
    anomaly.operations = {one.reads.back()->op, other.reads.back()->op};
    anomaly.context = surroundings(context, number, offset, {}, one.reads.front()->invoked);
    findings.sample(std::move(anomaly));
}

void compare(const Context& context, Findings& findings, std::int32_t number, const Pass& one,
             const Pass& other) {
    const Offset start = std::max(one.log_start(), other.log_start());
    const std::vector<ReadRecord> left = one.records(start);
    const std::vector<ReadRecord> right = other.records(start);
    const Offset end = std::min(one.high_watermark(), other.high_watermark());
    auto a = left.begin();
    auto b = right.begin();
    while (true) {
        const Offset at_a = a == left.end() ? end : std::min(a->offset, end);
        const Offset at_b = b == right.end() ? end : std::min(b->offset, end);
        const Offset at = std::min(at_a, at_b);
        if (at == end) return;
        if (at_a != at_b || a->value != b->value) {
            report(context, findings, number, one, other, at,
                   fmt::format("at offset {} one has {}, the other {}", at,
                               at_a == at ? value_text(a->value) : "nothing",
                               at_b == at ? value_text(b->value) : "nothing"));
            return;  // what follows follows from it
        }
        ++a;
        ++b;
    }
}

}  // namespace

void check_replica_divergence(const Context& context, Findings& findings) {
    for (const auto& [number, partition] : context.partitions) {
        const std::map<std::int32_t, Pass> passes = passes_of(partition);
        const Pass* leaders = nullptr;
        for (const auto& [client, pass] : passes) {
            if (!pass.reads.front()->poll->from_follower) leaders = &pass;
        }
        if (leaders == nullptr) continue;
        for (const auto& [client, pass] : passes) {
            if (&pass != leaders && pass.reads.front()->poll->from_follower)
                compare(context, findings, number, *leaders, pass);
        }
    }
}

}  // namespace highwater::checker
