// A broker's life beside its controller: registration, sessions, restarts on what is on disk, orderly stops.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/overloaded.h"
#include "node/log/checkpoint.h"
#include "node/server/make_server.h"
#include "tests/node_server/cluster.h"
#include "tests/support/requests.h"

namespace highwater::test {
namespace {

using node::BrokerFenced;
using node::BrokerRegistered;
using node::BrokerUnfenced;
using node::RoleTaken;
using wire::ErrorCode;

void create(Cluster& cluster, const std::vector<std::vector<BrokerId>>& assignments, BrokerId at = 1) {
    const auto created = cluster.ask<wire::CreateTopicsResponse>(
        at, create_topic_request("t", assignments, {}), kCreateTopicsVersion);
    ASSERT_TRUE(created) << created.error().message;
    ASSERT_EQ(created->topics.at(0).error_code, ErrorCode::None);
}

/// Does it lead this partition, as far as it knows?
bool leads(const Cluster& cluster, BrokerId id, const std::string& partition = "t-0") {
    node::Role role = node::Role::None;
    for (const node::Event& event : cluster.events(id)) {
        const auto* of_partition = std::get_if<node::PartitionEvent>(&event);
        if (of_partition == nullptr || of_partition->partition.to_string() != partition) continue;
        if (const auto* taken = std::get_if<RoleTaken>(&of_partition->fact)) role = taken->role;
    }
    return role == node::Role::Leader;
}

ErrorCode produce(Cluster& cluster, BrokerId at, std::uint64_t value, std::int16_t acks = -1,
                  std::int32_t timeout_ms = 5000) {
    const auto answer = cluster.ask<wire::ProduceResponse>(
        at, produce_request("t", 0, acks, timeout_ms, batch_of({value}, 0)), kProduceVersion);
    return answer ? answer->responses.at(0).partition_responses.at(0).error_code
                  : ErrorCode::UnknownServerError;
}

std::vector<std::uint64_t> values(Cluster& cluster, BrokerId at) {
    const auto answer = cluster.ask<wire::FetchResponse>(at, fetch_request("t", 0, 0, 0), kFetchVersion);
    std::vector<std::uint64_t> all;
    if (!answer) return all;
    const auto records = records_of(answer->responses.at(0).partitions.at(0).records.value_or(Bytes{}));
    if (!records) return all;
    for (const wire::Record& record : *records) all.push_back(value_of(record));
    return all;
}

std::string file(Cluster& cluster, BrokerId id, const std::string& path) {
    const auto bytes = cluster.storage(id).read_file(path);
    return bytes && *bytes ? std::string(as_text(**bytes)) : "(none)";
}

TEST(Lifecycle, OneBrokerFromNothingToTheFirstCommittedRecord) {
    Cluster cluster(1);
    cluster.start_all();
    create(cluster, {{1}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    EXPECT_EQ(produce(cluster, 1, 42), ErrorCode::None);
    EXPECT_EQ(values(cluster, 1), std::vector<std::uint64_t>{42});
    ASSERT_EQ(cluster.facts<node::ServerStarted>(1).size(), 1U);
    ASSERT_EQ(cluster.facts<node::ServerRegistered>(1).size(), 1U);
    EXPECT_EQ(cluster.facts<node::ServerRegistered>(1)[0].broker_epoch,
              cluster.facts<BrokerRegistered>(kController)[0].broker_epoch);
}

TEST(Lifecycle, EveryPurposeHasAConnectionAndAClientIdAsInKafka) {
    Cluster cluster(2);
    cluster.start_all();
    create(cluster, {{1, 2}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    ASSERT_EQ(produce(cluster, 1, 1), ErrorCode::None);
    cluster.kill(2);
    ASSERT_EQ(produce(cluster, 1, 2), ErrorCode::None);
    const auto& controller = cluster.requests_seen(kController);
    for (const char* request :
         {"BrokerRegistration v4 by 1", "BrokerHeartbeat v1 by 1", "Fetch v17 by raft-client-1"}) {
        EXPECT_TRUE(controller.contains(request)) << request;
    }
    EXPECT_TRUE(cluster.requests_seen(1).contains("Fetch v17 by broker-2-fetcher-1"));
}

TEST(Lifecycle, AnAlterPartitionOfALaggingFollower) {
    Cluster cluster(2, {{"broker.session.timeout.ms", "60000"}});
    cluster.start_all();
    create(cluster, {{1, 2}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    ASSERT_EQ(produce(cluster, 1, 1), ErrorCode::None);
    cluster.freeze(2);
    EXPECT_EQ(produce(cluster, 1, 2, -1, 30000), ErrorCode::None)
        << "the ISR shrinks to the leader, which commits alone";
    EXPECT_TRUE(cluster.requests_seen(kController).contains("AlterPartition v3 by 1"));
    ASSERT_FALSE(cluster.facts<node::IsrCommitted>(1).empty());
    EXPECT_EQ(cluster.facts<node::IsrCommitted>(1).back().isr, (std::vector<BrokerId>{1}));
    cluster.thaw(2);
    ASSERT_TRUE(cluster.run_until(
        [&] { return cluster.facts<node::IsrCommitted>(1).back().isr == std::vector<BrokerId>{1, 2}; }));
    ASSERT_TRUE(cluster.run_until([&] { return values(cluster, 2).size() == 2; }));
}

TEST(Lifecycle, AProposalSurvivesAControllerThatIsAway) {
    Cluster cluster(2, {{"broker.session.timeout.ms", "60000"}});
    cluster.start_all();
    create(cluster, {{1, 2}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    ASSERT_EQ(produce(cluster, 1, 1), ErrorCode::None);
    cluster.freeze(2);
    ASSERT_EQ(produce(cluster, 1, 2, 1), ErrorCode::None);
    cluster.kill(kController);
    cluster.advance(seconds(20));
    EXPECT_FALSE(cluster.facts<node::IsrProposed>(1).empty());
    EXPECT_TRUE(cluster.facts<node::IsrCommitted>(1).empty());
    cluster.start(kController);
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.facts<node::IsrCommitted>(1).empty(); }, seconds(5)));
    EXPECT_EQ(cluster.facts<node::IsrCommitted>(1).back().isr, (std::vector<BrokerId>{1}));
}

TEST(Lifecycle, AKilledBrokerComesBackWithItsRecordsAfterItsOldSession) {
    Cluster cluster(1);
    cluster.start_all();
    create(cluster, {{1}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    for (std::uint64_t value = 1; value <= 3; ++value) ASSERT_EQ(produce(cluster, 1, value), ErrorCode::None);
    const Instant died = cluster.now();
    cluster.kill(1);
    cluster.start(1);
    ASSERT_TRUE(cluster.run_until([&] { return cluster.facts<BrokerUnfenced>(kController).size() == 2; }));
    EXPECT_TRUE(cluster.logged(1, "DUPLICATE_BROKER_REGISTRATION"));
    EXPECT_GE(cluster.now() - died, Duration(milliseconds(2500))) << "session 3000 less a heartbeat interval";
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    EXPECT_EQ(produce(cluster, 1, 4), ErrorCode::None);
    EXPECT_EQ(values(cluster, 1), (std::vector<std::uint64_t>{1, 2, 3, 4}));
    const auto registered = cluster.facts<BrokerRegistered>(kController);
    ASSERT_EQ(registered.size(), 2U);
    EXPECT_GT(registered[1].broker_epoch, registered[0].broker_epoch);
    EXPECT_NE(registered[1].incarnation, registered[0].incarnation);
}

TEST(Lifecycle, ARestartedBrokerNeverLeadsByTheMetadataOfItsFormerLife) {
    Cluster cluster(2);
    cluster.start_all();
    create(cluster, {{1, 2}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    ASSERT_EQ(produce(cluster, 1, 1), ErrorCode::None);
    const std::size_t before = cluster.facts<RoleTaken>(1).size();
    cluster.kill(1);
    cluster.start(1);
    ASSERT_TRUE(cluster.run_until([&] { return cluster.facts<RoleTaken>(1).size() > before; }));
    const auto roles = cluster.facts<RoleTaken>(1);
    EXPECT_EQ(roles[before].role, node::Role::Follower);
    EXPECT_EQ(roles[before].leader, 2);
}

TEST(Lifecycle, ARestartedBrokerTellsNobodyWhoLedInItsFormerLife) {
    Cluster cluster(2);
    cluster.start_all();
    create(cluster, {{1, 2}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    cluster.kill(1);
    cluster.start(1);
    const ConnId client = cluster.connect(1);
    cluster.send(client, wire::encode_request(metadata_request("t"), kMetadataVersion, 7, "test"));
    cluster.advance(milliseconds(1000));
    EXPECT_TRUE(cluster.received(client).empty())
        << "its old session lives, so all it knows is from before its death";
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.received(client).empty(); }));
    const auto answer =
        wire::decode_response<wire::MetadataResponse>(cluster.received(client)[0], kMetadataVersion, 7);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->topics.at(0).partitions.at(0).leader_id, 2);
    EXPECT_EQ(answer->topics.at(0).partitions.at(0).isr_nodes, (std::vector<BrokerId>{2}));
}

TEST(Lifecycle, RequestsThatWaitForTheStartAreAnsweredInOrderAndTheirNumberIsBounded) {
    Cluster cluster(1);
    cluster.start(1);
    const ConnId patient = cluster.connect(1);
    for (std::int32_t id = 1; id <= 3; ++id) {
        cluster.send(patient, wire::encode_request(metadata_request("t"), kMetadataVersion, id, "test"));
    }
    const ConnId gone = cluster.connect(1);
    cluster.send(gone, wire::encode_request(metadata_request("t"), kMetadataVersion, 1, "test"));
    cluster.disconnect(gone);
    const ConnId hostile = cluster.connect(1);
    cluster.send(hostile, Bytes{1, 2, 3});
    const ConnId flood = cluster.connect(1);
    for (int i = 0; i < 1000 && !cluster.closed(flood); ++i) cluster.send(flood, Bytes(10, 0));
    EXPECT_TRUE(cluster.closed(flood)) << "whoever sends without end must not fill the memory";
    cluster.start(kController);
    ASSERT_TRUE(cluster.run_until([&] { return cluster.received(patient).size() == 3; }));
    for (std::int32_t id = 1; id <= 3; ++id) {
        const Bytes& frame = cluster.received(patient)[static_cast<std::size_t>(id - 1)];
        EXPECT_TRUE(wire::decode_response<wire::MetadataResponse>(frame, kMetadataVersion, id));
    }
    EXPECT_TRUE(cluster.closed(hostile));
}

TEST(Lifecycle, AFrozenBrokerIsFencedAndUnfencedWithTheSameEpoch) {
    Cluster cluster(2);
    cluster.start_all();
    create(cluster, {{1, 2}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    cluster.freeze(1);
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 2); }));
    cluster.thaw(1);
    ASSERT_TRUE(cluster.run_until([&] { return cluster.facts<BrokerUnfenced>(kController).size() == 3; }));
    const auto fenced = cluster.facts<BrokerFenced>(kController);
    EXPECT_EQ(fenced.back().broker, 1);
    EXPECT_EQ(fenced.back().reason, node::FenceReason::SessionTimeout);
    EXPECT_EQ(cluster.facts<BrokerUnfenced>(kController).back().broker_epoch, fenced.back().broker_epoch);
    ASSERT_TRUE(
        cluster.run_until([&] { return cluster.facts<RoleTaken>(1).back().role == node::Role::Follower; }));
    EXPECT_EQ(produce(cluster, 2, 5), ErrorCode::None);
}

TEST(Lifecycle, TheControllerRestartsAndBrokersGoOn) {
    Cluster cluster(2);
    cluster.start_all();
    create(cluster, {{1, 2}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    cluster.kill(kController);
    cluster.advance(seconds(1));
    ASSERT_EQ(produce(cluster, 1, 1), ErrorCode::None) << "replication needs no controller";
    cluster.start(kController);
    cluster.advance(seconds(10));
    const auto fenced = cluster.facts<BrokerFenced>(kController);
    EXPECT_TRUE(std::none_of(fenced.begin(), fenced.end(), [](const BrokerFenced& one) {
        return one.reason == node::FenceReason::SessionTimeout;
    }));
    const auto created = cluster.ask<wire::CreateTopicsResponse>(2, create_topic_request("u", {{2}}, {}),
                                                                 kCreateTopicsVersion);
    ASSERT_TRUE(created);
    EXPECT_EQ(created->topics.at(0).error_code, ErrorCode::None);
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 2, "u-0"); }))
        << "the new controller's log is followed";
}

// -- orderly stops
// ----------------------------------------------------------------------------------------------------

TEST(Lifecycle, AControlledShutdownHandsLeadershipOverAndStopsCleanly) {
    Cluster cluster(2);
    cluster.start_all();
    create(cluster, {{1, 2}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    ASSERT_EQ(produce(cluster, 1, 1), ErrorCode::None);
    cluster.terminate(1);
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.running(1); }, seconds(5)));
    EXPECT_TRUE(leads(cluster, 2)) << "it was let go before everybody knew the new leader";
    ASSERT_EQ(cluster.facts<node::ServerStopped>(1).size(), 1U);
    EXPECT_TRUE(cluster.facts<node::ServerStopped>(1)[0].clean);
    const auto* last = std::get_if<node::ServerEvent>(&cluster.events(1).back());
    ASSERT_NE(last, nullptr) << "something happened after the stop";
    EXPECT_TRUE(std::holds_alternative<node::ServerStopped>(*last)) << "something happened after the stop";
    EXPECT_EQ(file(cluster, 1, node::kReplicationOffsetCheckpoint), "0\n1\nt 0 1\n");
}

TEST(Lifecycle, AControlledShutdownFlushesSoThatAPowerLossAfterItCostsNothing) {
    // One replica: nobody else could give the record back.
    Cluster cluster(1);
    cluster.start_all();
    create(cluster, {{1}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    ASSERT_EQ(produce(cluster, 1, 1), ErrorCode::None);
    cluster.terminate(1);
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.running(1); }, seconds(5)));
    cluster.storage(1).lose_unflushed();
    cluster.start(1);
    EXPECT_TRUE(cluster.run_until([&] { return values(cluster, 1) == std::vector<std::uint64_t>{1}; }));
}

TEST(Lifecycle, AShutdownWithoutControllerGivesUpAfterAWhile) {
    Cluster cluster(1);
    cluster.start_all();
    cluster.freeze(kController);
    cluster.terminate(1);
    cluster.advance(seconds(10));
    EXPECT_TRUE(cluster.running(1));
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.running(1); }, seconds(60)));
    EXPECT_FALSE(cluster.facts<node::ServerStopped>(1)[0].clean);
}

