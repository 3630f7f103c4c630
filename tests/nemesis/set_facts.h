// A cluster of three brokers about which the test says what is so.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/condition.h"

namespace highwater::nemesis {

class SetFacts final : public ClusterFacts {
public:
    std::optional<std::vector<BrokerId>> isr() const override { return members; }
    std::vector<BrokerId> replicas() const override { return {1, 2, 3}; }
    std::optional<BrokerId> leader() const override { return leads; }
    std::optional<LeaderEpoch> epoch() const override { return 0; }
    std::optional<Offset> high_watermark(BrokerId) const override { return std::nullopt; }
    std::optional<Offset> log_end_offset(BrokerId) const override { return std::nullopt; }
    bool fenced(BrokerId) const override { return false; }
    std::int64_t acked() const override { return 0; }
    std::optional<std::vector<BrokerId>> targets_of(const std::string&) const override {
        return std::nullopt;
    }
    std::vector<BrokerId> resolve(std::string_view role) const override {
        if (role == "leader")
            return leads == kNoBroker ? std::vector<BrokerId>{} : std::vector<BrokerId>{leads};
        if (role.starts_with("id:")) return {static_cast<BrokerId>(role.back() - '0')};
        if (role == "controller") return {100};
        return {2, 3};
    }
    std::optional<std::int64_t> frames_passed(const FrameQuery&, Instant since) const override {
        return std::count_if(passed.begin(), passed.end(), [since](Instant at) { return at >= since; });
    }

    std::vector<BrokerId> members{1, 2, 3};
    BrokerId leads = 1;
    /// When frames passed that every frame query means.
    std::vector<Instant> passed;
};

}  // namespace highwater::nemesis
