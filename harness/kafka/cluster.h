// Unmodified Apache Kafka (KRaft): controllers and brokers as JVMs of their own, all they write below the
// run's directory.
#pragma once

#include <memory>
#include <string>

#include "harness/kafka/distribution.h"
#include "harness/kafka/trace.h"
#include "harness/process_cluster.h"

namespace highwater::harness {

class KafkaCluster final : public ProcessCluster {
public:
    KafkaCluster(const Scenario& scenario, ClusterOptions options, KafkaDistribution distribution);
    ~KafkaCluster() override;

    Status start(Instant deadline) override;
    void stop() override;
    // What was learned from outside: see KafkaTrace.
    void saw(const Operation& operation) override;
    void sampled(BrokerId broker, const ReplicaSample& sample) override;
    [[nodiscard]] std::vector<std::string> trace_files() const override;
    [[nodiscard]] std::vector<std::string> trace_files(BrokerId id) const override;
    /// The one whose quorum-state file names itself leader in the newest epoch.
    [[nodiscard]] std::vector<BrokerId> active_controllers() const override;

protected:
    Status prepare() override;
    Result<Program> program_of(BrokerId id, std::int32_t incarnation) override;

private:
    [[nodiscard]] std::string properties(BrokerId id) const;
    [[nodiscard]] std::vector<std::string> java_options(BrokerId id) const;
    /// What a data directory must have before the first start: by Kafka's own tool in one directory of each
    /// role, the others get a copy under an identity of their own.
    Status format_directories();
    Status format_with_tool();
    /// Of one that has none: before its first start, and after a wipe.
    Status format_copy(BrokerId id);
    [[nodiscard]] std::string template_dir(bool controller) const;

    KafkaDistribution distribution_;
    std::uint32_t formatted_ = 0;
    std::unique_ptr<KafkaTrace> trace_;
};

}  // namespace highwater::harness