TEST(Lifecycle, WithoutControlledShutdownTheStopIsAtOnce) {
    Cluster cluster(1, {{"controlled.shutdown.enable", "false"}});
    cluster.start_all();
    cluster.terminate(1);
    EXPECT_FALSE(cluster.running(1));
}

TEST(Lifecycle, ABrokerThatNeverRegisteredStopsAtOnce) {
    Cluster cluster(1);
    cluster.start(1);
    cluster.terminate(1);
    EXPECT_FALSE(cluster.running(1));
}

TEST(Lifecycle, AControllerStopsAtOnceAndComesBackWithEverything) {
    Cluster cluster(1);
    cluster.start_all();
    create(cluster, {{1}});
    cluster.terminate(kController);
    EXPECT_FALSE(cluster.running(kController));
    EXPECT_TRUE(cluster.facts<node::ServerStopped>(kController).at(0).clean);
    cluster.storage(kController).lose_unflushed();
    cluster.start(kController);
    cluster.advance(seconds(3));
    const auto again = cluster.ask<wire::CreateTopicsResponse>(1, create_topic_request("t", {{1}}, {}),
                                                               kCreateTopicsVersion);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->topics.at(0).error_code, ErrorCode::TopicAlreadyExists);
}

// -- files
// -----------------------------------------------------------------------------------------------------------

