// One producer: a record is one operation, whatever attempts it takes.
#pragma once

#include <map>
#include <memory>

#include "workloads/appends.h"
#include "workloads/phase_plan.h"
#include "workloads/stopper.h"
#include "workloads/workload.h"

namespace highwater::workloads {

class Producer {
public:
    Producer(const WorkloadContext& context, std::int64_t number, PhasePlan& plan, Stopper& stopper);
    /// Until the plan is finished or the stopper stops.
    void run();

private:
    struct Attempts {
        ProduceReply last;
        std::int32_t count = 0;
        /// An earlier attempt may have been executed.
        bool doubtful = false;
    };
    /// True if the append was acknowledged or refused for good, false if the leader must be looked for.
    bool append(const PhasePlan::Slot& slot);
    Attempts attempt_until_definite(ProduceCall call);
    /// A new producer id, if the producer is idempotent and has none. False: no broker gave one.
    bool identify();
    [[nodiscard]] bool worth_another(const Attempts& attempts) const;

    const WorkloadContext& context_;
    Appends appends_;
    PhasePlan& plan_;
    Stopper& stopper_;
    std::unique_ptr<Client> client_;
    ProducerIdentity identity_;
    std::map<std::int32_t, std::int32_t> next_sequence_;
};

}  // namespace highwater::workloads
