// One producer's appends: what the next one is, and how it ended, in the history.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/rng.h"
#include "workloads/phase_plan.h"
#include "workloads/workload.h"

namespace highwater::workloads {

class Appends {
public:
    Appends(const WorkloadContext& context, std::int64_t number);

    /// Partition, acks and size are drawn; the value is the producer's next one.
    ProduceCall draw(const PhasePlan::Slot& slot);
    struct Ended {
        const ProduceCall& call;
        const ProduceReply& reply;
        Outcome outcome = Outcome::Info;
        Instant invoked;
        /// Of producers with several appends under way: the how many-eth of its partition it was.
        std::optional<std::int64_t> sequence;
    };
    void record(const Ended& ended);
    /// A client sent more requests for these appends than one each, which its answers do not tell.
    /// `of`: a JSON member that says of which, `"value":7`.
    void record_hidden_retries(const ProduceReply& last, const std::string& of, std::int64_t requests);

    /// "p3".
    [[nodiscard]] const std::string& name() const { return name_; }

private:
    [[nodiscard]] std::string name_of(const ProduceReply& reply) const;

    const WorkloadContext& context_;
    std::int64_t number_;
    std::string name_;
    Rng rng_;
    std::int64_t next_value_ = 1;
};

}  // namespace highwater::workloads
