// Which leader epoch wrote which offsets (Kafka: LeaderEpochFileCache, file leader-epoch-checkpoint).
// Entries are (epoch, first offset of that epoch), strictly increasing in both fields.
#pragma once

#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace highwater::node {

struct EpochEntry {
    LeaderEpoch epoch = kNoEpoch;
    Offset start_offset = 0;
    friend bool operator==(const EpochEntry&, const EpochEntry&) = default;
};

class LeaderEpochCache {
public:
    LeaderEpochCache() = default;
    explicit LeaderEpochCache(std::vector<EpochEntry> entries);

    [[nodiscard]] const std::vector<EpochEntry>& entries() const { return entries_; }
    [[nodiscard]] std::optional<LeaderEpoch> latest_epoch() const;
    /// Start offset of exactly this epoch.
    [[nodiscard]] std::optional<Offset> start_of(LeaderEpoch epoch) const;
    /// The largest epoch <= `epoch` and the offset where it ends (Kafka's endOffsetFor):
    /// the latest epoch ends at `log_end_offset`; nothing known above a non-latest epoch: nullopt; no floor:
    /// (epoch, start of the first higher); else (floor epoch, start of the next higher).
    [[nodiscard]] std::optional<OffsetAndEpoch> end_offset_for(LeaderEpoch epoch,
                                                               Offset log_end_offset) const;

    /// Records that `epoch` begins at `start`. Entries with epoch >= `epoch` or start >= `start` that
    /// contradict it go first (Kafka's monotonic rule); the same epoch again is ignored. True if anything
    /// changed.
    bool assign(LeaderEpoch epoch, Offset start);
    /// Removes entries with start_offset >= end_offset. True if anything changed.
    bool truncate_from_end(Offset end_offset);

private:
    std::vector<EpochEntry> entries_;
};

/// The file's text: "0\n<count>\n<epoch> <start>\n…" and back. Errors name the line.
std::string format_epoch_checkpoint(const LeaderEpochCache& cache);
Result<LeaderEpochCache> parse_epoch_checkpoint(std::string_view text, const std::string& file_name);

}  // namespace highwater::node
