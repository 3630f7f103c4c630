// One segment file of batches with an index of where each batch lies. Offsets rise; holes are allowed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "node/log/storage.h"
#include "wire/record_batch.h"

namespace highwater::node {

class Segment {
public:
    struct Batch {
        Offset base_offset = 0;
        Offset last_offset = 0;
        LeaderEpoch epoch = kNoEpoch;
        std::uint64_t position = 0;
        std::uint64_t size = 0;
    };

    /// Reads every batch and cuts the file at the first that is torn, fails its CRC or does not follow.
    static Result<Segment> open(Storage& storage, const std::string& path, Offset base_offset);

    [[nodiscard]] const std::vector<Batch>& batches() const { return batches_; }
    [[nodiscard]] Offset next_offset() const {
        return batches_.empty() ? base_offset_ : batches_.back().last_offset + 1;
    }
    [[nodiscard]] std::uint64_t recovered_cut_bytes() const { return recovered_cut_bytes_; }

    /// `batches`: complete ones in offset order, described by `views`.
    Status append(BytesView bytes, const std::vector<wire::BatchView>& views);
    /// See PartitionLog::read.
    [[nodiscard]] Result<Bytes> read(Offset from, Offset limit, std::size_t max_bytes) const;
    /// Cuts every batch that holds or follows `offset`.
    Status truncate_to(Offset offset);
    Status flush() { return file_->flush(); }

private:
    Segment(std::unique_ptr<AppendFile> file, Offset base_offset)
        : file_(std::move(file)), base_offset_(base_offset) {}
    Status recover();
    std::size_t index_batches(BytesView bytes, std::uint64_t position);

    std::unique_ptr<AppendFile> file_;
    Offset base_offset_;
    std::vector<Batch> batches_;
    std::uint64_t recovered_cut_bytes_ = 0;
};

}  // namespace highwater::node
