// The append workload: N producers append unique values at a rate, M consumers follow each partition from
// offset 0.
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/overloaded.h"
#include "workloads/workload.h"

namespace highwater::workloads {
namespace {

constexpr Duration kPollWait = milliseconds(50);
// A refused client looks for the new leader this often; fast enough to measure unavailability, gentle on two
// cores.
constexpr Duration kRetryPause = milliseconds(20);

class AppendWorkload final : public Workload {
public:
    explicit AppendWorkload(WorkloadContext context) : context_(std::move(context)) {}
    ~AppendWorkload() override { stop(); }

    void start() override {
        const bool silent = context_.spec.rate && *context_.spec.rate <= 0;
        for (std::int32_t i = 0; i < context_.spec.producers && !silent; ++i) {
            threads_.emplace_back([this, i] { produce_all(context_.first_producer + i); });
        }
        for (std::int32_t i = 0; i < context_.spec.consumers; ++i) {
            for (std::int32_t partition = 0; partition < context_.partitions; ++partition) {
                const std::string name = fmt::format("c{}-{}", context_.first_consumer + i, partition);
                threads_.emplace_back([this, name, partition] { follow(name, partition); });
            }
        }
    }

    void stop() override {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        wake_.notify_all();
        for (std::thread& thread : threads_) {
            if (thread.joinable()) thread.join();
        }
        threads_.clear();
    }

private:
    /// True if stop() was called before `until`.
    bool pause_until(Instant until) {
        std::unique_lock lock(mutex_);
        const Duration left = std::max(until - monotonic_now(), Duration{0});
        return wake_.wait_for(lock, left, [this] { return stopping_; });
    }

    void produce_all(std::int64_t producer) {
        const std::string name = fmt::format("p{}", producer);
        const std::unique_ptr<Client> client = context_.clients(name);
        Rng rng(context_.seed ^ static_cast<std::uint64_t>(producer));
        const std::optional<double> rate = context_.spec.rate;
        const Duration gap =
            rate ? Duration{static_cast<std::int64_t>(1e9 * context_.spec.producers / *rate)} : Duration{0};
        Instant next = monotonic_now();
        for (std::int64_t n = 1;; ++n) {
            if (pause_until(next)) return;
            const auto partition =
                static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(context_.partitions)));
            const bool answered = produce_one(*client, name, partition, make_value(producer, n));
            // A producer that was blocked does not catch up: the rate is a ceiling.
            next = std::max(next + gap, monotonic_now() + (answered ? Duration{0} : kRetryPause));
        }
    }

    /// True if the append was acknowledged or refused for good, false if the leader must be looked for.
    bool produce_one(Client& client, const std::string& name, std::int32_t partition, Value value) {
        const std::int16_t acks = context_.spec.acks;
        Operation operation;
        operation.invoked = monotonic_now();
        const ProduceReply reply = client.produce(partition, value, acks, context_.spec.request_timeout);
        operation.completed = monotonic_now();
        Produce produce;
        produce.partition = partition;
        produce.value = value;
        produce.acks = acks;
        produce.status = produce_outcome(reply.end, acks);
        produce.offset = reply.offset;
        produce.error = attempt_error(reply.end);
        produce.broker = reply.broker;
        const bool definite = produce.error.empty() || produce.error == "NOT_ENOUGH_REPLICAS";
        operation.what = std::move(produce);
        context_.recorder->record(name, std::move(operation));
        if (!definite) client.refresh();
        return definite;
    }

    void follow(const std::string& name, std::int32_t partition) {
        const std::unique_ptr<Client> client = context_.clients(name);
        Offset position = 0;
        while (!pause_until(monotonic_now())) {
            Operation operation;
            operation.invoked = monotonic_now();
            PollReply reply = client->poll(partition, position, kPollWait);
            operation.completed = monotonic_now();
            const auto* code = std::get_if<wire::ErrorCode>(&reply.end);
            if (code == nullptr || *code != wire::ErrorCode::None) {
                const bool out_of_range = code != nullptr && *code == wire::ErrorCode::OffsetOutOfRange;
                client->refresh();
                if (out_of_range) reset(*client, name, partition, position);
                if (pause_until(monotonic_now() + kRetryPause)) return;
                continue;
            }
            // Empty reads prove nothing that the next non-empty one does not.
            if (!reply.records.empty()) {
                Poll poll;
                poll.partition = partition;
                poll.from = position;
                poll.records = std::move(reply.records);
                poll.high_watermark = reply.high_watermark;
                poll.log_start = reply.log_start;
                poll.broker = reply.broker;
                operation.what = std::move(poll);
                context_.recorder->record(name, std::move(operation));
            }
            if (reply.next != kUnknownOffset) position = std::max(position, reply.next);
        }
    }

    /// The log ended below the position (an unclean election cut it): go on from where it ends now.
    void reset(Client& client, const std::string& name, std::int32_t partition, Offset& position) {
        Operation operation;
        operation.invoked = monotonic_now();
        const OffsetReply reply = client.latest(partition);
        operation.completed = monotonic_now();
        const auto* code = std::get_if<wire::ErrorCode>(&reply.end);
        if (code == nullptr || *code != wire::ErrorCode::None || reply.offset == kUnknownOffset) return;
        position = reply.offset;
        OtherOp other;
        other.op = "reset";
        other.json = fmt::format(R"("partition":{},"offset":{})", partition, position);
        operation.what = std::move(other);
        context_.recorder->record(name, std::move(operation));
    }

    WorkloadContext context_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Workload> make_append_workload(WorkloadContext context) {
    return std::make_unique<AppendWorkload>(std::move(context));
}

}  // namespace highwater::workloads
