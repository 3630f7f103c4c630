// Our own replica processes: one controller and N brokers.
#pragma once

#include <string>

#include "harness/process_cluster.h"

namespace highwater::harness {

class NodeCluster final : public ProcessCluster {
public:
    /// `program`: path of highwater-node.
    NodeCluster(const Scenario& scenario, ClusterOptions options, std::string program);
    ~NodeCluster() override;

    [[nodiscard]] std::vector<std::string> trace_files() const override { return trace_files_; }
    [[nodiscard]] std::vector<std::string> trace_files(BrokerId id) const override;
    [[nodiscard]] std::vector<BrokerId> active_controllers() const override { return controllers(); }

protected:
    Status prepare() override;
    Result<Program> program_of(BrokerId id, std::int32_t incarnation) override;

private:
    [[nodiscard]] std::string properties(BrokerId id, std::int32_t incarnation) const;

    std::string program_;
    std::string cluster_id_;
    std::vector<std::string> trace_files_;
};

}  // namespace highwater::harness
