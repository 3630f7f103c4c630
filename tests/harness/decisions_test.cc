// A controller's metadata log, read from its members' files, and what it decided in the words of our trace.
#include "harness/kafka/decisions.h"

#include <nlohmann/json.hpp>

#include "log_files.h"

namespace highwater::harness {
namespace {

const Uuid kTopicId = *Uuid::parse("o04JLo0CTv-In1tUAPJqTg");

wire::TopicRecord topic() {
    wire::TopicRecord record;
    record.name = "t";
    record.topic_id = kTopicId;
    return record;
}

wire::PartitionRecord partition(std::vector<BrokerId> isr) {
    wire::PartitionRecord record;
    record.partition_id = 0;
    record.topic_id = kTopicId;
    record.replicas = isr;
    record.isr = std::move(isr);
    record.leader = 1;
    record.leader_epoch = 0;
    record.partition_epoch = 0;
    return record;
}

wire::PartitionChangeRecord change(std::optional<std::vector<BrokerId>> isr, BrokerId leader = -2) {
    wire::PartitionChangeRecord record;
    record.partition_id = 0;
    record.topic_id = kTopicId;
    record.isr = std::move(isr);
    record.leader = leader;
    return record;
}

wire::BrokerRegistrationChangeRecord fence(BrokerId id) {
    wire::BrokerRegistrationChangeRecord record;
    record.broker_id = id;
    record.broker_epoch = 11;
    record.fenced = 1;
    return record;
}

class DecisionsTest : public ::testing::Test {
protected:
    DecisionsTest() {
        for (const BrokerId id : {1, 2, 3}) {
            wire::RegisterBrokerRecord registration;
            registration.broker_id = id;
            registration.broker_epoch = 10 + id;
            wire::BrokerRegistrationChangeRecord unfenced;
            unfenced.broker_id = id;
            unfenced.broker_epoch = 10 + id;
            unfenced.fenced = -1;
            of({registration, unfenced});
        }
        of({topic(), partition({1, 2, 3})});
    }

    /// The decisions of one batch, as JSON objects.
    std::vector<nlohmann::json> of(std::vector<wire::MetadataRecord> records) {
        MetadataBatch batch;
        batch.timestamp_ms = ++now_;
        batch.records = std::move(records);
        std::vector<nlohmann::json> lines;
        for (const Decision& decision : decisions_.of(batch)) {
            EXPECT_EQ(decision.timestamp_ms, now_);
            lines.push_back(nlohmann::json::parse("{" + decision.members + "}"));
        }
        return lines;
    }

    Decisions decisions_{"t"};
    std::int64_t now_ = 0;
};

TEST_F(DecisionsTest, ALeadersShrinkIsAnAlterPartition) {
    const auto lines = of({change(std::vector<BrokerId>{1, 2})});
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0]["e"], "partition");
    EXPECT_EQ(lines[0]["p"], "t-0");
    EXPECT_EQ(lines[0]["isr"], (std::vector<int>{1, 2}));
    EXPECT_EQ(lines[0]["leader"], 1);
    EXPECT_EQ(lines[0]["epoch"], 0);
    EXPECT_EQ(lines[0]["partition_epoch"], 1);
    EXPECT_EQ(lines[0]["elected"], false);
    EXPECT_EQ(lines[0]["cause"], "alter-partition");
}

TEST_F(DecisionsTest, AFenceIsToldBehindTheChangeThatItCaused) {
    const auto lines = of({change(std::vector<BrokerId>{2, 3}, 2), fence(1)});
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0]["cause"], "fenced");
    EXPECT_EQ(lines[0]["leader"], 2);
    EXPECT_EQ(lines[0]["epoch"], 1);
    EXPECT_EQ(lines[0]["elected"], true);
    EXPECT_EQ(lines[0]["unclean"], false);
    EXPECT_EQ(lines[1]["e"], "fence");
    EXPECT_EQ(lines[1]["reason"], "session-timeout");
    EXPECT_TRUE(of({fence(1)}).empty()) << "it is fenced already";
}

TEST_F(DecisionsTest, WhoSaidThatItEndsIsNotSilent) {
    decisions_.shuts_down(3);
    const auto lines = of({change(std::vector<BrokerId>{1, 2}), fence(3)});
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0]["cause"], "shutdown");
    EXPECT_EQ(lines[1]["reason"], "controlled-shutdown");
}

TEST_F(DecisionsTest, ALeaderFromOutsideTheIsrIsUnclean) {
    of({change(std::vector<BrokerId>{1})});
    const auto lines = of({change(std::vector<BrokerId>{2}, 2), fence(1)});
    EXPECT_EQ(lines[0]["unclean"], true);
    EXPECT_EQ(lines[0]["last_known_leader"], false);
    EXPECT_EQ(lines[0]["cause"], "unclean");
}

TEST_F(DecisionsTest, AnEligibleReplicaIsElectedCleanly) {
    auto shrunk = change(std::vector<BrokerId>{1});
    shrunk.eligible_leader_replicas = std::vector<BrokerId>{2};
    of({shrunk});
    auto elected = change(std::vector<BrokerId>{2}, 2);
    elected.eligible_leader_replicas = std::vector<BrokerId>{1};
    const auto lines = of({elected, fence(1)});
    EXPECT_EQ(lines[0]["unclean"], false);
    EXPECT_EQ(lines[0]["elr"], (std::vector<int>{1}));
}

