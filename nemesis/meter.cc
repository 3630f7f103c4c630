#include "nemesis/meter.h"

#include <algorithm>
#include <bit>

namespace highwater::nemesis {

std::size_t LatenessMeter::bucket_of(std::uint64_t nanoseconds) {
    constexpr std::uint64_t kLinear = std::uint64_t{1} << kSubBits;
    if (nanoseconds < kLinear) return static_cast<std::size_t>(nanoseconds);
    const unsigned shift = static_cast<unsigned>(std::bit_width(nanoseconds)) - kSubBits - 1;
    return (static_cast<std::size_t>(shift + 1) << kSubBits) +
           static_cast<std::size_t>((nanoseconds >> shift) - kLinear);
}

std::uint64_t LatenessMeter::upper_edge(std::size_t bucket) {
    constexpr std::size_t kLinear = std::size_t{1} << kSubBits;
    if (bucket < kLinear) return bucket;
    const std::size_t shift = (bucket >> kSubBits) - 1;
    return ((kLinear + (bucket & (kLinear - 1)) + 1) << shift) - 1;
}

void LatenessMeter::add(Duration lateness) {
    const Duration counted = std::max(lateness, Duration::zero());
    ++buckets_[bucket_of(static_cast<std::uint64_t>(counted.count()))];
    ++count_;
    max_ = std::max(max_, counted);
}

Duration LatenessMeter::quantile(double q) const {
    const auto rank = static_cast<std::uint64_t>(q * static_cast<double>(count_));
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
        seen += buckets_[bucket];
        if (seen > rank) return std::min(max_, Duration{static_cast<std::int64_t>(upper_edge(bucket))});
    }
    return max_;
}

Lateness LatenessMeter::summary() const { return {count_, quantile(0.5), quantile(0.99), max_}; }

namespace {

void keep(std::deque<Instant>& recent, Instant now) {
    if (recent.size() == PathMeter::kRecent) recent.pop_front();
    recent.push_back(now);
}

std::uint64_t count_since(const std::deque<Instant>& recent, Instant since) {
    return static_cast<std::uint64_t>(recent.end() - std::lower_bound(recent.begin(), recent.end(), since));
}

}  // namespace

void PathMeter::frame_passed(std::int16_t api_key, FramePart part, Instant now) {
    ++stats.frames;
    ++frames_by_api[api_key];
    keep(recent, now);
    keep(recent_by_kind[{api_key, part}], now);
}

std::uint64_t PathMeter::frames_since(Instant since) const { return count_since(recent, since); }

std::uint64_t PathMeter::frames_since(std::int16_t api_key, FramePart part, Instant since) const {
    std::uint64_t count = 0;
    for (const FramePart one : {FramePart::Request, FramePart::Response}) {
        const auto found = recent_by_kind.find({api_key, one});
        if ((part == one || part == FramePart::Both) && found != recent_by_kind.end())
            count += count_since(found->second, since);
    }
    return count;
}

}  // namespace highwater::nemesis
