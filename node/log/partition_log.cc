#include "node/log/partition_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "node/log/log_segments.h"
#include "node/log/producer_snapshots.h"

namespace highwater::node {
namespace {

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
    Impl(Storage& storage, const std::string& directory, const LogSettings& given)
        : settings(given), segments(storage, directory, given), snapshots(storage, directory) {}

    LogSettings settings;
    LogSegments segments;
    ProducerSnapshots snapshots;
    /// What the epoch file says is what the cache says.
    bool epoch_file_agrees = false;
    /// Why nothing may be appended any more: the end of the files, or what of them is durable, is unknown.
    std::optional<Error> broken;
};

PartitionLog::PartitionLog(Storage& storage, std::string directory)
    : storage_(storage), directory_(std::move(directory)) {}
PartitionLog::~PartitionLog() = default;

Result<std::unique_ptr<PartitionLog>> PartitionLog::open(Storage& storage, std::string directory,
                                                         const LogSettings& settings, const LogStart& start) {
    std::unique_ptr<PartitionLog> log(new PartitionLog(storage, std::move(directory)));
    log->impl_ = std::make_unique<Impl>(storage, log->directory_, settings);
    if (const Status loaded = log->load(start); !loaded) return tl::make_unexpected(loaded.error());
    return log;
}

std::unique_ptr<PartitionLog> PartitionLog::unusable(Storage& storage, std::string directory, Error why) {
    std::unique_ptr<PartitionLog> log(new PartitionLog(storage, std::move(directory)));
    log->impl_ = std::make_unique<Impl>(storage, log->directory_, LogSettings{});
    log->impl_->broken = std::move(why);
    return log;
}

Status PartitionLog::load(const LogStart& start) {
    const auto scan_from = impl_->segments.open(start);
    if (!scan_from) return tl::make_unexpected(scan_from.error());
    if (Status opened = impl_->snapshots.open(); !opened) return opened;
    log_start_offset_ = std::max(start.log_start_offset, impl_->segments.first_offset());
    if (Status loaded = load_epochs(*scan_from); !loaded) return loaded;
    if (Status reloaded = reload_producers(scan_from->value_or(impl_->segments.next_offset())); !reloaded)
        return reloaded;
    recovery_point_ = scan_from->value_or(impl_->segments.next_offset());
    if (*scan_from) {
        if (Status scanned = scan(**scan_from); !scanned) return scanned;
    }
    log_end_offset_ = impl_->segments.next_offset();
    log_start_offset_ = std::min(log_start_offset_, log_end_offset_);
    // An epoch without a record here is not this log's to tell of.
    if (epochs_.truncate_from_end(std::max(log_end_offset_, log_start_offset_)))
        impl_->epoch_file_agrees = false;
    if (!impl_->epoch_file_agrees) {
        if (Status saved = save_epochs(epochs_, Durability::OsDecides); !saved) return saved;
    }
    if (Status removed = impl_->snapshots.remove_above(log_end_offset_); !removed) return removed;
    std::vector<Offset> bases;
    for (const auto& [base, segment] : impl_->segments.all()) bases.push_back(base);
    return impl_->snapshots.remove_strays(bases);
}

/// The file's entries as far as they are believed: below `scan_from` they were durable before their records.
Status PartitionLog::load_epochs(std::optional<Offset> scan_from) {
    const std::string path = directory_ + "/leader-epoch-checkpoint";
    const auto text = storage_.read_file(path);
    if (!text) return tl::make_unexpected(text.error());
    if (!text->has_value()) return scan_from == impl_->segments.first_offset() ? Status{} : rebuild_epochs();
    auto cache = parse_epoch_checkpoint(as_text(**text), path);
    if (!cache) return tl::make_unexpected(cache.error());
    epochs_ = std::move(*cache);
    impl_->epoch_file_agrees = true;
    return {};
}

Status PartitionLog::rebuild_epochs() {
    epochs_ = {};
    impl_->epoch_file_agrees = false;
    return impl_->segments.visit(log_start_offset_, [&](const wire::BatchHeader& header) {
        note_epoch(epochs_, header.leader_epoch, header.base_offset);
        return true;
    });
}

/// Reads again what a crash made doubtful.
Status PartitionLog::scan(Offset from) {
    const std::vector<EpochEntry> in_file = epochs_.entries();
    epochs_.truncate_from_end(from);
    LeaderEpoch last = kNoEpoch;
    const auto cut = impl_->segments.recover(from, [&](const wire::BatchHeader& header) {
        // No CRC covers the epoch, but it never falls.
        if (header.leader_epoch >= 0 && header.leader_epoch < last) return false;
        last = std::max(last, header.leader_epoch);
        note_epoch(epochs_, header.leader_epoch, header.base_offset);
        producers_.note(header);
        return true;
    });
    if (!cut) return tl::make_unexpected(cut.error());
    recovered_cut_bytes_ = *cut;
    if (last >= 0 && epochs_.latest_epoch() != last) {
        // The file knew of something that no batch bears out.
        if (Status rebuilt = rebuild_epochs(); !rebuilt) return rebuilt;
    }
    if (epochs_.entries() != in_file) impl_->epoch_file_agrees = false;
    return {};
}

Status PartitionLog::reload_producers(Offset end) {
    auto loaded = impl_->snapshots.newest_at_or_below(end, log_start_offset_);
    if (!loaded) return tl::make_unexpected(loaded.error());
    producers_ = std::move(loaded->states);
    if (loaded->offset >= end) return {};
    return impl_->segments.visit(loaded->offset, [&](const wire::BatchHeader& header) {
        if (header.base_offset >= end) return false;
        producers_.note(header);
        return true;
    });
}

Status PartitionLog::save_epochs(const LeaderEpochCache& epochs, Durability durability) {
    impl_->epoch_file_agrees = false;
    const std::string text = format_epoch_checkpoint(epochs);
    Status written =
        storage_.replace_file(directory_ + "/leader-epoch-checkpoint", as_bytes_view(text), durability);
    if (!written) return written;
    impl_->epoch_file_agrees = true;
    return {};
}

Result<AppendInfo> PartitionLog::append_as_leader(Bytes batches, LeaderEpoch epoch) {
    {
        const auto views = wire::split_batches(batches);
        if (!views) return tl::make_unexpected(views.error());
        ProducerVerdict verdict = producers_.check(*views);
        if (verdict.duplicate) {
            return AppendInfo{.duplicate = true,
                              .first_offset = verdict.duplicate->first_offset,
                              .last_offset = verdict.duplicate->last_offset,
                              .max_timestamp = verdict.duplicate->timestamp};
        }
        if (verdict.error != wire::ErrorCode::None)
            return AppendInfo{.error = verdict.error, .refusal = std::move(verdict.reason)};
        Offset next = log_end_offset_;
        std::size_t at = 0;
        for (const wire::BatchView& view : *views) {
            wire::set_offset_and_epoch(batches, at, next, epoch);
            next += Offset{view.header.last_offset_delta} + 1;
            at += view.bytes.size();
        }
        if (at != batches.size() || views->empty())
            return failure(directory_ + ": the batches to append are incomplete");
    }
    return append_as_follower(batches);
}

Result<AppendInfo> PartitionLog::append_as_follower(BytesView bytes) {
    if (impl_->broken) return failure(directory_ + ": nothing can be appended any more", *impl_->broken);
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
        if (const Status written = save_epochs(epochs, Durability::Flushed); !written)
            return tl::make_unexpected(written.error());
    }
    if (const Status appended = append_chunks(*views); !appended) {
        if (new_epoch) impl_->epoch_file_agrees = false;
        return tl::make_unexpected(appended.error());
    }
    epochs_ = std::move(epochs);
    log_end_offset_ = info->last_offset + 1;
    if (log_end_offset_ - recovery_point_ >= impl_->settings.flush_interval_messages) {
        if (const Status flushed = flush(); !flushed) return tl::make_unexpected(flushed.error());
    }
    return info;
}

