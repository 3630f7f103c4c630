#include "node/log/segment.h"

#include <algorithm>

#include "base/assert.h"

namespace highwater::node {
namespace {

// Recovery reads in pieces, so that a large log does not need its size in memory.
constexpr std::uint64_t kRecoveryPiece = 4U << 20U;

}  // namespace

Result<Segment> Segment::open(Storage& storage, const std::string& path, Offset base_offset) {
    auto file = storage.open(path);
    if (!file) return tl::make_unexpected(file.error());
    Segment segment(std::move(*file), base_offset);
    if (const Status recovered = segment.recover(); !recovered) return tl::make_unexpected(recovered.error());
    return segment;
}

Status Segment::recover() {
    std::uint64_t position = 0;
    const std::uint64_t end = file_->size();
    std::uint64_t wanted = kRecoveryPiece;
    while (position < end) {
        const auto bytes = file_->read(position, std::min(wanted, end - position));
        if (!bytes) return tl::make_unexpected(bytes.error());
        const std::size_t indexed = index_batches(*bytes, position);
        position += indexed;
        wanted = kRecoveryPiece;
        if (indexed > 0) continue;
        // Nothing whole begins here: the log is torn, unless it is one batch larger than what was read.
        const auto header = wire::read_batch_header(*bytes);
        if (!header || header->size() <= bytes->size() || header->size() > end - position) break;
        wanted = header->size();
    }
    if (position == end) return {};
    recovered_cut_bytes_ = end - position;
    return file_->truncate(position);
}

/// Adds the whole and valid batches at the beginning of `bytes`, which lie at `position`; the bytes they
/// take.
std::size_t Segment::index_batches(BytesView bytes, std::uint64_t position) {
    std::size_t at = 0;
    while (at < bytes.size()) {
        const auto batch = wire::validate_batch(bytes.subspan(at));
        if (!batch || batch->base_offset < next_offset()) break;
        batches_.push_back(
            {batch->base_offset, batch->last_offset(), batch->leader_epoch, position + at, batch->size()});
        at += batch->size();
    }
    return at;
}

Status Segment::append(BytesView bytes, const std::vector<wire::BatchView>& views) {
    std::uint64_t position = file_->size();
    if (Status written = file_->append(bytes); !written) return written;
    for (const wire::BatchView& view : views) {
        HW_ASSERT(view.header.base_offset >= next_offset(), "batch at {} after {}", view.header.base_offset,
                  next_offset());
        batches_.push_back({view.header.base_offset, view.header.last_offset(), view.header.leader_epoch,
                            position, view.bytes.size()});
        position += view.bytes.size();
    }
    HW_ASSERT(position == file_->size(), "{} indexed, {} written", position, file_->size());
    return {};
}

Result<Bytes> Segment::read(Offset from, Offset limit, std::size_t max_bytes) const {
    const auto first =
        std::lower_bound(batches_.begin(), batches_.end(), from,
                         [](const Batch& batch, Offset offset) { return batch.last_offset < offset; });
    std::uint64_t size = 0;
    for (auto batch = first; batch != batches_.end() && batch->last_offset < limit; ++batch) {
        if (size > 0 && size + batch->size > max_bytes) break;
        size += batch->size;
    }
    if (size == 0) return Bytes{};
    return file_->read(first->position, size);
}

Status Segment::truncate_to(Offset offset) {
    const auto first = std::lower_bound(batches_.begin(), batches_.end(), offset,
                                        [](const Batch& batch, Offset at) { return batch.last_offset < at; });
    if (first == batches_.end()) return {};
    if (Status cut = file_->truncate(first->position); !cut) return cut;
    batches_.erase(first, batches_.end());
    return {};
}

}  // namespace highwater::node