TEST(Lifecycle, HighWatermarksAreCheckpointedAndReadBack) {
    Cluster cluster(1, {{"replica.high.watermark.checkpoint.interval.ms", "1000"}});
    cluster.start_all();
    create(cluster, {{1}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    ASSERT_EQ(produce(cluster, 1, 1), ErrorCode::None);
    cluster.advance(milliseconds(1000));
    EXPECT_EQ(file(cluster, 1, node::kReplicationOffsetCheckpoint), "0\n1\nt 0 1\n");
    cluster.kill(1);
    cluster.start(1);
    cluster.advance(seconds(1));
    EXPECT_EQ(file(cluster, 1, node::kReplicationOffsetCheckpoint), "0\n1\nt 0 1\n")
        << "not registered yet, so its partitions are not open: their high watermarks must be kept";
    const std::size_t before = cluster.facts<RoleTaken>(1).size();
    ASSERT_TRUE(cluster.run_until([&] { return cluster.facts<RoleTaken>(1).size() > before; }));
    EXPECT_EQ(cluster.facts<RoleTaken>(1)[before].high_watermark, 1);
}

TEST(Lifecycle, ACheckpointEventFollowsTheMoveItRecords) {
    Cluster cluster(1, {{"replica.high.watermark.checkpoint.interval.ms", "100"}});
    cluster.start_all();
    create(cluster, {{1}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    for (std::uint64_t value = 0; value < 20; ++value) {
        // Frozen past the checkpoint's time, it appends and writes the checkpoint in one and the same step.
        const ConnId client = cluster.connect(1);
        cluster.settle();
        cluster.freeze(1);
        cluster.send(client, wire::encode_request(produce_request("t", 0, -1, 5000, batch_of({value}, 0)),
                                                  kProduceVersion, 7, "test"));
        cluster.advance(milliseconds(150));
        cluster.thaw(1);
        ASSERT_TRUE(cluster.run_until([&] { return !cluster.received(client).empty(); }));
    }
    Offset high_watermark = 0;
    for (const node::Event& event : cluster.events(1)) {
        if (const auto* of_partition = std::get_if<node::PartitionEvent>(&event)) {
            if (const auto* moved = std::get_if<node::HighWatermarkMoved>(&of_partition->fact))
                high_watermark = moved->to;
        } else if (const auto* of_server = std::get_if<node::ServerEvent>(&event)) {
            const auto* written = std::get_if<node::CheckpointWritten>(of_server);
            if (written != nullptr) {
                ASSERT_EQ(written->high_watermark, high_watermark) << "told before the move that led to it";
            }
        }
    }
    EXPECT_EQ(high_watermark, 20);
}

TEST(Lifecycle, PartitionFilesAreKafkas) {
    Cluster cluster(1);
    cluster.start_all();
    create(cluster, {{1}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    const std::string text = file(cluster, 1, "t-0/partition.metadata");
    EXPECT_EQ(text.substr(0, 21), "version: 0\ntopic_id: ");
    EXPECT_EQ(text.size(), 21U + 22U) << "Kafka ends this file without a newline";
    EXPECT_EQ(file(cluster, 1, "t-0/leader-epoch-checkpoint"), "0\n1\n0 0\n");
    const std::string meta = file(cluster, 1, "meta.properties");
    EXPECT_NE(meta.find("version=1\n"), std::string::npos);
    EXPECT_NE(meta.find("cluster.id=Yag0zed1TaqtJD_IdOE8Ag\n"), std::string::npos);
    EXPECT_NE(meta.find("node.id=1\n"), std::string::npos);
    EXPECT_NE(meta.find("directory.id="), std::string::npos);
}

TEST(Lifecycle, TheDirectoryOfAnotherTopicIsNotTakenOver) {
    Cluster cluster(1);
    cluster.start_all();
    // While the broker runs: at a start it would be a deleted topic's, and go.
    ASSERT_TRUE(cluster.storage(1).replace_file(
        "t-0/partition.metadata", as_bytes_view("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAB8A\n"),
        node::Durability::Flushed));
    create(cluster, {{1}});
    EXPECT_EQ(produce(cluster, 1, 1), ErrorCode::KafkaStorageError);
    EXPECT_TRUE(cluster.logged(1, "ERROR t-0 goes offline: partition.metadata says topic id AAAAAAAAAAAAAAAAAAAB8A"));
}

class DataDirectory : public ::testing::Test {
protected:
    std::string open_with(const std::string& path, const std::string& content,
                          const std::string& removed_key = "") {
        Cluster names(1);
        std::string text = names.properties(1);
        if (!removed_key.empty()) text.insert(text.find(removed_key), "#");
        const auto properties = node::parse_properties(text, "server.properties");
        const auto config = node::parse_config(*properties);
        if (!config) return config.error().message;
        node::MemoryStorage storage;
        if (!path.empty()) {
            EXPECT_TRUE(storage.replace_file(path, as_bytes_view(content), node::Durability::Flushed));
        }
        const auto server = node::make_server(Instant{1}, 1, *config, storage, Rng(1));
        return server ? "" : server.error().message;
    }
    static constexpr const char* kMeta =
        "version=1\ncluster.id=Yag0zed1TaqtJD_IdOE8Ag\nnode.id=1\ndirectory.id=AAAAAAAAAAAAAAAAAAAB8A\n";
};

TEST_F(DataDirectory, ItsOwnIsAccepted) { EXPECT_EQ(open_with("meta.properties", kMeta), ""); }

TEST_F(DataDirectory, TheClusterIdMayComeFromItAlone) {
    EXPECT_EQ(open_with("meta.properties", kMeta, "highwater.cluster.id"), "");
    EXPECT_EQ(open_with("", "", "highwater.cluster.id"),
              "there is no meta.properties yet, so the key highwater.cluster.id is needed");
}

TEST_F(DataDirectory, AnothersIsRefused) {
    std::string text = kMeta;
    text.replace(text.find("node.id=1"), 9, "node.id=2");
    EXPECT_EQ(open_with("meta.properties", text),
              "meta.properties:3: node.id is 2, the configuration says 1");
    text = kMeta;
    text.replace(text.find("Yag0"), 4, "Zag0");
    EXPECT_EQ(open_with("meta.properties", text),
              "meta.properties:2: cluster.id is Zag0zed1TaqtJD_IdOE8Ag, the configuration says "
              "Yag0zed1TaqtJD_IdOE8Ag");
    text = kMeta;
    text.erase(text.find("directory.id"));
    EXPECT_EQ(open_with("meta.properties", text), "meta.properties: directory.id is missing");
}

TEST_F(DataDirectory, ABrokenCheckpointNamesItsLine) {
    const std::string message = open_with("replication-offset-checkpoint", "0\n1\nt 0 many\n");
    EXPECT_NE(message.find("replication-offset-checkpoint"), std::string::npos) << message;
}

// -- following
// --------------------------------------------------------------------------------------------------------

TEST(Following, ADeadLeaderIsLeftForItsSuccessor) {
    Cluster cluster(3);
    cluster.start_all();
    create(cluster, {{1, 2, 3}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    ASSERT_EQ(produce(cluster, 1, 1), ErrorCode::None);
    cluster.kill(1);
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 2); }));
    EXPECT_EQ(produce(cluster, 2, 2), ErrorCode::None);
    EXPECT_TRUE(cluster.requests_seen(2).contains("Fetch v17 by broker-3-fetcher-2"));
    cluster.start(1);
    ASSERT_TRUE(cluster.run_until([&] { return values(cluster, 1) == std::vector<std::uint64_t>{1, 2}; }));
}

TEST(Following, AFrozenLeaderIsLeftForItsSuccessor) {
    Cluster cluster(3);
    cluster.start_all();
    create(cluster, {{1, 2, 3}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    ASSERT_EQ(produce(cluster, 1, 1), ErrorCode::None);
    cluster.freeze(1);
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 2); }));
    EXPECT_EQ(produce(cluster, 2, 2), ErrorCode::None)
        << "the fetch that hangs at the frozen leader is in nobody's way";
    EXPECT_TRUE(cluster.logged(3, "fetch from broker 1: nothing here follows this broker any more"));
    cluster.advance(seconds(40));  // beyond that fetch's own timeout
    cluster.thaw(1);
    ASSERT_TRUE(cluster.run_until([&] { return values(cluster, 1) == std::vector<std::uint64_t>{1, 2}; }));
}

TEST(Following, APartitionThatBacksOffHoldsUpNoOther) {
    // t-1 cannot be followed for a while, because its leader's disk fails; t-0 goes on, and time passes
    // without spinning.
    Cluster cluster(2, {{"broker.session.timeout.ms", "600000"}});
    cluster.start_all();
    create(cluster, {{1, 2}, {1, 2}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    ASSERT_EQ(produce(cluster, 1, 1), ErrorCode::None);
    cluster.storage(1).fail_writes([](const std::string& path) -> std::optional<std::string> {
        if (path.starts_with("t-1/")) return "no space left on device";
        return std::nullopt;
    });
    const auto failed = cluster.ask<wire::ProduceResponse>(
        1, produce_request("t", 1, 1, 1000, batch_of({9}, 0)), kProduceVersion);
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->responses.at(0).partition_responses.at(0).error_code, ErrorCode::KafkaStorageError);
    for (std::uint64_t value = 2; value < 6; ++value) {
        EXPECT_EQ(produce(cluster, 1, value), ErrorCode::None);
        cluster.advance(milliseconds(700));
    }
}

TEST(Following, ALoneFollowerOfAFailedLeaderAsksAgainAtTheBackoffsPace) {
    // Between its questions this connection is idle, and nothing but the end of the backoff wakes it.
    Cluster cluster(2, {{"broker.session.timeout.ms", "600000"}, {"replica.fetch.backoff.ms", "1000"}});
    cluster.start_all();
    create(cluster, {{1, 2}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    ASSERT_EQ(produce(cluster, 1, 1), ErrorCode::None);
    cluster.storage(1).fail_writes([](const std::string& path) -> std::optional<std::string> {
        if (path.starts_with("t-0/")) return "no space left on device";
        return std::nullopt;
    });
    ASSERT_EQ(produce(cluster, 1, 2), ErrorCode::KafkaStorageError);
    cluster.advance(seconds(1));
    const std::size_t before = cluster.requests_from(1, "broker-2-fetcher-1");
    cluster.advance(seconds(10));
    EXPECT_EQ(cluster.requests_from(1, "broker-2-fetcher-1") - before, 10U);
}

TEST(Following, ABackedOffPartitionThatMovesToAnotherLeaderIsForgottenHere) {
    Cluster cluster(3, {{"replica.fetch.backoff.ms", "30000"}});
    cluster.start_all();
    create(cluster, {{1, 3}, {1, 2}});
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
    ASSERT_EQ(produce(cluster, 1, 1), ErrorCode::None);
    cluster.storage(1).fail_writes([](const std::string& path) -> std::optional<std::string> {
        if (path.starts_with("t-1/")) return "no space left on device";
        return std::nullopt;
    });
    ASSERT_TRUE(cluster.ask<wire::ProduceResponse>(1, produce_request("t", 1, 1, 1000, batch_of({9}, 0)),
                                                   kProduceVersion));
    cluster.advance(seconds(1));
    cluster.kill(1);
    ASSERT_TRUE(cluster.run_until([&] { return leads(cluster, 2, "t-1"); }));
    cluster.advance(seconds(60));
    const auto answer = cluster.ask<wire::ProduceResponse>(
        2, produce_request("t", 1, -1, 5000, batch_of({9}, 0)), kProduceVersion);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->responses.at(0).partition_responses.at(0).error_code, ErrorCode::None);
}

// -- determinism
// ------------------------------------------------------------------------------------------------------

TEST(Lifecycle, TheSameInputsGiveTheSameEvents) {
    const auto run = [] {
        Cluster cluster(3);
        cluster.start_all();
        create(cluster, {{1, 2, 3}, {2, 3, 1}});
        EXPECT_TRUE(cluster.run_until([&] { return leads(cluster, 1); }));
        for (std::uint64_t value = 0; value < 5; ++value) produce(cluster, 1, value);
        cluster.kill(1);
        cluster.advance(seconds(5));
        std::vector<std::string> all;
        for (BrokerId id : {1, 2, 3}) {
            for (const RoleTaken& role : cluster.facts<RoleTaken>(id)) {
                all.push_back(fmt::format("{} {} {} {}", id, role.leader, role.epoch, role.log_end_offset));
            }
            for (const node::HighWatermarkMoved& moved : cluster.facts<node::HighWatermarkMoved>(id)) {
                all.push_back(fmt::format("{} {}->{}", id, moved.from, moved.to));
            }
        }
        for (const BrokerRegistered& one : cluster.facts<BrokerRegistered>(kController))
            all.push_back(one.incarnation.to_string());
        return all;
    };
    const auto first = run();
    EXPECT_GT(first.size(), 10U);
    EXPECT_EQ(first, run());
}

}  // namespace
}  // namespace highwater::test