TEST_F(DecisionsTest, EligibleByAnotherMinIsrIsEligibleNoMore) {
    auto shrunk = change(std::vector<BrokerId>{1});
    shrunk.eligible_leader_replicas = std::vector<BrokerId>{2};
    of({shrunk});
    wire::ClearElrRecord other;
    other.topic_name = "another";
    EXPECT_TRUE(of({other}).empty());
    wire::ClearElrRecord clear;
    clear.topic_name = "t";
    const auto lines = of({clear});
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0]["elr"], std::vector<int>{});
    EXPECT_EQ(lines[0]["partition_epoch"], 2);
    EXPECT_EQ(lines[0]["cause"], "min-isr");
    EXPECT_TRUE(of({clear}).empty()) << "there is nothing to clear any more";
}

TEST_F(DecisionsTest, AReplicaOnAnotherDirectoryIsNoChangeOfTheIsr) {
    wire::PartitionChangeRecord moved = change(std::nullopt);
    moved.directories = std::vector<Uuid>{kTopicId, kTopicId, kTopicId};
    EXPECT_EQ(of({moved})[0]["cause"], "directories");
    const auto lines = of({moved, change(std::nullopt, kNoBroker)});
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[1]["leader"], kNoBroker);
    EXPECT_EQ(lines[1]["cause"], "directories");
    EXPECT_EQ(of({moved, change(std::vector<BrokerId>{1, 2}, 1)})[1]["cause"], "alter-partition")
        << "another decision in the same batch";
}

TEST_F(DecisionsTest, AFenceOfABrokerThatNobodyKnowsIsToldToo) {
    const auto lines = of({change(std::vector<BrokerId>{1, 2}), fence(9)});
    EXPECT_EQ(lines[0]["cause"], "alter-partition");
}

TEST_F(DecisionsTest, WhoLedLastIsElectedFromNothing) {
    of({change(std::vector<BrokerId>{}, kNoBroker), fence(1)});
    const auto lines = of({change(std::vector<BrokerId>{1}, 1)});
    EXPECT_EQ(lines[0]["last_known_leader"], true);
    EXPECT_EQ(lines[0]["cause"], "last-known-leader");
}

TEST_F(DecisionsTest, WhoLedLastIsElectedWhenTheLastEligibleOneComesBackUncleanly) {
    wire::PartitionChangeRecord empty = change(std::vector<BrokerId>{}, kNoBroker);
    empty.eligible_leader_replicas = std::vector<BrokerId>{2};
    empty.last_known_elr = std::vector<BrokerId>{1};
    of({empty, fence(1)});
    wire::PartitionChangeRecord elected = change(std::vector<BrokerId>{1}, 1);
    elected.eligible_leader_replicas = std::vector<BrokerId>{};
    elected.last_known_elr = std::vector<BrokerId>{};
    wire::RegisterBrokerRecord registration;
    registration.broker_id = 2;
    registration.broker_epoch = 20;
    EXPECT_EQ(of({elected, registration})[0]["cause"], "last-known-leader");
}

TEST_F(DecisionsTest, WhoIsElectedBesideAnEligibleOneIsUnclean) {
    wire::PartitionChangeRecord empty = change(std::vector<BrokerId>{}, kNoBroker);
    empty.eligible_leader_replicas = std::vector<BrokerId>{2};
    of({empty, fence(1)});
    wire::PartitionChangeRecord elected = change(std::vector<BrokerId>{3}, 3);
    elected.eligible_leader_replicas = std::vector<BrokerId>{};
    EXPECT_EQ(of({elected})[0]["cause"], "unclean");
}

TEST_F(DecisionsTest, OtherTopicsAreNotTold) {
    auto other = change(std::vector<BrokerId>{1});
    other.topic_id = Uuid{};
    EXPECT_TRUE(of({other}).empty());
}

// -- the quorum's files

wire::MetadataRecord no_op() { return wire::NoOpRecord{}; }

Bytes metadata_batch(Offset base, LeaderEpoch epoch) {
    wire::BatchSpec spec;
    spec.base_offset = base;
    spec.leader_epoch = epoch;
    wire::Record record;
    record.timestamp = 1'000 + base;
    record.value = wire::encode_metadata_record(no_op(), 0);
    spec.records.push_back(std::move(record));
    return wire::encode_batch(spec);
}

TEST(MetadataLogTest, OneControllerDecidesAlone) {
    const LogDirectory only;
    MetadataLog log({only.path()});
    EXPECT_TRUE(log.poll().empty());
    only.write(0, metadata_batch(0, 1));
    only.write(0, metadata_batch(1, 1));
    const auto batches = log.poll();
    ASSERT_EQ(batches.size(), 2U);
    EXPECT_EQ(batches[1].timestamp_ms, 1'001);
    EXPECT_EQ(batches[1].records.size(), 1U);
    EXPECT_TRUE(log.poll().empty());
}

TEST(MetadataLogTest, AQuorumDecidesByMajority) {
    const LogDirectory a;
    const LogDirectory b;
    const LogDirectory c;
    MetadataLog log({a.path(), b.path(), c.path()});
    a.write(0, metadata_batch(0, 1));
    a.write(0, metadata_batch(1, 1));
    EXPECT_TRUE(log.poll().empty()) << "one of three has them";
    b.write(0, metadata_batch(0, 1));
    EXPECT_EQ(log.poll().size(), 1U);
    // The first leader is gone with what nobody else had; its successor writes in its own epoch.
    b.write(0, metadata_batch(1, 2));
    c.write(0, metadata_batch(0, 1));
    c.write(0, metadata_batch(1, 2));
    const auto batches = log.poll();
    ASSERT_EQ(batches.size(), 1U);
    EXPECT_EQ(batches[0].epoch, 2);
}

}  // namespace
}  // namespace highwater::harness
