// Linearizability of an offset log in one sweep over the surviving log. Every append and read has a key: an
// append at offset o 2o+1, a read whose visible end is n 2n. In a linearizable log nothing returned before
// the call of something with a smaller key: out-of-order-ack (an acknowledged append did), read-from-future
// (a read did), stale-read (somebody returned before the call of a read that ends below it; only judged when
// reads are meant to be linearizable). Records that did not survive are the business of lost-committed,
// lost-weak and dirty-read.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

/// What takes part in the sweep.
struct Participant {
    std::int64_t key = 0;
    std::size_t op = 0;
    Instant call;
    /// Instant::never(): it may take effect at any later time.
    Instant ret;
    bool append = false;
    bool acked_all = false;
    /// Judged against smaller keys; else it only contributes.
    bool checks = false;
    /// Its call binds what has a larger key.
    bool contributes = false;
    Offset offset = 0;  // append: its offset; read: its visible end
    Value value = 0;
};

class AppendOrder {
public:
    AppendOrder(const Context& context, Findings& findings, const PartitionHistory& partition)
        : context_(context), findings_(findings), partition_(partition) {}

    void run() {
        add_appends();
        add_reads();
        std::stable_sort(participants_.begin(), participants_.end(),
                         [](const Participant& a, const Participant& b) { return a.key < b.key; });
        sweep();
        check_sequences();
    }

private:
    /// Where the value sits in the final log; nullptr if nowhere or more than once.
    [[nodiscard]] const Place* only_copy(Value value) const {
        const Place* only = nullptr;
        for (const Place* place : partition_.places_of(value)) {
            if (!place->final) continue;
            if (only != nullptr) return nullptr;
            only = place;
        }
        return only;
    }

    /// The acknowledgement is for this very record, so the record was written between call and return.
    [[nodiscard]] bool acks_this(const Append& append, Offset offset) const {
        if (append.outcome != Outcome::Ok) return false;
        // A later attempt may have been the acknowledged one.
        const bool one_attempt = context_.meta.retries == 0;
        if (append.offset == kUnknownOffset) return one_attempt && only_copy(append.value) != nullptr;
        if (append.offset != offset) return false;
        return one_attempt || record_epoch(context_, partition_.partition(), offset, append.op).has_value();
    }

    void add_appends() {
        for (const ReadRecord& record : partition_.final_log()->records) {
            const std::vector<const Append*> appends = partition_.appends_of(record.value);
            if (appends.empty()) continue;  // a phantom, or a leftover
            Participant participant;
            participant.key = 2 * record.offset + 1;
            participant.append = true;
            participant.contributes = true;
            participant.offset = record.offset;
            participant.value = record.value;
            participant.op = appends.front()->op;
            participant.call = appends.front()->invoked;
            participant.ret = Instant::never();
            for (const Append* append : appends) {
                participant.call = std::min(participant.call, append->invoked);
                if (!acks_this(*append, record.offset)) continue;
                participant.ret = append->completed;
                participant.op = append->op;
                participant.acked_all = append->acks == -1;
                participant.checks = true;
            }
            participants_.push_back(participant);
        }
    }

    void add_reads() {
        for (const Read& read : partition_.reads()) {
            Participant participant;
            participant.op = read.op;
            participant.call = read.invoked;
            participant.ret = read.completed;
            if (read.poll->records.empty()) {
                if (read.from == kUnknownOffset || read.poll->from_follower) continue;
                participant.offset = read.from;
                participant.contributes =
                    read.poll->high_watermark != kUnknownOffset && read.poll->high_watermark <= read.from;
            } else {
                const auto [end, whole] = surviving_end(read);
                if (end == kUnknownOffset) continue;
                participant.offset = end;
                participant.checks = true;
                // Only an answer that reached its high watermark shows where the visible log ended.
                participant.contributes =
                    whole && !read.poll->from_follower && end == read.poll->high_watermark;
            }
            participant.key = 2 * participant.offset;
            participants_.push_back(participant);
        }
    }

    /// The end of the records before the first that did not survive, and whether that was all of them.
    [[nodiscard]] std::pair<Offset, bool> surviving_end(const Read& read) const {
        Offset end = kUnknownOffset;
        for (const ReadRecord& record : read.poll->records) {
            const Place* place = partition_.place(record.offset, record.value);
            if (place == nullptr || !place->final) return {end, false};
            end = std::max(end, record.offset + 1);
        }
        return {end, true};
    }

