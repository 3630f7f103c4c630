// Virtual time: things that happen at an instant, in order of time and, within one instant, of being
// scheduled.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/time.h"

namespace highwater::sim {

class Scheduler {
public:
    [[nodiscard]] Instant now() const { return now_; }
    void at(Instant when, std::function<void()> action) {
        queue_.push({std::max(when, now_), ++sequence_, std::move(action)});
    }
    void after(Duration delay, std::function<void()> action) { at(now_ + delay, std::move(action)); }

    /// Runs the next action if it is due by `limit`; else time becomes `limit`. False in the latter case.
    bool run_one(Instant limit) {
        if (queue_.empty() || queue_.top().when > limit) {
            now_ = std::max(now_, limit);
            return false;
        }
        // top() is const; the entry is popped before anything can look at it again.
        Entry entry = std::move(const_cast<Entry&>(queue_.top()));
        queue_.pop();
        now_ = entry.when;
        entry.action();
        return true;
    }

private:
    struct Entry {
        Instant when;
        std::uint64_t sequence = 0;
        std::function<void()> action;
        friend bool operator<(const Entry& a, const Entry& b) {
            return std::pair(b.when, b.sequence) < std::pair(a.when, a.sequence);
        }
    };

    Instant now_{1'000'000'000};
    std::uint64_t sequence_ = 0;
    std::priority_queue<Entry> queue_;
};

}  // namespace highwater::sim
