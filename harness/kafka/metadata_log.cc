#include "harness/kafka/metadata_log.h"

#include <algorithm>
#include <optional>

namespace highwater::harness {
namespace {

wire::BatchHeader header_of(const Bytes& batch) { return *wire::read_batch_header(batch); }

MetadataBatch decoded(const Bytes& bytes, const wire::BatchHeader& header) {
    MetadataBatch batch;
    batch.base_offset = header.base_offset;
    batch.epoch = header.leader_epoch;
    batch.timestamp_ms = header.max_timestamp;
    if (header.control()) return batch;
    const auto records = wire::decode_records(bytes);
    if (!records) return batch;
    for (const wire::Record& record : *records) {
        if (!record.value) continue;
        auto value = wire::decode_metadata_record(*record.value);
        if (value) batch.records.push_back(std::move(value->record));
    }
    return batch;
}

}  // namespace

MetadataLog::MetadataLog(const std::vector<std::string>& directories) {
    for (const std::string& directory : directories) members_.push_back({SegmentTail(directory, true), {}});
}

bool MetadataLog::majority_has(const wire::BatchHeader& header) const {
    std::size_t have = 0;
    for (const Member& member : members_) {
        if (member.batches.empty()) continue;
        const wire::BatchHeader first = header_of(member.batches.front());
        if (first.base_offset == header.base_offset && first.leader_epoch == header.leader_epoch) ++have;
    }
    return have * 2 > members_.size();
}

std::vector<MetadataBatch> MetadataLog::poll() {
    for (Member& member : members_) {
        SegmentTail::Progress progress = member.tail.poll();
        if (progress.cut) member.batches.clear();
        for (Bytes& batch : progress.batches) {
            if (header_of(batch).base_offset >= committed_) member.batches.push_back(std::move(batch));
        }
    }
    std::vector<MetadataBatch> found;
    for (bool more = true; more;) {
        more = false;
        for (const Member& member : members_) {
            if (member.batches.empty()) continue;
            const Bytes batch = member.batches.front();
            const wire::BatchHeader header = header_of(batch);
            if (!majority_has(header)) continue;
            found.push_back(decoded(batch, header));
            committed_ = header.next_offset();
            more = true;
            break;
        }
        // What a member has below is told: by the majority, or it was never committed.
        for (Member& member : members_) {
            while (!member.batches.empty() && header_of(member.batches.front()).base_offset < committed_)
                member.batches.pop_front();
        }
    }
    return found;
}

}  // namespace highwater::harness
