#include "workloads/consumer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace highwater::workloads {
namespace {

constexpr Duration kPollWait = milliseconds(50);
constexpr Duration kRetryPause = milliseconds(20);
/// A reader of followers turns to another one after so many answers.
constexpr std::int64_t kReadsPerFollower = 20;

bool is(const AttemptEnd& end, wire::ErrorCode code) {
    const auto* answered = std::get_if<wire::ErrorCode>(&end);
    return answered != nullptr && *answered == code;
}

}  // namespace

Consumer::Consumer(const WorkloadContext& context, std::string name, std::int32_t partition, Stopper& stopper)
    : context_(context),
      name_(std::move(name)),
      partition_(partition),
      stopper_(stopper),
      client_(context.clients(name_)) {}

void Consumer::run() {
    Instant next = monotonic_now();
    while (!stopper_.pause_until(next)) {
        const Next pause = read_once();
        next = monotonic_now() + (pause == Next::AtOnce ? Duration{0} : kRetryPause);
    }
}

Consumer::Next Consumer::read_once() {
    const ReadMode mode = context_.spec.read;
    const Instant invoked = monotonic_now();
    PollReply reply = client_->poll(partition_, position_, kPollWait,
                                    mode == ReadMode::Followers ? ReadFrom::Follower : ReadFrom::Leader);
    if (!is(reply.end, wire::ErrorCode::None)) return failed(reply);
    const bool at_end = reply.records.empty();
    const Offset next = reply.next;
    // Empty reads prove nothing that the next non-empty one does not.
    if (!at_end) keep(std::move(reply), invoked);
    if (next != kUnknownOffset) position_ = std::max(position_, next);
    ++reads_;
    if (mode == ReadMode::Followers && reads_ % kReadsPerFollower == 0) client_->refresh();
    if (mode == ReadMode::FromStart && at_end && position_ > 0) {
        position_ = 0;
        record_move("seek", monotonic_now());
    }
    return Next::AtOnce;
}

Consumer::Next Consumer::failed(const PollReply& reply) {
    const bool out_of_range = is(reply.end, wire::ErrorCode::OffsetOutOfRange);
    client_->refresh();
    // A follower that is behind knows less than this consumer has read; another one, or the same one later,
    // knows more.
    if (out_of_range && context_.spec.read != ReadMode::Followers) reset_to_end();
    return Next::AfterAPause;
}

void Consumer::keep(PollReply reply, Instant invoked) {
    Operation operation;
    operation.invoked = std::min(invoked, reply.asked.value_or(invoked));
    operation.completed = monotonic_now();
    Poll poll;
    poll.partition = partition_;
    poll.from = position_;
    poll.records = std::move(reply.records);
    poll.high_watermark = reply.high_watermark;
    poll.log_start = reply.log_start;
    poll.broker = reply.broker;
    poll.from_follower = reply.from_follower;
    operation.what = std::move(poll);
    context_.recorder->record(name_, std::move(operation));
}

void Consumer::reset_to_end() {
    const Instant invoked = monotonic_now();
    const OffsetReply reply = client_->latest(partition_);
    if (!is(reply.end, wire::ErrorCode::None) || reply.offset == kUnknownOffset) return;
    position_ = reply.offset;
    record_move("reset", invoked);
}

void Consumer::record_move(const char* op, Instant invoked) {
    Operation operation;
    operation.invoked = invoked;
    operation.completed = monotonic_now();
    OtherOp other;
    other.op = op;
    other.json = fmt::format(R"("partition":{},"offset":{})", partition_, position_);
    operation.what = std::move(other);
    context_.recorder->record(name_, std::move(operation));
}

}  // namespace highwater::workloads
