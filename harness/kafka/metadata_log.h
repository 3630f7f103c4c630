// The decisions of a KRaft quorum, in order, as its members' files have them.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "harness/kafka/segment_tail.h"
#include "wire/metadata_record.h"

namespace highwater::harness {

struct MetadataBatch {
    Offset base_offset = 0;
    /// Of the quorum's leader that wrote it.
    LeaderEpoch epoch = kNoEpoch;
    /// Milliseconds since 1970, of that leader's clock at the append.
    std::int64_t timestamp_ms = 0;
    /// Records of unknown types are left out.
    std::vector<wire::MetadataRecord> records;
};

/// What is committed: a majority has it in its files. With one controller that is whatever it wrote.
class MetadataLog {
public:
    /// `directories`: __cluster_metadata-0 of each controller.
    explicit MetadataLog(const std::vector<std::string>& directories);

    /// Batches committed since the last call, each once.
    std::vector<MetadataBatch> poll();

private:
    struct Member {
        SegmentTail tail;
        std::deque<Bytes> batches;  // from committed_ on
    };
    [[nodiscard]] bool majority_has(const wire::BatchHeader& header) const;

    std::vector<Member> members_;
    Offset committed_ = 0;
};

}  // namespace highwater::harness
