// A segment's two index files, in Kafka's format: entries of fixed size, big-endian, every
// log.index.interval.bytes of the log one.
//   <base>.index      i32 last offset of a batch - base offset, i32 position of that batch
//   <base>.timeindex  i64 largest timestamp so far, i32 offset of its batch - base offset
// Entries are held in memory (20 bytes for 4096 of the log) and written when the segment is flushed; an index
// that a crash left behind is rebuilt from its segment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "node/log/storage.h"

namespace highwater::node {

struct OffsetIndexEntry {
    static constexpr std::size_t kSize = 8;
    std::int32_t relative_offset = 0;
    std::int32_t position = 0;
    friend bool operator==(const OffsetIndexEntry&, const OffsetIndexEntry&) = default;
};
struct TimeIndexEntry {
    static constexpr std::size_t kSize = 12;
    std::int64_t timestamp = 0;
    std::int32_t relative_offset = 0;
    friend bool operator==(const TimeIndexEntry&, const TimeIndexEntry&) = default;
};

template <class Entry>
class SparseIndex {
public:
    explicit SparseIndex(std::string path) : path_(std::move(path)) {}

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
    [[nodiscard]] bool full(std::int32_t max_bytes) const {
        return (entries_.size() + 1) * Entry::kSize > static_cast<std::size_t>(max_bytes);
    }
    void add(const Entry& entry) { entries_.push_back(entry); }
    /// Drops entries of batches that end at or beyond the offset.
    void truncate_to(std::int64_t relative_offset);
    void clear() { truncate_to(-1); }

    /// Reads the file. False, with no entries, if it is missing, torn, does not rise or points beyond
    /// `log_size` bytes. Errors: IO.
    Result<bool> load(Storage& storage, std::uint64_t log_size);
    /// Makes the file what is in memory. Errors: IO; call again to finish.
    Status persist(Storage& storage, Durability durability);

private:
    std::string path_;
    std::vector<Entry> entries_;
    /// Entries that the file is known to begin with; it may be longer than that.
    std::size_t written_ = 0;
    bool file_agrees_ = false;
    bool flushed_ = false;
};

using OffsetIndex = SparseIndex<OffsetIndexEntry>;
using TimeIndex = SparseIndex<TimeIndexEntry>;

}  // namespace highwater::node
