// One producer: a record is one operation, whatever attempts it takes.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/rng.h"
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
    void record(const ProduceCall& call, const Attempts& attempts, Outcome outcome, Instant invoked);
    /// The client sent more than one request for this record, which its answer does not tell.
    void record_hidden_retries(const std::string& name, const ProduceCall& call, std::int64_t requests);
    /// A new producer id, if the producer is idempotent and has none. False: no broker gave one.
    bool identify();
    [[nodiscard]] bool worth_another(const Attempts& attempts) const;

    const WorkloadContext& context_;
    std::int64_t number_;
    std::string name_;
    PhasePlan& plan_;
    Stopper& stopper_;
    std::unique_ptr<Client> client_;
    Rng rng_;
    std::int64_t next_value_ = 1;
    ProducerIdentity identity_;
    std::map<std::int32_t, std::int32_t> next_sequence_;
};

}  // namespace highwater::workloads
