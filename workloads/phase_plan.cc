#include "workloads/phase_plan.h"

#include <algorithm>
#include <utility>

namespace highwater::workloads {

PhasePlan::PhasePlan(const WorkloadSpec& spec, std::function<bool(const std::string&)> fault_complete)
    : fault_complete_(std::move(fault_complete)) {
    for (const WorkloadPhase& phase : spec.phases) phases_.push_back({phase});
    if (phases_.empty()) {
        WorkloadPhase endless;
        endless.acks = spec.acks;
        phases_.push_back({std::move(endless)});
    }
}

std::optional<PhasePlan::Slot> PhasePlan::take() {
    const std::lock_guard lock(mutex_);
    while (current_ < phases_.size() && phases_[current_].over()) ++current_;
    if (current_ == phases_.size()) return std::nullopt;
    Phase& phase = phases_[current_];
    if (phase.spec.records > 0 && phase.taken >= phase.spec.records) return std::nullopt;
    const bool begun = phase.taken > 0 || phase.spec.after.empty();
    if (!begun && !fault_complete_(phase.spec.after)) return std::nullopt;
    ++phase.taken;
    return Slot{current_, &phase.spec.acks};
}

void PhasePlan::give_back(const Slot& slot, bool refused) {
    const std::lock_guard lock(mutex_);
    Phase& phase = phases_[slot.phase];
    if (refused) {
        --phase.taken;
    } else {
        ++phase.ended;
    }
}

bool PhasePlan::finished() const {
    const std::lock_guard lock(mutex_);
    return std::all_of(phases_.begin(), phases_.end(),
                       [](const Phase& phase) { return phase.spec.records == 0 || phase.over(); });
}

}  // namespace highwater::workloads
