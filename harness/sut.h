// The system under test: our own node, or an Apache Kafka.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/kafka/distribution.h"
#include "harness/process_cluster.h"

namespace highwater::harness {

struct Sut {
    /// As it is named in results: "node", "kafka:4.3.1".
    std::string name = "node";
    /// Absent: our own node.
    std::optional<KafkaDistribution> kafka;

    /// "node", "kafka", "kafka:VERSION" or "kafka:/PATH". Errors: another word; that Kafka is not here.
    static Result<Sut> parse(const std::string& text);
    /// "node" or "kafka", as [expect.verdict] names it.
    [[nodiscard]] std::string family() const { return kafka ? "kafka" : "node"; }
    /// A new cluster of it has eligible leader replicas unless told otherwise.
    [[nodiscard]] bool elr_by_default() const { return !kafka || kafka->elr_by_default(); }
    /// Rule profile for the checker.
    [[nodiscard]] std::string profile() const { return kafka ? kafka->profile() : "node"; }
};

/// Several, separated by commas, for `compare --sut`.
Result<std::vector<Sut>> parse_suts(const std::string& text);

/// Not started yet.
std::unique_ptr<ProcessCluster> make_cluster(const Sut& sut, const Scenario& scenario,
                                             ClusterOptions options);

}  // namespace highwater::harness
