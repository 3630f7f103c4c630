#include "node/log/segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/assert.h"

namespace highwater::node {

std::string offset_file_name(Offset offset) { return fmt::format("{:020}", offset); }

Segment::Segment(Storage& storage, std::string stem, std::unique_ptr<AppendFile> file, Offset base_offset,
                 const LogSettings& settings)
    : storage_(&storage),
      stem_(std::move(stem)),
      file_(std::move(file)),
      base_offset_(base_offset),
      next_offset_(base_offset),
      settings_(settings),
      offsets_(stem_ + ".index"),
      times_(stem_ + ".timeindex") {}

Result<Segment> Segment::open(Storage& storage, const std::string& directory, Offset base_offset,
                              const LogSettings& settings) {
    std::string stem = directory + "/" + offset_file_name(base_offset);
    auto file = storage.open(stem + ".log");
    if (!file) return tl::make_unexpected(file.error());
    return Segment(storage, std::move(stem), std::move(*file), base_offset, settings);
}

// As Kafka's LogSegment.append: an entry names a batch by its last offset, so that a search for any offset
// within or behind that batch begins at its first byte.
void Segment::note(const wire::BatchHeader& header, std::uint64_t position) {
    if (!first_timestamp_) first_timestamp_ = header.max_timestamp;
    if (header.max_timestamp > max_timestamp_) {
        max_timestamp_ = header.max_timestamp;
        max_timestamp_offset_ = header.last_offset();
    }
    if (bytes_since_entry_ > static_cast<std::uint64_t>(settings_.index_interval_bytes)) {
        offsets_.add({static_cast<std::int32_t>(header.last_offset() - base_offset_),
                      static_cast<std::int32_t>(position)});
        add_time_entry();
        bytes_since_entry_ = 0;
    }
    bytes_since_entry_ += header.size();
    next_offset_ = header.next_offset();
}

void Segment::add_time_entry() {
    const std::int64_t last = times_.entries().empty() ? -1 : times_.entries().back().timestamp;
    if (max_timestamp_ <= last) return;
    times_.add({max_timestamp_, static_cast<std::int32_t>(max_timestamp_offset_ - base_offset_)});
}

Result<bool> Segment::load() {
    for (const auto& loaded :
         {offsets_.load(*storage_, file_->size()), times_.load(*storage_, file_->size())}) {
        if (!loaded) return tl::make_unexpected(loaded.error());
        if (!*loaded) return false;
    }
    return read_tail();
}

/// What the indexes do not say: the end, the largest timestamp, the first one.
Result<bool> Segment::read_tail() {
    next_offset_ = base_offset_;
    bytes_since_entry_ = 0;
    max_timestamp_ = max_timestamp_offset_ = -1;
    first_timestamp_.reset();
    if (!times_.entries().empty()) {
        max_timestamp_ = times_.entries().back().timestamp;
        max_timestamp_offset_ = base_offset_ + times_.entries().back().relative_offset;
    }
    std::uint64_t position = 0;
    if (!offsets_.entries().empty()) {
        position = static_cast<std::uint64_t>(offsets_.entries().back().position);
        const Status first = visit(base_offset_, [&](const wire::BatchHeader& header) {
            first_timestamp_ = header.max_timestamp;
            return false;
        });
        if (!first) return tl::make_unexpected(first.error());
    }
    bool follows = true;
    const auto end = scan_batches(
        *file_, position, BatchCheck::Header, [&](const wire::BatchHeader& header, std::uint64_t) {
            follows = header.base_offset >= next_offset_ && can_express(header.last_offset());
            if (!follows) return false;
            if (!first_timestamp_) first_timestamp_ = header.max_timestamp;
            if (header.max_timestamp > max_timestamp_) {
                max_timestamp_ = header.max_timestamp;
                max_timestamp_offset_ = header.last_offset();
            }
            bytes_since_entry_ += header.size();
            next_offset_ = header.next_offset();
            return true;
        });
    if (!end) return tl::make_unexpected(end.error());
    return follows && *end == file_->size();
}

Result<std::uint64_t> Segment::recover(const std::function<bool(const wire::BatchHeader&)>& accept) {
    offsets_.clear();
    times_.clear();
    next_offset_ = base_offset_;
    bytes_since_entry_ = 0;
    max_timestamp_ = max_timestamp_offset_ = -1;
    first_timestamp_.reset();
    const auto end = scan_batches(
        *file_, 0, BatchCheck::Crc, [&](const wire::BatchHeader& header, std::uint64_t position) {
            if (header.base_offset < next_offset_ || !can_express(header.last_offset()) || !accept(header))
                return false;
            note(header, position);
            return true;
        });
    if (!end) return tl::make_unexpected(end.error());
    const std::uint64_t cut = file_->size() - *end;
    if (cut > 0) {
        if (const Status done = file_->truncate(*end); !done) return tl::make_unexpected(done.error());
    }
    // As at the end of every segment that was left, and as Kafka's recovery does.
    add_time_entry();
    for (const Status& written : {offsets_.persist(*storage_, Durability::OsDecides),
                                  times_.persist(*storage_, Durability::OsDecides)}) {
        if (!written) return tl::make_unexpected(written.error());
    }
    return cut;
}

bool Segment::can_express(Offset last_offset) const {
    return last_offset - base_offset_ <= std::numeric_limits<std::int32_t>::max();
}

bool Segment::takes(std::size_t bytes, Offset last_offset, std::int64_t max_timestamp) const {
    if (!can_express(last_offset)) return false;
    if (size() == 0) return true;
    if (size() + bytes > static_cast<std::uint64_t>(settings_.segment_bytes)) return false;
    if (offsets_.full(settings_.index_size_max_bytes) || times_.full(settings_.index_size_max_bytes))
        return false;
    const bool dated = max_timestamp >= 0 && first_timestamp_.value_or(-1) >= 0;
    return !dated || max_timestamp - *first_timestamp_ <= settings_.roll / milliseconds(1);
}

Status Segment::append(BytesView bytes, const std::vector<wire::BatchView>& views) {
    std::uint64_t position = file_->size();
    if (Status written = file_->append(bytes); !written) return written;
    for (const wire::BatchView& view : views) {
        HW_ASSERT(view.header.base_offset >= next_offset_, "batch at {} after {}", view.header.base_offset,
                  next_offset_);
        note(view.header, position);
        position += view.bytes.size();
    }
    HW_ASSERT(position == file_->size(), "{} described, {} written", position, file_->size());
    return {};
}

std::uint64_t Segment::position_before(Offset offset) const {
    const std::vector<OffsetIndexEntry>& entries = offsets_.entries();
    const auto after = std::upper_bound(entries.begin(), entries.end(), offset - base_offset_,
                                        [](std::int64_t relative, const OffsetIndexEntry& entry) {
                                            return relative < entry.relative_offset;
                                        });
    return after == entries.begin() ? 0 : static_cast<std::uint64_t>(std::prev(after)->position);
}

Result<bool> Segment::read(Offset from, Offset limit, std::size_t max_bytes, Bytes& out) const {
    std::uint64_t position = position_before(from);
    while (position < file_->size()) {
        const std::size_t budget = max_bytes > out.size() ? max_bytes - out.size() : 0;
        // The batches before `from` that the index cannot tell apart, and what is wanted of the rest.
        const std::uint64_t wanted =
            budget + static_cast<std::uint64_t>(settings_.index_interval_bytes) + wire::kBatchHeaderSize;
        auto bytes = file_->read(position, std::min(wanted, file_->size() - position));
        if (!bytes) return tl::make_unexpected(bytes.error());
        std::size_t skipped = 0;
        std::size_t at = 0;
        while (bytes->size() - at >= wire::kBatchHeaderSize) {
            const auto header = wire::read_batch_header(BytesView(*bytes).subspan(at));
            if (!header) return failure(stem_ + ".log", header.error());
            const std::size_t size = header->size();
            if (header->last_offset() < from) {
                skipped = at = at + size;
                if (at > bytes->size()) break;
                continue;
            }
            const bool first = out.empty() && at == skipped;
            if (header->last_offset() >= limit || (!first && out.size() + at - skipped + size > max_bytes)) {
                out.insert(out.end(), bytes->begin() + static_cast<std::ptrdiff_t>(skipped),
                           bytes->begin() + static_cast<std::ptrdiff_t>(at));
                return false;
            }
            if (size > bytes->size() - at && at == skipped) {
                // Alone larger than what was read.
                const auto whole = file_->read(position + at, size);
                if (!whole) return tl::make_unexpected(whole.error());
                out.insert(out.end(), whole->begin(), whole->end());
                skipped = at = at + size;
                break;
            }
            if (size > bytes->size() - at) break;
            at += size;
        }
        if (at > skipped) {
            out.insert(out.end(), bytes->begin() + static_cast<std::ptrdiff_t>(skipped),
                       bytes->begin() + static_cast<std::ptrdiff_t>(at));
        }
        if (at == 0) return failure(fmt::format("{}.log: no whole batch at byte {}", stem_, position));
        position += at;
    }
    return true;
}

Status Segment::visit(Offset from, const std::function<bool(const wire::BatchHeader&)>& visit) const {
    const auto end = scan_batches(*file_, position_before(from), BatchCheck::Header,
                                  [&](const wire::BatchHeader& header, std::uint64_t) {
                                      return header.last_offset() < from || visit(header);
                                  });
    if (!end) return tl::make_unexpected(end.error());
    return {};
}

Status Segment::truncate_to(Offset offset) {
    if (offset >= next_offset_) return {};
    const auto position = scan_batches(
        *file_, position_before(offset), BatchCheck::Header,
        [&](const wire::BatchHeader& header, std::uint64_t) { return header.last_offset() < offset; });
    if (!position) return tl::make_unexpected(position.error());
    if (Status cut = file_->truncate(*position); !cut) return cut;
    offsets_.truncate_to(offset - base_offset_);
    times_.truncate_to(offset - base_offset_);
    const auto read = read_tail();
    if (!read) return tl::make_unexpected(read.error());
    HW_ASSERT(*read, "{}.log: cut at {}, which is between two batches", stem_, *position);
    return {};
}

Status Segment::flush() {
    if (Status flushed = file_->flush(); !flushed) return flushed;
    if (Status written = offsets_.persist(*storage_, Durability::Flushed); !written) return written;
    return times_.persist(*storage_, Durability::Flushed);
}

Status Segment::seal() {
    add_time_entry();
    return flush();
}

Status Segment::remove() {
    for (const char* ending : {".log", ".index", ".timeindex"}) {
        if (Status removed = storage_->remove_file(stem_ + ending); !removed) return removed;
    }
    return {};
}

}  // namespace highwater::node
