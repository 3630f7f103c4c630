// The segments of one log in offset order, the last of which takes what is appended. Finds them on disk, says
// which of them a crash makes doubtful, and recovers those.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "node/log/log_settings.h"
#include "node/log/segment.h"
#include "node/log/storage.h"

namespace highwater::node {

using HeaderVisitor = std::function<bool(const wire::BatchHeader&)>;

class LogSegments {
public:
    LogSegments(Storage& storage, std::string directory, const LogSettings& settings)
        : storage_(&storage), directory_(std::move(directory)), settings_(settings) {}

    /// Opens what the directory holds, removes indexes whose log is gone, creates a first segment if there is
    /// none. Returns the offset from which batches must be read again by recover(): of the first segment that
    /// the recovery point does not cover, that does not follow the one before it or whose indexes cannot be
    /// true; after a clean stop only the last two matter. nullopt: nothing is in doubt. Errors: IO, a name
    /// that is no offset.
    Result<std::optional<Offset>> open(const LogStart& start);
    /// Re-reads every segment from the one at `from` on, shows each good batch to `accept` in order, cuts at
    /// the first bad one and drops all segments behind it. Returns the bytes that went. Errors: IO.
    Result<std::uint64_t> recover(Offset from, const HeaderVisitor& accept);

    [[nodiscard]] Offset first_offset() const { return segments_.begin()->first; }
    [[nodiscard]] Offset next_offset() const { return segments_.rbegin()->second.next_offset(); }
    [[nodiscard]] const std::map<Offset, Segment>& all() const { return segments_; }
    [[nodiscard]] std::uint64_t size() const;

    /// Whether active() must be left before these bytes are appended.
    [[nodiscard]] bool must_roll(std::size_t bytes, Offset last_offset, std::int64_t max_timestamp) const {
        return !active().takes(bytes, last_offset, max_timestamp);
    }
    /// Flushes the last segment for good and begins one at next_offset(). Errors: IO; then the last segment
    /// still is the last.
    Status roll();
    Segment& active() { return segments_.rbegin()->second; }
    [[nodiscard]] const Segment& active() const { return segments_.rbegin()->second; }

    /// See PartitionLog::read.
    [[nodiscard]] Result<Bytes> read(Offset from, Offset limit, std::size_t max_bytes) const;
    /// Headers of the batches from the one that holds `from` on; false from `visit` stops. Errors: IO.
    Status visit(Offset from, const HeaderVisitor& visit) const;
    /// Cuts every batch that holds or follows `offset`; segments that begin beyond it go whole.
    Status truncate_to(Offset offset);
    /// Everything appended so far is durable: what was rolled away is already.
    Status flush() { return active().flush(); }

private:
    Result<std::vector<Offset>> find();
    Status drop_from(std::map<Offset, Segment>::iterator first);

    Storage* storage_;
    std::string directory_;
    LogSettings settings_;
    std::map<Offset, Segment> segments_;
};

}  // namespace highwater::node
