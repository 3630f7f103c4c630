// A cluster that real clients are let loose on: three brokers of ours, or of Apache Kafka, with the same
// keys.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/cluster.h"
#include "tests/conformance/tap.h"
#include "tests/node_broker/process_cluster.h"

namespace highwater::test {

enum class Sut { Node, Kafka };
/// As the columns of docs/conformance.md have it.
std::string sut_name(Sut sut);

class System {
public:
    /// Started and ready; a failure of the test, and started() is false, if it did not start.
    explicit System(Sut sut);
    ~System();

    [[nodiscard]] bool started() const { return started_; }
    [[nodiscard]] Sut sut() const { return sut_; }
    /// What a client is given to find the cluster, "address:port,…".
    [[nodiscard]] std::string bootstrap() const;
    /// Data directories of broker 1 and the controller, "one,other".
    [[nodiscard]] std::string data_directories() const;
    /// With three replicas of each partition, led by 1, 2 and 3 in turn.
    void create_topic(const std::string& name, std::int32_t partitions);
    /// Ends the leader of the topic's partition 0 by SIGKILL and starts it again when another leads.
    void kill_leader(const std::string& topic);
    /// Of a topic with two replicas and min.insync.replicas 1: kills the follower, the leader when the ISR is
    /// the leader alone, and starts the follower again when nobody leads.
    void strand(const std::string& topic);
    /// What the brokers have printed.
    [[nodiscard]] std::string output() const;
    /// What clients have sent, by their client ids.
    [[nodiscard]] const RequestCounts& requests() const { return requests_; }
    /// Processes that ended by themselves.
    [[nodiscard]] std::vector<std::string> crashes() { return cluster_->crashes(); }

private:
    [[nodiscard]] WireClient client(BrokerId broker) const {
        return WireClient(cluster_->direct_address(broker));
    }
    using Metadata = wire::MetadataResponse::MetadataResponseTopic::MetadataResponsePartition;
    /// Of partition 0, as some live broker has it.
    [[nodiscard]] std::optional<Metadata> metadata_of(const std::string& topic) const;
    [[nodiscard]] BrokerId leader_of(const std::string& topic) const;

    Sut sut_;
    TemporaryDirectory directory_;
    Scenario scenario_;
    std::unique_ptr<harness::Cluster> cluster_;
    RequestCounts requests_;
    /// What the brokers advertise.
    std::vector<std::unique_ptr<Tap>> taps_;
    bool started_ = false;
};

}  // namespace highwater::test
