// A producer with several appends under way, as applications have them: each delivery report completes one.
#pragma once

#include <map>
#include <memory>

#include "workloads/appends.h"
#include "workloads/stopper.h"

namespace highwater::workloads {

class PipelinedProducer {
public:
    PipelinedProducer(const WorkloadContext& context, std::int64_t number, PhasePlan& plan, Stopper& stopper);
    /// Until the plan is finished or the stopper stops; then waits for the last reports, but not for ever.
    void run();

private:
    struct UnderWay {
        ProduceCall call;
        PhasePlan::Slot slot;
        Instant invoked;
        /// Not of appends with acks of their own: each acks has a producer of the library, and their order is
        /// nobody's promise.
        std::optional<std::int64_t> sequence;
    };
    /// False: there is nothing to append now.
    bool start_one();
    /// Records what has ended; waits for that if nothing has. False: an append was refused.
    bool take_in(Duration wait);
    void end(const UnderWay& append, const ProduceReply& reply);
    /// Reports that come in time; what is under way then is given up.
    void flush();

    const WorkloadContext& context_;
    Appends appends_;
    PhasePlan& plan_;
    Stopper& stopper_;
    std::unique_ptr<Client> client_;
    Pipeline* pipeline_;
    std::map<Value, UnderWay> under_way_;
    std::map<std::int32_t, std::int64_t> next_sequence_;
    std::int64_t started_ = 0;
    ProduceReply last_;
};

}  // namespace highwater::workloads
