// PartitionInvariants: the replicas' logs as read from disk after every change, and their leader epochs.
#include <fmt/format.h>

#include <algorithm>

#include "tests/sim/partition_invariants.h"
#include "tests/support/requests.h"

namespace highwater::sim {

/// NoCommittedRecordLostGlobally: what was acknowledged with acks=all is cut only where another log holds it.
void PartitionInvariants::check_kept_somewhere(const ReplicaView& view, Offset to) {
    if (awaiting_office_) return;
    const std::map<Offset, LogRecord>& all = acknowledged.all();
    for (auto of = all.lower_bound(to); of != all.end() && of->first < view.end(); ++of) {
        const auto at = static_cast<std::size_t>(of->first);
        const bool kept = std::any_of(replicas.begin(), replicas.end(), [&](const auto& replica) {
            const ReplicaView& other = replica.second;
            return other.broker != view.broker && of->first < other.end() && other.log[at] == of->second;
        });
        if (kept || !(view.log[at] == of->second)) continue;
        violated("NoCommittedRecordLostGlobally",
                 fmt::format("broker {} cuts {} -> {} and had the last copy of {} at {}", view.broker,
                             view.end(), to, of->second.value, of->first));
    }
}

void PartitionInvariants::truncated(ReplicaView& view, Offset to) {
    if (to >= view.end()) return;
    check_kept_somewhere(view, to);
    view.log.resize(static_cast<std::size_t>(to));
    while (!view.epochs.empty() && view.epochs.back().start_offset >= to) view.epochs.pop_back();
    view.matched = std::min(view.matched, to);
    ++view.revision;
}

void PartitionInvariants::read_log(ReplicaView& view, const node::PartitionLog& log) {
    if (log.log_end_offset() < view.end()) {
        violated("UnexplainedTruncation",
                 fmt::format("broker {}: {} -> {}", view.broker, view.end(), log.log_end_offset()));
        truncated(view, log.log_end_offset());
    }
    while (view.end() < log.log_end_offset()) {
        const auto bytes = log.read(view.end(), log.log_end_offset(), std::size_t{1} << 20U);
        const auto batches = bytes ? wire::split_batches(*bytes) : tl::make_unexpected(bytes.error());
        if (!batches || batches->empty()) {
            violated("ReadableLog", fmt::format("broker {} at {}: {}", view.broker, view.end(),
                                                batches ? "no batch" : batches.error().message));
            return;
        }
        for (const wire::BatchView& batch : *batches) {
            const auto records = wire::decode_records(batch.bytes);
            if (!records)
                return violated("ReadableLog",
                                fmt::format("broker {}: {}", view.broker, records.error().message));
            for (const wire::Record& record : *records) {
                if (record.offset < view.end()) continue;
                const LeaderEpoch epoch = batch.header.leader_epoch;
                if (!view.log.empty() && epoch < view.log.back().epoch) {
                    violated("EpochsInLogNondecreasing",
                             fmt::format("broker {} at {}: epoch {} after {}", view.broker, record.offset,
                                         epoch, view.log.back().epoch));
                }
                if (view.log.empty() || view.log.back().epoch != epoch)
                    view.epochs.push_back({epoch, view.end()});
                view.log.push_back({epoch, test::value_of(record)});
            }
        }
        ++view.revision;
    }
}

void PartitionInvariants::check_epochs(const ReplicaView& view, const node::PartitionLog& log) {
    const std::vector<node::EpochEntry>& cache = log.epochs().entries();
    const bool same = cache.size() >= view.epochs.size() &&
                      std::equal(view.epochs.begin(), view.epochs.end(), cache.begin());
    // A leader that has not written yet has its epoch at the end of the log.
    const bool at_end =
        same && (cache.size() == view.epochs.size() ||
                 (cache.size() == view.epochs.size() + 1 && cache.back().start_offset == view.end() &&
                  (view.epochs.empty() || cache.back().epoch > view.epochs.back().epoch)));
    if (at_end) return;
    const auto show = [](const std::vector<node::EpochEntry>& entries) {
        std::string text;
        for (const auto& entry : entries) text += fmt::format(" ({},{})", entry.epoch, entry.start_offset);
        return text;
    };
    violated("EpochsInLogNondecreasing", fmt::format("broker {}: cache{} but log{} end {}", view.broker,
                                                     show(cache), show(view.epochs), view.end()));
}

}  // namespace highwater::sim
