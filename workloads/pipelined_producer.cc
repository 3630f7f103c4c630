#include "workloads/pipelined_producer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"

namespace highwater::workloads {
namespace {

/// How often a producer looks whether it may go on: its phase, its rate, the end.
constexpr Duration kLook = milliseconds(2);
/// After a refusal, as a producer with one append under way.
constexpr Duration kRetryPause = milliseconds(20);
/// The last reports of a workload; longer than any look for a new leader.
constexpr Duration kFlushTime = seconds(10);
constexpr Duration kPurgeTime = seconds(1);

}  // namespace

PipelinedProducer::PipelinedProducer(const WorkloadContext& context, std::int64_t number, PhasePlan& plan,
                                     Stopper& stopper)
    : context_(context),
      appends_(context, number),
      plan_(plan),
      stopper_(stopper),
      client_(context.clients(appends_.name())),
      pipeline_(client_->pipeline()) {
    HW_ASSERT(pipeline_ != nullptr, "the scenario was validated");
}

void PipelinedProducer::run() {
    const std::optional<double> rate = context_.spec.rate;
    const Duration gap =
        rate ? Duration{static_cast<std::int64_t>(1e9 * context_.spec.producers / *rate)} : Duration{0};
    Instant next = monotonic_now();
    while (!stopper_.stopping()) {
        const Instant now = monotonic_now();
        const bool room = under_way_.size() < static_cast<std::size_t>(context_.spec.in_flight);
        // As with one append under way the rate is a ceiling: nothing is made up for.
        if (room && now >= next && start_one()) next = std::max(next + gap, now);
        const bool go_on = room && monotonic_now() >= next;
        if (!take_in(go_on ? Duration{0} : kLook)) next = monotonic_now() + kRetryPause;
    }
    flush();
    if (pipeline_->requests() > started_)
        appends_.record_hidden_retries(last_, fmt::format(R"("appends":{})", started_),
                                       pipeline_->requests());
}

bool PipelinedProducer::start_one() {
    const auto slot = plan_.take();
    if (!slot) return false;
    UnderWay append{appends_.draw(*slot), *slot, monotonic_now(), std::nullopt};
    if (slot->acks->size() == 1) append.sequence = next_sequence_[append.call.partition]++;
    const ProduceCall call = append.call;
    under_way_.emplace(call.value, append);
    ++started_;
    pipeline_->start(call);
    return true;
}

bool PipelinedProducer::take_in(Duration wait) {
    bool refused = false;
    for (const Pipeline::Completed& completed : pipeline_->completed(wait)) {
        const auto found = under_way_.find(completed.value);
        if (found == under_way_.end()) continue;
        end(found->second, completed.reply);
        const auto* error = std::get_if<LibraryError>(&completed.reply.end);
        refused = refused || (error != nullptr && error->never_sent);
        under_way_.erase(found);
    }
    return !refused;
}

void PipelinedProducer::end(const UnderWay& append, const ProduceReply& reply) {
    const Outcome outcome = produce_outcome(reply.end, append.call.acks, false);
    appends_.record({append.call, reply, outcome, append.invoked, append.sequence});
    plan_.give_back(append.slot, outcome == Outcome::Fail);
    if (outcome == Outcome::Fail) --started_;
    last_ = reply;
}

void PipelinedProducer::flush() {
    const Instant deadline = monotonic_now() + std::min(kFlushTime, context_.spec.delivery_timeout);
    while (!under_way_.empty() && monotonic_now() < deadline) take_in(kLook);
    if (!under_way_.empty()) pipeline_->purge();
    const Instant purged = monotonic_now() + kPurgeTime;
    while (!under_way_.empty() && monotonic_now() < purged) take_in(kLook);
    ProduceReply none = last_;
    none.end = LibraryError{"no delivery report", false};
    none.offset = kUnknownOffset;
    none.broker = kNoBroker;
    for (const auto& [value, append] : under_way_) end(append, none);
    under_way_.clear();
}

}  // namespace highwater::workloads