/// In one piece, unless its offsets lie further apart than one segment's index can tell.
Status PartitionLog::append_chunks(const std::vector<wire::BatchView>& views) {
    std::size_t begin = 0;
    while (begin < views.size()) {
        std::size_t end = begin + 1;
        std::size_t bytes = views[begin].bytes.size();
        const Offset base = begin == 0 ? log_end_offset_ : views[begin].header.base_offset;
        while (end < views.size() &&
               views[end].header.last_offset() - base <= std::numeric_limits<std::int32_t>::max()) {
            bytes += views[end].bytes.size();
            ++end;
        }
        const std::vector<wire::BatchView> chunk(views.begin() + static_cast<std::ptrdiff_t>(begin),
                                                 views.begin() + static_cast<std::ptrdiff_t>(end));
        if (const Status appended = append_chunk({views[begin].bytes.data(), bytes}, chunk); !appended)
            return undo_append(appended.error(), begin > 0);
        begin = end;
    }
    return {};
}

Status PartitionLog::append_chunk(BytesView bytes, const std::vector<wire::BatchView>& views) {
    LogSegments& segments = impl_->segments;
    std::int64_t max_timestamp = -1;
    for (const wire::BatchView& view : views)
        max_timestamp = std::max(max_timestamp, view.header.max_timestamp);
    if (segments.must_roll(bytes.size(), views.back().header.last_offset(), max_timestamp)) {
        if (const Status rolled = segments.roll(); !rolled) {
            impl_->broken = rolled.error();
            return rolled;
        }
        recovery_point_ = segments.next_offset();
        if (Status taken = impl_->snapshots.take(recovery_point_, producers_); !taken) return taken;
    }
    if (Status appended = segments.active().append(bytes, views); !appended) return appended;
    for (const wire::BatchView& view : views) producers_.note(view.header);
    return {};
}

