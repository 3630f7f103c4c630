#include "workloads/producer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace highwater::workloads {
namespace {

// A refused client looks for the new leader this often; fast enough to measure unavailability, gentle on two
// cores.
constexpr Duration kRetryPause = milliseconds(20);
// How often a producer asks whether its phase has begun.
constexpr Duration kPlanPause = milliseconds(2);

bool is(const AttemptEnd& end, wire::ErrorCode code) {
    const auto* answered = std::get_if<wire::ErrorCode>(&end);
    return answered != nullptr && *answered == code;
}

/// What no repetition will change.
bool final_refusal(const AttemptEnd& end) {
    for (const auto code : {wire::ErrorCode::MessageTooLarge, wire::ErrorCode::InvalidRequiredAcks,
                            wire::ErrorCode::CorruptMessage, wire::ErrorCode::InvalidRecord,
                            wire::ErrorCode::InvalidProducerEpoch, wire::ErrorCode::OutOfOrderSequenceNumber,
                            wire::ErrorCode::DuplicateSequenceNumber, wire::ErrorCode::UnknownProducerId}) {
        if (is(end, code)) return true;
    }
    return false;
}

std::int32_t after(std::int32_t sequence) {
    return sequence == std::numeric_limits<std::int32_t>::max() ? 0 : sequence + 1;
}

}  // namespace

Producer::Producer(const WorkloadContext& context, std::int64_t number, PhasePlan& plan, Stopper& stopper)
    : context_(context),
      appends_(context, number),
      plan_(plan),
      stopper_(stopper),
      client_(context.clients(appends_.name())) {}

void Producer::run() {
    const std::optional<double> rate = context_.spec.rate;
    const Duration gap =
        rate ? Duration{static_cast<std::int64_t>(1e9 * context_.spec.producers / *rate)} : Duration{0};
    Instant next = monotonic_now();
    while (!stopper_.pause_until(next)) {
        const auto slot = plan_.take();
        if (!slot) {
            next = monotonic_now() + kPlanPause;
            continue;
        }
        const bool definite = append(*slot);
        // A producer that was blocked does not catch up: the rate is a ceiling.
        next = std::max(next + gap, monotonic_now() + (definite ? Duration{0} : kRetryPause));
    }
}

bool Producer::identify() {
    if (!context_.spec.idempotent || client_->hides_attempts() || identity_.producer_id >= 0) return true;
    const ProducerIdReply reply = client_->init_producer_id();
    if (!is(reply.end, wire::ErrorCode::None)) return false;
    identity_.producer_id = reply.producer_id;
    identity_.producer_epoch = reply.producer_epoch;
    next_sequence_.clear();
    return true;
}

bool Producer::append(const PhasePlan::Slot& slot) {
    if (!identify()) {
        plan_.give_back(slot, true);
        return false;
    }
    ProduceCall call = appends_.draw(slot);
    if (context_.spec.idempotent && !client_->hides_attempts()) {
        call.identity = identity_;
        call.identity->sequence = next_sequence_[call.partition];
    }
    const Instant invoked = monotonic_now();
    const Attempts attempts = attempt_until_definite(call);
    const Outcome outcome =
        produce_outcome(attempts.last.end, call.acks, !attempts.doubtful && !client_->hides_attempts());
    appends_.record({call, attempts.last, outcome, invoked, std::nullopt});
    if (attempts.last.requests > 1)
        appends_.record_hidden_retries(
            attempts.last, fmt::format(R"("partition":{},"value":{})", call.partition, call.value),
            attempts.last.requests);
    if (call.identity) {
        if (outcome == Outcome::Ok) {
            next_sequence_[call.partition] = after(call.identity->sequence);
        } else if (outcome == Outcome::Info) {
            // Whether this sequence number is taken is not known: begin anew under another id.
            identity_ = {};
        }
    }
    plan_.give_back(slot, outcome == Outcome::Fail);
    const bool definite = outcome == Outcome::Ok || attempt_error(attempts.last.end).empty() ||
                          is(attempts.last.end, wire::ErrorCode::NotEnoughReplicas);
    if (!definite) client_->refresh();
    return definite;
}

bool Producer::worth_another(const Attempts& attempts) const {
    const AttemptEnd& end = attempts.last.end;
    if (is(end, wire::ErrorCode::None) || client_->hides_attempts()) return false;
    return attempts.count <= context_.spec.retries && !final_refusal(end);
}

Producer::Attempts Producer::attempt_until_definite(ProduceCall call) {
    Attempts attempts;
    while (true) {
        attempts.last = client_->produce(call);
        ++attempts.count;
        if (!worth_another(attempts)) return attempts;
        if (produce_outcome(attempts.last.end, call.acks) == Outcome::Info) attempts.doubtful = true;
        if (!is(attempts.last.end, wire::ErrorCode::NotEnoughReplicas)) client_->refresh();
        if (stopper_.pause_until(monotonic_now() + kRetryPause)) return attempts;
    }
}

}  // namespace highwater::workloads
