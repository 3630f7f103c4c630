// nonmonotonic-poll: a consumer's next read goes back, or a read itself does. poll-skip: it leaves out a
// record that is known to be there. Assign, seek and reset move the position; final reads begin where they
// like.
#include <fmt/format.h>

#include <algorithm>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

class PollOrder {
public:
    PollOrder(const Context& context, Findings& findings, const PartitionHistory& partition)
        : context_(context), findings_(findings), partition_(partition) {}

    void run() {
        for (const Read& read : partition_.reads()) {
            if (!read.poll->final) check(read);
        }
    }

private:
    void check(const Read& read) {
        Offset expected = read.position;
        if (expected != kUnknownOffset && read.poll->from != kUnknownOffset && read.poll->from < expected) {
            nonmonotonic(read, expected, read.poll->from);
            expected = read.poll->from;
        }
        for (const ReadRecord& record : read.poll->records) {
            if (expected != kUnknownOffset) {
                if (record.offset < expected)
                    nonmonotonic(read, expected, record.offset);
                else if (const Place* skipped = known_between(expected, record.offset))
                    skip(read, *skipped, record.offset);
            }
            expected = record.offset + 1;
        }
    }

    /// A record that this read had to return: in the final log, else read by others or acknowledged.
    [[nodiscard]] const Place* known_between(Offset from, Offset to) const {
        if (from >= to) return nullptr;
        const std::vector<Place>& places = partition_.places();
        const auto less = [](const Place& place, Offset offset) { return place.offset < offset; };
        for (auto at = std::lower_bound(places.begin(), places.end(), from, less);
             at != places.end() && at->offset < to; ++at) {
            if (partition_.final_log() ? at->final : at->visible()) return &*at;
        }
        return nullptr;
    }

    void nonmonotonic(const Read& read, Offset expected, Offset got) {
        add("nonmonotonic-poll", read, got,
            fmt::format("{} stood at offset {} and read from offset {} at {}", context_.client_name(read.op),
                        expected, got, time_text(context_, read.completed)));
    }

    void skip(const Read& read, const Place& skipped, Offset to) {
        add("poll-skip", read, skipped.offset,
            fmt::format("{} went on to offset {} at {} without {}, which {}", context_.client_name(read.op),
                        to, time_text(context_, read.completed), record_text(skipped.offset, skipped.value),
                        seen_text(context_, partition_.partition(), skipped.offset, skipped.any_op())));
    }

    void add(const char* kind, const Read& read, Offset offset, std::string sentence) {
        if (!findings_.count(kind, false)) return;
        Anomaly anomaly;
        anomaly.kind = kind;
        anomaly.partition = partition_.partition();
        anomaly.offset = offset;
        anomaly.sentence = std::move(sentence);
        anomaly.operations = {read.op};
        findings_.sample(std::move(anomaly));
    }

    const Context& context_;
    Findings& findings_;
    const PartitionHistory& partition_;
};

}  // namespace

void check_poll_order(const Context& context, Findings& findings) {
    for (const auto& [number, partition] : context.partitions) PollOrder(context, findings, partition).run();
}

}  // namespace highwater::checker