tl::unexpected<Error> PartitionLog::undo_append(const Error& cause, bool appended_some) {
    if (!appended_some) return tl::make_unexpected(cause);
    Status undone = impl_->segments.truncate_to(log_end_offset_);
    if (undone) undone = impl_->snapshots.remove_above(log_end_offset_);
    if (undone) undone = reload_producers(log_end_offset_);
    recovery_point_ = std::min(recovery_point_, log_end_offset_);
    if (!undone) impl_->broken = undone.error();
    return tl::make_unexpected(cause);
}

Result<Bytes> PartitionLog::read(Offset from, Offset limit, std::size_t max_bytes) const {
    HW_ASSERT(from >= log_start_offset_ && from <= log_end_offset_, "read at {} of [{}, {}]", from,
              log_start_offset_, log_end_offset_);
    if (from >= limit || from == log_end_offset_) return Bytes{};
    return impl_->segments.read(from, limit, max_bytes);
}

Status PartitionLog::truncate_to(Offset offset) {
    if (offset < log_end_offset_) {
        Status cut = impl_->segments.truncate_to(offset);
        log_end_offset_ = impl_->segments.next_offset();
        recovery_point_ = std::min(recovery_point_, log_end_offset_);
        if (cut) cut = impl_->snapshots.remove_above(log_end_offset_);
        if (cut) cut = reload_producers(log_end_offset_);
        if (!cut) {
            impl_->broken = cut.error();
            return cut;
        }
    }
    // Also when the log needed no cut: a stray entry at its end would answer for an epoch that is not there.
    if (epochs_.truncate_from_end(std::min(offset, std::max(log_end_offset_, log_start_offset_)))) {
        return save_epochs(epochs_, Durability::OsDecides);
    }
    return {};
}

Status PartitionLog::assign_epoch(LeaderEpoch epoch, Offset start) {
    if (!epochs_.assign(epoch, start)) return {};
    return save_epochs(epochs_, Durability::Flushed);
}

Status PartitionLog::flush() {
    if (impl_->segments.all().empty()) return tl::make_unexpected(*impl_->broken);
    Status flushed = impl_->segments.flush();
    // What of the pages is on the disk is unknown now, and a second fsync would not tell.
    if (!flushed) impl_->broken = flushed.error();
    if (flushed) recovery_point_ = log_end_offset_;
    return flushed;
}

Status PartitionLog::close() {
    if (impl_->broken) return tl::make_unexpected(*impl_->broken);
    if (Status sealed = impl_->segments.active().seal(); !sealed) {
        impl_->broken = sealed.error();
        return sealed;
    }
    recovery_point_ = log_end_offset_;
    if (!impl_->epoch_file_agrees) {
        if (Status saved = save_epochs(epochs_, Durability::Flushed); !saved) return saved;
    }
    return impl_->snapshots.take(log_end_offset_, producers_);
}

Offset PartitionLog::first_segment_offset() const {
    return impl_->segments.all().empty() ? log_start_offset_ : impl_->segments.first_offset();
}
std::size_t PartitionLog::segment_count() const { return impl_->segments.all().size(); }
std::uint64_t PartitionLog::size_bytes() const { return impl_->segments.size(); }

}  // namespace highwater::node
