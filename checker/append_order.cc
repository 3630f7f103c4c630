// Linearizability of an offset log in one sweep over the surviving log. Every append and read has a key: an
// append at offset o 2o+1, a read whose visible end is n 2n. In a linearizable log nothing returned before
// the call of something with a smaller key: out-of-order-ack (an acknowledged append did), read-from-future
// (a read did), stale-read (somebody returned before the call of a read that ends below it; only judged when
// reads are meant to be linearizable). Records that did not survive are the business of lost-committed,
// lost-weak and dirty-read.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
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
        add_reads();
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
        if (one_attempt) return true;
        const std::optional<LeaderEpoch> acked =
            record_epoch(context_, partition_.partition(), offset, append.op);
        const Leadership* last =
            context_.trace_of(partition_.partition()).last_leadership(partition_.final_log()->completed);
        return acked && last != nullptr && last->table.epoch_at(offset) == acked;
    }

    /// The append of a record of the log.
    [[nodiscard]] Participant append_of(const Place& record) const {
        Participant participant;
        participant.key = 2 * record.offset + 1;
        participant.append = true;
        participant.contributes = true;
        participant.offset = record.offset;
        participant.value = record.value;
        participant.ret = Instant::never();
        participant.call = Instant::never();
        for (const Append* append : partition_.appends_of(record)) {
            if (append->invoked < participant.call) {
                participant.call = append->invoked;
                if (!participant.checks) participant.op = append->op;
            }
            if (!acks_this(*append, record.offset)) continue;
            participant.ret = append->completed;
            participant.op = append->op;
            participant.acked_all = append->acks == -1;
            participant.checks = true;
        }
        return participant;
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
            reads_.push_back(participant);
        }
        const auto less = [](const Participant& a, const Participant& b) { return a.key < b.key; };
        if (!std::is_sorted(reads_.begin(), reads_.end(), less))
            std::stable_sort(reads_.begin(), reads_.end(), less);
    }

    /// The end of the records before the first that did not survive, and whether that was all of them.
    [[nodiscard]] std::pair<Offset, bool> surviving_end(const Read& read) const {
        Offset end = kUnknownOffset;
        const std::vector<Place>& places = partition_.places();
        const auto less = [](const Place& place, const ReadRecord& record) {
            return std::tie(place.offset, place.value) < std::tie(record.offset, record.value);
        };
        auto at = places.begin();
        for (const ReadRecord& record : read.poll->records) {
            // The next record mostly is the next place.
            if (at == places.end() || ++at == places.end() || at->offset != record.offset ||
                at->value != record.value) {
                at = std::lower_bound(places.begin(), places.end(), record, less);
            }
            const bool found = at != places.end() && at->offset == record.offset && at->value == record.value;
            if (!found || !at->final) return {end, false};
            end = std::max(end, record.offset + 1);
        }
        return {end, true};
    }

    /// Upward by key. Reads of one key bind only what lies above it, so they are all judged before one
    /// counts.
    void sweep() {
        auto read = reads_.begin();
        const auto reads_until = [&](std::int64_t key) {
            while (read != reads_.end() && read->key < key) {
                const auto first = read;
                while (read != reads_.end() && read->key == first->key) judge(*read++);
                std::for_each(first, read, [&](const Participant& it) { bind(it); });
            }
        };
        for (const Place& record : partition_.places()) {
            if (!record.final || !record.sent) continue;  // not there, or a phantom or leftover
            const Participant append = append_of(record);
            reads_until(append.key);
            judge(append);
            bind(append);
        }
        reads_until(std::numeric_limits<std::int64_t>::max());
    }

    void judge(const Participant& it) {
        if (!it.checks) return;
        if (last_append_ && last_append_->key < it.key && it.ret < last_append_->call)
            report_order(it, *last_append_);
        const bool judged = linearizable_ && (!it.append || it.acked_all);
        if (judged && last_read_ && it.ret < last_read_->call) report_stale(it, *last_read_);
    }

    void bind(const Participant& it) {
        if (!it.contributes) return;
        std::optional<Participant>& last = it.append ? last_append_ : last_read_;
        if (!last || it.call > last->call) last = it;
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

    struct Numbered {
        const Append* append;
        std::int64_t sequence;
        Offset offset;
    };

    /// A producer that numbers its records: their order in the log is the order of the numbers. Retries of
    /// one that pipelines without idempotence may swap them.
    void check_sequences() {
        std::map<std::int32_t, std::vector<Numbered>> producers;
        for (const Append& append : partition_.appends()) {
            const auto sequence = context_.operation(append.op).as<Produce>()->sequence;
            if (!sequence || append.outcome == Outcome::Fail) continue;
            if (append.outcome == Outcome::Info && !context_.meta.idempotence) continue;
            const Place* place = only_copy(append.value);
            if (place != nullptr) producers[append.client].push_back({&append, *sequence, place->offset});
        }
        const bool allowed = !context_.meta.idempotence && context_.meta.max_in_flight > 1;
        for (auto& [client, numbered] : producers) {
            std::stable_sort(numbered.begin(), numbered.end(),
                             [](const Numbered& a, const Numbered& b) { return a.sequence < b.sequence; });
            const Numbered* highest = nullptr;
            for (const Numbered& it : numbered) {
                if (highest != nullptr && it.offset < highest->offset) report_sequence(*highest, it, allowed);
                if (highest == nullptr || it.offset > highest->offset) highest = &it;
            }
        }
    }

    void report_sequence(const Numbered& first, const Numbered& second, bool allowed) {
        if (!findings_.count("out-of-order-ack", allowed)) return;
        Anomaly anomaly;
        anomaly.kind = "out-of-order-ack";
        anomaly.allowed = allowed;
        anomaly.partition = partition_.partition();
        anomaly.offset = second.offset;
        anomaly.value = second.append->value;
        anomaly.sentence = fmt::format(
            "{} sent {} as number {} and {} as number {}, but they are at offsets {} and {}",
            context_.client_name(first.append->op), value_text(first.append->value), first.sequence,
            value_text(second.append->value), second.sequence, first.offset, second.offset);
        anomaly.operations = {first.append->op, second.append->op};
        findings_.sample(std::move(anomaly));
    }

    const Context& context_;
    Findings& findings_;
    const PartitionHistory& partition_;
    bool linearizable_ = context_.meta.reads == "linearizable";
    std::vector<Participant> reads_;
    // With the largest call so far, of appends and of reads that show where the log ended.
    std::optional<Participant> last_append_;
    std::optional<Participant> last_read_;
};

}  // namespace

void check_append_order(const Context& context, Findings& findings) {
    for (const auto& [number, partition] : context.partitions) {
        // Without the surviving log nobody knows which records to judge.
        if (partition.final_log()) AppendOrder(context, findings, partition).run();
    }
}

}  // namespace highwater::checker
