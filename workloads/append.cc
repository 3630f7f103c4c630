// The append workload: N producers append unique values, M consumers read each partition; a thread for each.
#include <fmt/format.h>

#include <thread>
#include <utility>
#include <vector>

#include "workloads/consumer.h"
#include "workloads/pipelined_producer.h"
#include "workloads/producer.h"
#include "workloads/workload.h"

namespace highwater::workloads {
namespace {

class AppendWorkload final : public Workload {
public:
    explicit AppendWorkload(WorkloadContext context)
        : context_(std::move(context)), plan_(context_.spec, context_.fault_complete) {}
    ~AppendWorkload() override { stop(); }

    void start() override {
        for (std::int32_t i = 0; i < context_.spec.producers && !silent(); ++i) {
            threads_.emplace_back([this, number = context_.first_producer + i] { produce(number); });
        }
        for (std::int32_t i = 0; i < context_.spec.consumers; ++i) {
            for (std::int32_t partition = 0; partition < context_.partitions; ++partition) {
                std::string name = fmt::format("c{}-{}", context_.first_consumer + i, partition);
                threads_.emplace_back([this, name = std::move(name), partition] {
                    Consumer(context_, name, partition, stopper_).run();
                });
            }
        }
    }

    [[nodiscard]] bool finished() const override { return silent() || plan_.finished(); }

    void stop() override {
        stopper_.stop();
        for (std::thread& thread : threads_) {
            if (thread.joinable()) thread.join();
        }
        threads_.clear();
    }

private:
    void produce(std::int64_t number) {
        if (context_.spec.in_flight > 1)
            PipelinedProducer(context_, number, plan_, stopper_).run();
        else
            Producer(context_, number, plan_, stopper_).run();
    }
    [[nodiscard]] bool silent() const { return context_.spec.rate && *context_.spec.rate <= 0; }

    WorkloadContext context_;
    PhasePlan plan_;
    Stopper stopper_;
    std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Workload> make_append_workload(WorkloadContext context) {
    return std::make_unique<AppendWorkload>(std::move(context));
}

}  // namespace highwater::workloads
