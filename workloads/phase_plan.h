// Who may append next, and with which acks: the phases of a workload, shared by its producers.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "model/scenario.h"

namespace highwater::workloads {

/// Thread-safe.
class PhasePlan {
public:
    /// Without phases in the spec: one, without end.
    PhasePlan(const WorkloadSpec& spec, std::function<bool(const std::string&)> fault_complete);

    /// One append of a phase, to be given back.
    struct Slot {
        std::size_t phase = 0;
        const std::vector<std::int16_t>* acks = nullptr;
    };
    /// Nullopt: not now, because the next phase waits for its fault, or the last record of this one for its
    /// answer; or never again (finished()).
    std::optional<Slot> take();
    /// `refused`: surely not appended, so that another append takes its place.
    void give_back(const Slot& slot, bool refused);
    /// Every counted phase has ended.
    [[nodiscard]] bool finished() const;

private:
    struct Phase {
        WorkloadPhase spec;
        std::int64_t taken = 0;
        std::int64_t ended = 0;
        [[nodiscard]] bool over() const { return spec.records > 0 && ended >= spec.records; }
    };

    std::function<bool(const std::string&)> fault_complete_;
    mutable std::mutex mutex_;
    std::vector<Phase> phases_;
    std::size_t current_ = 0;
};

}  // namespace highwater::workloads
