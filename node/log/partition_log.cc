#include "node/log/partition_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/assert.h"
#include "node/log/segment.h"

namespace highwater::node {
namespace {

constexpr std::size_t kScanPiece = 4U << 20U;
constexpr std::string_view kFirstSegment = "00000000000000000000.log";

/// Kafka's directory of a long partition has more segments than this log reads; to leave them out would lose
/// them.
Status check_single_segment(Storage& storage, const std::string& directory) {
    const auto names = storage.list(directory);
    if (!names) return tl::make_unexpected(names.error());
    for (const std::string& name : *names) {
        if (name.ends_with(".log") && name != kFirstSegment) {
            return failure(fmt::format("{}/{}: only one segment a partition, {}, can be read", directory,
                                       name, kFirstSegment));
        }
    }
    return {};
}

/// A batch of `epoch` will lie at `offset`. True if `epochs` changed.
bool note_epoch(LeaderEpochCache& epochs, LeaderEpoch epoch, Offset offset) {
    if (epoch < 0 || epochs.latest_epoch() == epoch) return false;
    // What begins here or beyond without a record is disproved by this batch.
    const bool cut = epochs.truncate_from_end(offset);
    if (epochs.latest_epoch().value_or(kNoEpoch) >= epoch) return cut;
    return epochs.assign(epoch, offset) || cut;
}

/// Whether `batches` may be appended at `log_end_offset`, and what they hold.
Result<AppendInfo> check_batches(const std::vector<wire::BatchView>& batches, Offset log_end_offset) {
    AppendInfo info;
    Offset next = log_end_offset;
    for (const wire::BatchView& view : batches) {
        const auto valid = wire::validate_batch(view.bytes);
        if (!valid) return tl::make_unexpected(valid.error());
        const bool follows = info.batches == 0 ? valid->base_offset == next : valid->base_offset >= next;
        if (!follows)
            return failure(fmt::format("batch at offset {} does not follow {}", valid->base_offset, next));
        next = valid->next_offset();
        info.max_timestamp = std::max(info.max_timestamp, valid->max_timestamp);
        ++info.batches;
    }
    if (info.batches > 0) {
        info.first_offset = log_end_offset;
        info.last_offset = next - 1;
    }
    return info;
}

}  // namespace

struct PartitionLog::Impl {
    explicit Impl(Segment opened) : segment(std::move(opened)) {}

    Status write_epochs(const PartitionLog& log, const LeaderEpochCache& epochs, Durability durability) {
        epoch_file_agrees = false;
        const std::string text = format_epoch_checkpoint(epochs);
        Status written = log.storage_.replace_file(log.directory_ + "/leader-epoch-checkpoint",
                                                   as_bytes_view(text), durability);
        if (!written) return written;
        epoch_file_agrees = true;
        return {};
    }

