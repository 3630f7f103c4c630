// What a replica's log holds, as far as traces tell: which leader epoch wrote each offset. One leader an
// epoch, so (offset, epoch) names a record.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "base/ids.h"

namespace highwater::checker {

class LogShape {
public:
    LogShape() = default;
    /// A replica's own epoch table and log end.
    LogShape(const std::vector<OffsetAndEpoch>& table, Offset end) : end_(end) {
        for (const OffsetAndEpoch& entry : table) {
            if (entry.offset < end) starts_.push_back(entry);
        }
        std::sort(starts_.begin(), starts_.end(),
                  [](const OffsetAndEpoch& a, const OffsetAndEpoch& b) { return a.offset < b.offset; });
    }

    [[nodiscard]] Offset end() const { return end_; }
    [[nodiscard]] LeaderEpoch last_epoch() const { return starts_.empty() ? kNoEpoch : starts_.back().epoch; }
    /// kNoEpoch: nobody told.
    [[nodiscard]] LeaderEpoch epoch_at(Offset offset) const {
        LeaderEpoch found = kNoEpoch;
        for (const OffsetAndEpoch& entry : starts_) {
            if (entry.offset <= offset) found = entry.epoch;
        }
        return offset < end_ ? found : kNoEpoch;
    }
    /// Records [end(), to) of one epoch.
    void append(LeaderEpoch epoch, Offset to) {
        if (to <= end_) return;
        if (last_epoch() != epoch) starts_.push_back({.offset = end_, .epoch = epoch});
        end_ = to;
    }
    /// Records [end(), to) as `source` has them; what it has not is of `otherwise`.
    void copy(const LogShape& source, Offset to, LeaderEpoch otherwise) {
        while (end_ < to) {
            const LeaderEpoch epoch = source.epoch_at(end_);
            const Offset until = epoch == kNoEpoch ? to : std::min(to, source.next_change(end_));
            append(epoch == kNoEpoch ? otherwise : epoch, until);
        }
    }
    void cut(Offset to) {
        end_ = std::min(end_, to);
        while (!starts_.empty() && starts_.back().offset >= end_) starts_.pop_back();
    }
    /// Missing records before `first`: the log begins there.
    void jump(Offset first) {
        if (first > end_) end_ = first;
    }
    /// First offset below `limit` that both know and that is not the same record, or that `other` lacks.
    [[nodiscard]] std::optional<Offset> first_difference(const LogShape& other, Offset limit) const {
        for (Offset at = 0; at < std::min(limit, end_);) {
            const LeaderEpoch mine = epoch_at(at);
            if (at >= other.end_) return at;
            const LeaderEpoch theirs = other.epoch_at(at);
            if (mine != kNoEpoch && theirs != kNoEpoch && mine != theirs) return at;
            at = std::min(next_change(at), other.next_change(at));
        }
        return std::nullopt;
    }

private:
    /// Where the next epoch begins, or the end.
    [[nodiscard]] Offset next_change(Offset at) const {
        for (const OffsetAndEpoch& entry : starts_) {
            if (entry.offset > at) return entry.offset;
        }
        return end_;
    }

    std::vector<OffsetAndEpoch> starts_;
    Offset end_ = 0;
};

}  // namespace highwater::checker
