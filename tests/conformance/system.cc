#include "tests/conformance/system.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "harness/kafka/cluster.h"
#include "harness/node_cluster.h"

namespace highwater::test {
namespace {

constexpr const char* kVersion = "4.3.1";
constexpr BrokerId kController = 100;
constexpr Duration kStartPatience = seconds(60);

Scenario three_brokers() {
    Scenario scenario;
    scenario.name = "conformance";
    // What both know, in its own words.
    scenario.cluster.properties = {{"broker.session.timeout.ms", "3000"},
                                   {"broker.heartbeat.interval.ms", "500"},
                                   {"replica.lag.time.max.ms", "3000"},
                                   // Groups are there sooner.
                                   {"offsets.topic.num.partitions", "3"},
                                   {"group.initial.rebalance.delay.ms", "0"}};
    scenario.topic.assignment = {{1, 2, 3}};
    return scenario;
}

}  // namespace

std::string sut_name(Sut sut) {
    return sut == Sut::Node ? "highwater-node" : std::string("Kafka ") + kVersion;
}

System::System(Sut sut) : sut_(sut), scenario_(three_brokers()) {
    harness::ClusterOptions options;
    options.run_dir = directory_.path();
    options.direct_seen_by = nemesis::kFirstClient;
    if (sut == Sut::Node) {
        cluster_ = std::make_unique<harness::NodeCluster>(scenario_, options, HW_BIN_DIR "/highwater-node");
    } else {
        auto kafka = harness::KafkaDistribution::find(kVersion);
        EXPECT_TRUE(kafka) << kafka.error().message;
        if (!kafka) return;
        cluster_ = std::make_unique<harness::KafkaCluster>(scenario_, options, std::move(*kafka));
    }
    const Status status = cluster_->start(monotonic_now() + kStartPatience);
    EXPECT_TRUE(status) << status.error().message << output();
    if (!status) return;
    for (const BrokerId id : cluster_->brokers()) {
        const workloads::SocketAddress direct = cluster_->direct_address(id);
        // "127.R.D.D": the slot R is the cluster's own.
        const nemesis::AddressPlan plan(std::stoi(direct.host.substr(4)));
        taps_.push_back(std::make_unique<Tap>(
            workloads::SocketAddress{plan.address(nemesis::kFirstClient, id), direct.port}, direct,
            requests_));
    }
    started_ = true;
}

System::~System() {
    taps_.clear();
    if (cluster_) cluster_->stop();
}

std::string System::bootstrap() const {
    std::vector<std::string> addresses;
    for (const auto& tap : taps_) addresses.push_back(tap->address().to_string());
    return fmt::format("{}", fmt::join(addresses, ","));
}

std::string System::data_directories() const {
    return fmt::format("{0}/nodes/1/data,{0}/nodes/{1}/data", directory_.path(), kController);
}

void System::create_topic(const std::string& name, std::int32_t partitions) {
    std::vector<std::vector<BrokerId>> assignment;
    for (std::int32_t p = 0; p < partitions; ++p)
        assignment.push_back({p % 3 + 1, (p + 1) % 3 + 1, (p + 2) % 3 + 1});
    const auto created = client(1).call<wire::CreateTopicsResponse>(
        create_topic_request(name, assignment, {}), kCreateTopicsVersion);
    ASSERT_TRUE(created) << created.error().message;
    ASSERT_EQ(created->topics.at(0).error_code, wire::ErrorCode::None) << name;
    EXPECT_TRUE(eventually(seconds(20), [&] { return leader_of(name) != kNoBroker; })) << name;
}

std::optional<System::Metadata> System::metadata_of(const std::string& topic) const {
    for (const BrokerId id : cluster_->brokers()) {
        if (!cluster_->running(id)) continue;
        const auto answer =
            client(id).call<wire::MetadataResponse>(metadata_request(topic), kMetadataVersion);
        if (!answer || answer->topics.empty() || answer->topics[0].partitions.empty()) continue;
        return answer->topics[0].partitions[0];
    }
    return std::nullopt;
}

BrokerId System::leader_of(const std::string& topic) const {
    const std::optional<Metadata> metadata = metadata_of(topic);
    return metadata ? metadata->leader_id : kNoBroker;
}

void System::kill_leader(const std::string& topic) {
    const BrokerId leader = leader_of(topic);
    ASSERT_NE(leader, kNoBroker) << topic;
    const nemesis::FaultEffect killed = cluster_->kill(leader);
    ASSERT_TRUE(killed.ok) << killed.detail;
    EXPECT_TRUE(eventually(seconds(30),
                           [&] {
                               const BrokerId now = leader_of(topic);
                               return now != kNoBroker && now != leader;
                           }))
        << topic << " is still led by " << leader;
    const nemesis::FaultEffect restarted = cluster_->restart(leader);
    EXPECT_TRUE(restarted.ok) << restarted.detail;
}

void System::strand(const std::string& topic) {
    const std::optional<Metadata> before = metadata_of(topic);
    ASSERT_TRUE(before && before->replica_nodes.size() == 2) << topic;
    const BrokerId leader = before->leader_id;
    const BrokerId follower =
        before->replica_nodes[0] == leader ? before->replica_nodes[1] : before->replica_nodes[0];
    const auto kill = [&](BrokerId id, const char* what, const std::function<bool(const Metadata&)>& then) {
        const nemesis::FaultEffect killed = cluster_->kill(id);
        EXPECT_TRUE(killed.ok) << killed.detail;
        EXPECT_TRUE(eventually(seconds(30),
                               [&] {
                                   const std::optional<Metadata> now = metadata_of(topic);
                                   return now && then(*now);
                               }))
            << topic << ": " << what;
    };
    kill(follower, "the leader alone in the ISR",
         [&](const Metadata& now) { return now.isr_nodes == std::vector<BrokerId>{leader}; });
    kill(leader, "nobody to lead", [](const Metadata& now) { return now.leader_id == kNoBroker; });
    const nemesis::FaultEffect restarted = cluster_->restart(follower);
    EXPECT_TRUE(restarted.ok) << restarted.detail;
}

std::string System::output() const {
    std::string all;
    for (const BrokerId id : cluster_->brokers()) {
        for (const std::string& file : cluster_->log_files(id)) {
            const std::string text = read_file(file);
            all += fmt::format("--- {}\n{}", file,
                               text.substr(text.size() - std::min<std::size_t>(text.size(), 4000)));
        }
    }
    return all;
}

}  // namespace highwater::test
