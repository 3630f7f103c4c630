// One segment: a file of batches and its two sparse indexes, all named by the first offset. Offsets rise;
// holes are allowed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "node/log/batch_scan.h"
#include "node/log/log_settings.h"
#include "node/log/sparse_index.h"
#include "node/log/storage.h"
#include "wire/record_batch.h"

namespace highwater::node {

/// "00000000000000000042" for 42: what a segment's files are called, before their ending.
std::string offset_file_name(Offset offset);

class Segment {
public:
    /// Opens or creates the file and looks no further: call load() or recover() before anything else. Errors:
    /// IO.
    static Result<Segment> open(Storage& storage, const std::string& directory, Offset base_offset,
                                const LogSettings& settings);

    [[nodiscard]] Offset base_offset() const { return base_offset_; }
    [[nodiscard]] Offset next_offset() const { return next_offset_; }
    [[nodiscard]] std::uint64_t size() const { return file_->size(); }
    [[nodiscard]] const OffsetIndex& offset_index() const { return offsets_; }
    [[nodiscard]] const TimeIndex& time_index() const { return times_; }

    /// Trusts the indexes and reads what lies behind their last entry. False if they are missing or cannot be
    /// true, or the file does not end with a whole batch: recover() then. Errors: IO.
    Result<bool> load();
    /// Reads every batch, cuts the file at the first that is torn, fails its CRC, does not follow or is
    /// refused by `accept`, and rebuilds the indexes. Returns the bytes that were cut. Errors: IO.
    Result<std::uint64_t> recover(const std::function<bool(const wire::BatchHeader&)>& accept);

    /// Whether an append of `bytes` up to `last_offset` belongs here; else a new segment takes it. An empty
    /// segment takes anything that its indexes can express.
    [[nodiscard]] bool takes(std::size_t bytes, Offset last_offset, std::int64_t max_timestamp) const;
    [[nodiscard]] bool can_express(Offset last_offset) const;
    /// `batches`: complete ones in offset order, described by `views`. All or nothing. Errors: IO.
    Status append(BytesView bytes, const std::vector<wire::BatchView>& views);
    /// Adds to `out` whole batches from the one that holds `from`, ending below `limit`, while `out` holds at
    /// most `max_bytes`; the first batch of an empty `out` may be larger. False once something was left out.
    Result<bool> read(Offset from, Offset limit, std::size_t max_bytes, Bytes& out) const;
    /// Headers of the batches from the one that holds `from` on; false from `visit` stops. Errors: IO.
    Status visit(Offset from, const std::function<bool(const wire::BatchHeader&)>& visit) const;
    /// Cuts every batch that holds or follows `offset`.
    Status truncate_to(Offset offset);
    /// The log file first, then the indexes: all durable.
    Status flush();
    /// The last entry of the time index, then flush(): nothing more will be appended for now.
    Status seal();
    /// Takes the files away; the segment is unusable then.
    Status remove();

private:
    Segment(Storage& storage, std::string stem, std::unique_ptr<AppendFile> file, Offset base_offset,
            const LogSettings& settings);
    void note(const wire::BatchHeader& header, std::uint64_t position);
    Result<bool> read_tail();
    void add_time_entry();
    /// Where a search for `offset` begins: a batch at or before the one that holds it.
    [[nodiscard]] std::uint64_t position_before(Offset offset) const;

    Storage* storage_;
    std::string stem_;
    std::unique_ptr<AppendFile> file_;
    Offset base_offset_;
    Offset next_offset_;
    LogSettings settings_;
    OffsetIndex offsets_;
    TimeIndex times_;
    std::uint64_t bytes_since_entry_ = 0;
    /// Largest so far and the last offset of its batch; -1 if no record has one.
    std::int64_t max_timestamp_ = -1;
    Offset max_timestamp_offset_ = -1;
    std::optional<std::int64_t> first_timestamp_;
};

}  // namespace highwater::node
