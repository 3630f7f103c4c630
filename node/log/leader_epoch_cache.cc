#include "node/log/leader_epoch_cache.h"

#include <algorithm>

#include "base/assert.h"

namespace highwater::node {

LeaderEpochCache::LeaderEpochCache(std::vector<EpochEntry> entries) : entries_(std::move(entries)) {
    for (std::size_t i = 1; i < entries_.size(); ++i) {
        HW_ASSERT(entries_[i - 1].epoch < entries_[i].epoch &&
                      entries_[i - 1].start_offset < entries_[i].start_offset,
                  "epoch entries must rise in both fields");
    }
}

std::optional<LeaderEpoch> LeaderEpochCache::latest_epoch() const {
    if (entries_.empty()) return std::nullopt;
    return entries_.back().epoch;
}

std::optional<Offset> LeaderEpochCache::start_of(LeaderEpoch epoch) const {
    for (const EpochEntry& entry : entries_) {
        if (entry.epoch == epoch) return entry.start_offset;
    }
    return std::nullopt;
}

std::optional<OffsetAndEpoch> LeaderEpochCache::end_offset_for(LeaderEpoch epoch,
                                                               Offset log_end_offset) const {
    if (entries_.empty() || epoch == kNoEpoch) return std::nullopt;
    if (entries_.back().epoch == epoch) return OffsetAndEpoch{log_end_offset, epoch};
    const auto higher = std::find_if(entries_.begin(), entries_.end(),
                                     [epoch](const EpochEntry& entry) { return entry.epoch > epoch; });
    if (higher == entries_.end()) return std::nullopt;
    // Nothing at or below: that epoch, if it existed, ended where the first known one begins.
    if (higher == entries_.begin()) return OffsetAndEpoch{higher->start_offset, epoch};
    return OffsetAndEpoch{higher->start_offset, std::prev(higher)->epoch};
}

bool LeaderEpochCache::assign(LeaderEpoch epoch, Offset start) {
    HW_ASSERT(epoch >= 0 && start >= 0, "epoch {} start {}", epoch, start);
    if (!entries_.empty() && entries_.back().epoch == epoch && entries_.back().start_offset <= start)
        return false;
    std::erase_if(entries_, [&](const EpochEntry& entry) {
        return entry.epoch >= epoch || entry.start_offset >= start;
    });
    entries_.push_back({epoch, start});
    return true;
}

bool LeaderEpochCache::truncate_from_end(Offset end_offset) {
    return std::erase_if(entries_,
                         [&](const EpochEntry& entry) { return entry.start_offset >= end_offset; }) > 0;
}

}  // namespace highwater::node
