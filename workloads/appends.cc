#include "workloads/appends.h"

#include <fmt/format.h>

#include <utility>

namespace highwater::workloads {

Appends::Appends(const WorkloadContext& context, std::int64_t number)
    : context_(context),
      number_(number),
      name_(fmt::format("p{}", number)),
      rng_(context.seed ^ static_cast<std::uint64_t>(number)) {}

ProduceCall Appends::draw(const PhasePlan::Slot& slot) {
    const WorkloadSpec& spec = context_.spec;
    ProduceCall call;
    call.partition = static_cast<std::int32_t>(rng_.below(static_cast<std::uint64_t>(context_.partitions)));
    call.value = make_value(number_, next_value_++);
    call.acks = (*slot.acks)[slot.acks->size() == 1 ? 0 : rng_.below(slot.acks->size())];
    call.timeout = spec.request_timeout;
    call.size =
        spec.size_min +
        static_cast<std::int32_t>(rng_.below(static_cast<std::uint64_t>(spec.size_max - spec.size_min) + 1));
    return call;
}

std::string Appends::name_of(const ProduceReply& reply) const {
    return reply.incarnation == 1 ? name_ : fmt::format("{}.{}", name_, reply.incarnation);
}

void Appends::record(const Ended& ended) {
    Operation operation;
    operation.invoked = ended.invoked;
    operation.completed = monotonic_now();
    Produce produce;
    produce.partition = ended.call.partition;
    produce.value = ended.call.value;
    produce.acks = ended.call.acks;
    produce.status = ended.outcome;
    produce.offset = ended.reply.offset;
    if (ended.outcome != Outcome::Ok) produce.error = attempt_error(ended.reply.end);
    produce.broker = ended.reply.broker;
    produce.sequence = ended.sequence;
    operation.what = std::move(produce);
    context_.recorder->record(name_of(ended.reply), std::move(operation));
}

void Appends::record_hidden_retries(const ProduceReply& last, const std::string& of, std::int64_t requests) {
    Operation operation;
    operation.invoked = monotonic_now();
    operation.completed = operation.invoked;
    OtherOp other;
    other.op = "hidden-retries";
    other.json = fmt::format(R"({},"requests":{})", of, requests);
    operation.what = std::move(other);
    context_.recorder->record(name_of(last), std::move(operation));
}

}  // namespace highwater::workloads
