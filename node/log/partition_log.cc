#include "node/log/partition_log.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "node/log/segment.h"

namespace highwater::node {

struct PartitionLog::Impl {
    explicit Impl(Segment opened) : segment(std::move(opened)) {}

    Status write_epochs(PartitionLog& log, Durability durability) {
        const std::string text = format_epoch_checkpoint(log.epochs_);
        return log.storage_.replace_file(log.directory_ + "/leader-epoch-checkpoint", as_bytes_view(text), durability);
    }

    /// The only segment so far; its name is its first offset.
    Segment segment;
};

PartitionLog::PartitionLog(Storage& storage, std::string directory) : storage_(storage), directory_(std::move(directory)) {}
PartitionLog::~PartitionLog() = default;

Result<std::unique_ptr<PartitionLog>> PartitionLog::open(Storage& storage, std::string directory) {
    std::unique_ptr<PartitionLog> log(new PartitionLog(storage, std::move(directory)));
    auto segment = Segment::open(storage, log->directory_ + "/00000000000000000000.log", 0);
    if (!segment) return tl::make_unexpected(segment.error());
    log->recovered_cut_bytes_ = segment->recovered_cut_bytes();
    log->log_end_offset_ = segment->next_offset();
    log->impl_ = std::make_unique<Impl>(std::move(*segment));

    const std::string epoch_file = log->directory_ + "/leader-epoch-checkpoint";
    const auto text = storage.read_file(epoch_file);
    if (!text) return tl::make_unexpected(text.error());
    if (text->has_value()) {
        auto cache = parse_epoch_checkpoint(as_text(**text), epoch_file);
        if (!cache) return tl::make_unexpected(cache.error());
        log->epochs_ = std::move(*cache);
    }
    bool changed = log->epochs_.truncate_from_end(log->log_end_offset_);
    // Entries that the file lost, e.g. to a power failure, are in the batches.
    for (const Segment::Batch& batch : log->impl_->segment.batches()) {
        if (batch.epoch < 0) continue;
        const auto latest = log->epochs_.latest_epoch();
        if (!latest || *latest < batch.epoch) changed = log->epochs_.assign(batch.epoch, batch.base_offset) || changed;
    }
    if (changed) {
        if (const Status written = log->impl_->write_epochs(*log, Durability::OsDecides); !written) {
            return tl::make_unexpected(written.error());
        }
    }
    return log;
}

Result<AppendInfo> PartitionLog::append_as_leader(Bytes batches, LeaderEpoch epoch) {
    std::vector<std::size_t> positions;
    {
        const auto views = wire::split_batches(batches);
        if (!views) return tl::make_unexpected(views.error());
        Offset next = log_end_offset_;
        std::size_t at = 0;
        std::vector<Offset> offsets;
        for (const wire::BatchView& view : *views) {
            positions.push_back(at);
            offsets.push_back(next);
            next += view.header.last_offset_delta + 1;
            at += view.bytes.size();
        }
        if (at != batches.size() || views->empty()) return failure(directory_ + ": the batches to append are incomplete");
        for (std::size_t i = 0; i < positions.size(); ++i) wire::set_offset_and_epoch(batches, positions[i], offsets[i], epoch);
    }
    return append_as_follower(batches);
}

Result<AppendInfo> PartitionLog::append_as_follower(BytesView bytes) {
    const auto views = wire::split_batches(bytes);
    if (!views) return tl::make_unexpected(views.error());
    AppendInfo info;
    info.first_offset = log_end_offset_;
    std::size_t complete = 0;
    Offset next = log_end_offset_;
    bool first = true;
    bool new_epoch = false;
    for (const wire::BatchView& view : *views) {
        const auto valid = wire::validate_batch(view.bytes);
        if (!valid) return failure(directory_, valid.error());
        if (first ? valid->base_offset != next : valid->base_offset < next) {
            return failure(fmt::format("{}: batch at offset {} does not follow {}", directory_, valid->base_offset, next));
        }
        if (valid->leader_epoch >= 0 && epochs_.latest_epoch().value_or(kNoEpoch) < valid->leader_epoch) {
            new_epoch = epochs_.assign(valid->leader_epoch, valid->base_offset) || new_epoch;
        }
        first = false;
        next = valid->next_offset();
        complete += view.bytes.size();
        info.max_timestamp = std::max(info.max_timestamp, valid->max_timestamp);
        ++info.batches;
    }
    if (views->empty()) return info;
    // The entry is durable before the first record of its epoch exists.
    Status written = new_epoch ? impl_->write_epochs(*this, Durability::Flushed) : Status{};
    if (written) written = impl_->segment.append(bytes.first(complete), *views);
    if (!written) {
        epochs_.truncate_from_end(log_end_offset_);
        return tl::make_unexpected(written.error());
    }
    log_end_offset_ = next;
    info.last_offset = next - 1;
    return info;
}

Result<Bytes> PartitionLog::read(Offset from, Offset limit, std::size_t max_bytes) const {
    HW_ASSERT(from >= log_start_offset_ && from <= log_end_offset_, "read at {} of [{}, {}]", from, log_start_offset_,
              log_end_offset_);
    if (from >= limit) return Bytes{};
    return impl_->segment.read(from, limit, max_bytes);
}

Status PartitionLog::truncate_to(Offset offset) {
    if (offset < log_end_offset_) {
        if (Status cut = impl_->segment.truncate_to(offset); !cut) return cut;
        log_end_offset_ = impl_->segment.next_offset();
    }
    // Also when the log needed no cut: a stray entry at its end would answer for an epoch that is not there.
    if (epochs_.truncate_from_end(std::min(offset, std::max(log_end_offset_, log_start_offset_)))) {
        return impl_->write_epochs(*this, Durability::OsDecides);
    }
    return {};
}

Status PartitionLog::assign_epoch(LeaderEpoch epoch, Offset start) {
    if (!epochs_.assign(epoch, start)) return {};
    return impl_->write_epochs(*this, Durability::Flushed);
}

Status PartitionLog::flush() { return impl_->segment.flush(); }

}  // namespace highwater::node
