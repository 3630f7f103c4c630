// One flag that ends a workload's threads, and waits that it cuts short.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "base/time.h"

namespace highwater::workloads {

class Stopper {
public:
    void stop() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        wake_.notify_all();
    }
    /// True if stop() was called before `until`.
    bool pause_until(Instant until) {
        std::unique_lock lock(mutex_);
        const Duration left = std::max(until - monotonic_now(), Duration{0});
        return wake_.wait_for(lock, left, [this] { return stopping_; });
    }
    [[nodiscard]] bool stopping() {
        const std::lock_guard lock(mutex_);
        return stopping_;
    }

private:
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;
};

}  // namespace highwater::workloads