    /// The only segment so far; its name is its first offset.
    Segment segment;
    /// What the file says is what the cache says.
    bool epoch_file_agrees = true;
};

PartitionLog::PartitionLog(Storage& storage, std::string directory)
    : storage_(storage), directory_(std::move(directory)) {}
PartitionLog::~PartitionLog() = default;

Result<std::unique_ptr<PartitionLog>> PartitionLog::open(Storage& storage, std::string directory) {
    std::unique_ptr<PartitionLog> log(new PartitionLog(storage, std::move(directory)));
    if (const Status single = check_single_segment(storage, log->directory_); !single) {
        return tl::make_unexpected(single.error());
    }
    auto segment = Segment::open(storage, fmt::format("{}/{}", log->directory_, kFirstSegment), 0);
    if (!segment) return tl::make_unexpected(segment.error());
    log->recovered_cut_bytes_ = segment->recovered_cut_bytes();
    log->log_end_offset_ = segment->next_offset();
    log->impl_ = std::make_unique<Impl>(std::move(*segment));

    if (const Status rebuilt = log->rebuild_producers(); !rebuilt)
        return tl::make_unexpected(rebuilt.error());

    const std::string epoch_file = log->directory_ + "/leader-epoch-checkpoint";
    const auto text = storage.read_file(epoch_file);
    if (!text) return tl::make_unexpected(text.error());
    if (text->has_value()) {
        auto cache = parse_epoch_checkpoint(as_text(**text), epoch_file);
        if (!cache) return tl::make_unexpected(cache.error());
        log->epochs_ = std::move(*cache);
    }
    // A power loss may have left the file older or newer than the batches, which know their epochs.
    LeaderEpochCache written;
    for (const Segment::Batch& batch : log->impl_->segment.batches())
        note_epoch(written, batch.epoch, batch.base_offset);
    if (written.entries() != log->epochs_.entries()) {
        log->epochs_ = std::move(written);
        if (const Status saved = log->impl_->write_epochs(*log, log->epochs_, Durability::OsDecides);
            !saved) {
            return tl::make_unexpected(saved.error());
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
            next += Offset{view.header.last_offset_delta} + 1;
            at += view.bytes.size();
        }
        if (at != batches.size() || views->empty())
            return failure(directory_ + ": the batches to append are incomplete");
        ProducerVerdict verdict = producers_.check(*views);
        if (verdict.duplicate) {
            return AppendInfo{.duplicate = true,
                              .first_offset = verdict.duplicate->first_offset,
                              .last_offset = verdict.duplicate->last_offset,
                              .max_timestamp = verdict.duplicate->timestamp};
        }
        if (verdict.error != wire::ErrorCode::None)
            return AppendInfo{.error = verdict.error, .refusal = std::move(verdict.reason)};
        for (std::size_t i = 0; i < positions.size(); ++i)
            wire::set_offset_and_epoch(batches, positions[i], offsets[i], epoch);
    }
    return append_as_follower(batches);
}

Result<AppendInfo> PartitionLog::append_as_follower(BytesView bytes) {
    const auto views = wire::split_batches(bytes);
    if (!views) return failure(directory_, views.error());
    const auto info = check_batches(*views, log_end_offset_);
    if (!info) return failure(directory_, info.error());
    if (views->empty()) return info;

    LeaderEpochCache epochs = epochs_;
    bool new_epoch = false;
    for (const wire::BatchView& view : *views) {
        new_epoch = note_epoch(epochs, view.header.leader_epoch, view.header.base_offset) || new_epoch;
    }
    // The entry is durable before the first record of its epoch exists.
    if (new_epoch || !impl_->epoch_file_agrees) {
        if (const Status written = impl_->write_epochs(*this, epochs, Durability::Flushed); !written) {
            return tl::make_unexpected(written.error());
        }
    }
    std::size_t complete = 0;
    for (const wire::BatchView& view : *views) complete += view.bytes.size();
    if (const Status appended = impl_->segment.append(bytes.first(complete), *views); !appended) {
        if (new_epoch) impl_->epoch_file_agrees = false;
        return tl::make_unexpected(appended.error());
    }
    epochs_ = std::move(epochs);
    for (const wire::BatchView& view : *views) producers_.note(view.header);
    log_end_offset_ = info->last_offset + 1;
    return info;
}

Status PartitionLog::rebuild_producers() {
    producers_.clear();
    for (Offset at = log_start_offset_; at < log_end_offset_;) {
        const auto bytes = read(at, log_end_offset_, kScanPiece);
        if (!bytes) return tl::make_unexpected(bytes.error());
        const auto views = wire::split_batches(*bytes);
        if (!views) return tl::make_unexpected(views.error());
        if (views->empty()) break;
        for (const wire::BatchView& view : *views) producers_.note(view.header);
        at = views->back().header.next_offset();
    }
    return {};
}

Result<Bytes> PartitionLog::read(Offset from, Offset limit, std::size_t max_bytes) const {
    HW_ASSERT(from >= log_start_offset_ && from <= log_end_offset_, "read at {} of [{}, {}]", from,
              log_start_offset_, log_end_offset_);
    if (from >= limit) return Bytes{};
    return impl_->segment.read(from, limit, max_bytes);
}

Status PartitionLog::truncate_to(Offset offset) {
    if (offset < log_end_offset_) {
        if (Status cut = impl_->segment.truncate_to(offset); !cut) return cut;
        log_end_offset_ = impl_->segment.next_offset();
        if (Status rebuilt = rebuild_producers(); !rebuilt) return rebuilt;
    }
    // Also when the log needed no cut: a stray entry at its end would answer for an epoch that is not there.
    if (epochs_.truncate_from_end(std::min(offset, std::max(log_end_offset_, log_start_offset_)))) {
        return impl_->write_epochs(*this, epochs_, Durability::OsDecides);
    }
    return {};
}

Status PartitionLog::assign_epoch(LeaderEpoch epoch, Offset start) {
    if (!epochs_.assign(epoch, start)) return {};
    return impl_->write_epochs(*this, epochs_, Durability::Flushed);
}

Status PartitionLog::flush() { return impl_->segment.flush(); }

}  // namespace highwater::node