    void sweep() {
        const bool linearizable = context_.meta.reads == "linearizable";
        const Participant* last_append = nullptr;  // with the largest call, of strictly smaller keys
        const Participant* last_read = nullptr;
        for (std::size_t i = 0; i < participants_.size();) {
            std::size_t end = i;
            while (end < participants_.size() && participants_[end].key == participants_[i].key) ++end;
            for (std::size_t at = i; at < end; ++at) {
                const Participant& it = participants_[at];
                if (!it.checks) continue;
                if (last_append != nullptr && it.ret < last_append->call) report_order(it, *last_append);
                const bool judged = linearizable && (!it.append || it.acked_all);
                if (judged && last_read != nullptr && it.ret < last_read->call) report_stale(it, *last_read);
            }
            for (; i < end; ++i) {
                const Participant& it = participants_[i];
                if (!it.contributes) continue;
                const Participant*& last = it.append ? last_append : last_read;
                if (last == nullptr || it.call > last->call) last = &it;
            }
        }
    }

    void report_order(const Participant& later, const Participant& earlier) {
        const char* kind = later.append ? "out-of-order-ack" : "read-from-future";
        if (!findings_.count(kind, false)) return;
        const std::string what =
            later.append ? fmt::format("{} was acked at {}", record_text(later.offset, later.value),
                                       time_text(context_, later.ret))
                         : fmt::format("{} had read up to offset {} at {}", context_.client_name(later.op),
                                       later.offset, time_text(context_, later.ret));
        add(kind, later, earlier,
            fmt::format("{}, but {} below it was only sent at {}", what,
                        record_text(earlier.offset, earlier.value), time_text(context_, earlier.call)));
    }

    void report_stale(const Participant& known, const Participant& stale) {
        if (!findings_.count("stale-read", false)) return;
        add("stale-read", known, stale,
            fmt::format("{} read at {} and saw the log end at {}, though offset {} was visible since {}",
                        context_.client_name(stale.op), time_text(context_, stale.call), stale.offset,
                        known.append ? known.offset : known.offset - 1, time_text(context_, known.ret)));
    }

    void add(const char* kind, const Participant& one, const Participant& other, std::string sentence) {
        Anomaly anomaly;
        anomaly.kind = kind;
        anomaly.partition = partition_.partition();
        anomaly.offset = one.offset;
        anomaly.value = one.value;
        anomaly.sentence = std::move(sentence);
        anomaly.operations = {other.op, one.op};
        findings_.sample(std::move(anomaly));
    }

    /// A producer that numbers its records: their order in the log is the order of the numbers. Retries of
    /// one that pipelines without idempotence may swap them.
    void check_sequences() {
        struct Numbered {
            const Append* append;
            Offset offset;
        };
        std::map<std::int32_t, std::vector<Numbered>> producers;
        for (const Append& append : partition_.appends()) {
            if (!append.sequence || append.outcome == Outcome::Fail) continue;
            if (append.outcome == Outcome::Info && !context_.meta.idempotence) continue;
            const Place* place = only_copy(append.value);
            if (place != nullptr) producers[append.client].push_back({&append, place->offset});
        }
        const bool allowed = !context_.meta.idempotence && context_.meta.max_in_flight > 1;
        for (auto& [client, numbered] : producers) {
            std::stable_sort(numbered.begin(), numbered.end(), [](const Numbered& a, const Numbered& b) {
                return a.append->sequence < b.append->sequence;
            });
            const Numbered* highest = nullptr;
            for (const Numbered& it : numbered) {
                if (highest != nullptr && it.offset < highest->offset)
                    report_sequence(*highest->append, highest->offset, *it.append, it.offset, allowed);
                if (highest == nullptr || it.offset > highest->offset) highest = &it;
            }
        }
    }

    void report_sequence(const Append& first, Offset first_at, const Append& second, Offset second_at,
                         bool allowed) {
        if (!findings_.count("out-of-order-ack", allowed)) return;
        Anomaly anomaly;
        anomaly.kind = "out-of-order-ack";
        anomaly.allowed = allowed;
        anomaly.partition = partition_.partition();
        anomaly.offset = second_at;
        anomaly.value = second.value;
        anomaly.sentence =
            fmt::format("{} sent {} as number {} and {} as number {}, but they are at offsets {} and {}",
                        context_.client_name(first.op), value_text(first.value), *first.sequence,
                        value_text(second.value), *second.sequence, first_at, second_at);
        anomaly.operations = {first.op, second.op};
        findings_.sample(std::move(anomaly));
    }

    const Context& context_;
    Findings& findings_;
    const PartitionHistory& partition_;
    std::vector<Participant> participants_;
};

}  // namespace

void check_append_order(const Context& context, Findings& findings) {
    for (const auto& [number, partition] : context.partitions) {
        // Without the surviving log nobody knows which records to judge.
        if (partition.final_log()) AppendOrder(context, findings, partition).run();
    }
}

}  // namespace highwater::checker
