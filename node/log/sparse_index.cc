#include "node/log/sparse_index.h"

#include <algorithm>

namespace highwater::node {
namespace {

void encode(ByteWriter& out, const OffsetIndexEntry& entry) {
    out.i32(entry.relative_offset);
    out.i32(entry.position);
}
void encode(ByteWriter& out, const TimeIndexEntry& entry) {
    out.i64(entry.timestamp);
    out.i32(entry.relative_offset);
}
void decode(ByteReader& in, OffsetIndexEntry& entry) {
    entry.relative_offset = in.i32();
    entry.position = in.i32();
}
void decode(ByteReader& in, TimeIndexEntry& entry) {
    entry.timestamp = in.i64();
    entry.relative_offset = in.i32();
}

bool sane(const OffsetIndexEntry* before, const OffsetIndexEntry& entry, std::uint64_t log_size) {
    if (entry.relative_offset < 0 || entry.position < 0) return false;
    if (static_cast<std::uint64_t>(entry.position) >= log_size) return false;
    return before == nullptr ||
           (before->relative_offset < entry.relative_offset && before->position < entry.position);
}
bool sane(const TimeIndexEntry* before, const TimeIndexEntry& entry, std::uint64_t log_size) {
    if (entry.relative_offset < 0 || log_size == 0) return false;
    return before == nullptr ||
           (before->timestamp < entry.timestamp && before->relative_offset <= entry.relative_offset);
}

}  // namespace

template <class Entry>
void SparseIndex<Entry>::truncate_to(std::int64_t relative_offset) {
    while (!entries_.empty() && entries_.back().relative_offset >= relative_offset) {
        entries_.pop_back();
        file_agrees_ = false;
    }
    written_ = std::min(written_, entries_.size());
}

template <class Entry>
Result<bool> SparseIndex<Entry>::load(Storage& storage, std::uint64_t log_size) {
    clear();
    const auto bytes = storage.read_file(path_);
    if (!bytes) return tl::make_unexpected(bytes.error());
    if (!bytes->has_value() || (*bytes)->size() % Entry::kSize != 0) return false;
    ByteReader in(**bytes);
    std::vector<Entry> entries((*bytes)->size() / Entry::kSize);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        decode(in, entries[i]);
        if (!sane(i == 0 ? nullptr : &entries[i - 1], entries[i], log_size)) return false;
    }
    entries_ = std::move(entries);
    written_ = entries_.size();
    file_agrees_ = flushed_ = true;
    return true;
}

template <class Entry>
Status SparseIndex<Entry>::persist(Storage& storage, Durability durability) {
    const bool same = file_agrees_ && written_ == entries_.size();
    if (same && (flushed_ || durability == Durability::OsDecides)) return {};
    auto file = storage.open(path_);
    if (!file) return tl::make_unexpected(file.error());
    flushed_ = false;
    if ((*file)->size() > written_ * Entry::kSize) {
        if (Status cut = (*file)->truncate(written_ * Entry::kSize); !cut) return cut;
    }
    ByteWriter out;
    for (std::size_t i = written_; i < entries_.size(); ++i) encode(out, entries_[i]);
    if (out.size() > 0) {
        if (Status added = (*file)->append(out.bytes()); !added) return added;
    }
    written_ = entries_.size();
    file_agrees_ = true;
    if (durability == Durability::OsDecides) return {};
    if (Status flushed = (*file)->flush(); !flushed) return flushed;
    flushed_ = true;
    return {};
}

template class SparseIndex<OffsetIndexEntry>;
template class SparseIndex<TimeIndexEntry>;

}  // namespace highwater::node
