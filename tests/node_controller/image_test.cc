// Records that contradict the image are refused by name and offset, and leave it as it was.
#include <gtest/gtest.h>

#include "node/controller/metadata_image.h"
#include "node/controller/topic_config.h"
#include "wire/record_batch.h"

namespace highwater::node {
namespace {

Uuid id(std::uint8_t number) {
    Uuid uuid;
    uuid.bytes[15] = number;
    return uuid;
}

wire::RegisterBrokerRecord registration(BrokerId broker, BrokerEpoch epoch) {
    wire::RegisterBrokerRecord record;
    record.broker_id = broker;
    record.broker_epoch = epoch;
    return record;
}

wire::TopicRecord topic(const std::string& name, const Uuid& topic_id) {
    wire::TopicRecord record;
    record.name = name;
    record.topic_id = topic_id;
    return record;
}

wire::PartitionRecord partition(std::vector<BrokerId> replicas, std::vector<BrokerId> isr, BrokerId leader) {
    wire::PartitionRecord record;
    record.topic_id = id(1);
    record.partition_id = 0;
    record.replicas = std::move(replicas);
    record.isr = std::move(isr);
    record.leader = leader;
    record.leader_epoch = 0;
    record.partition_epoch = 0;
    return record;
}

wire::PartitionChangeRecord change(std::int32_t index, std::optional<std::vector<BrokerId>> isr,
                                   BrokerId leader) {
    wire::PartitionChangeRecord record;
    record.topic_id = id(1);
    record.partition_id = index;
    record.isr = std::move(isr);
    record.leader = leader;
    return record;
}

wire::BrokerRegistrationChangeRecord registration_change(BrokerId broker, BrokerEpoch epoch,
                                                         std::int8_t fenced) {
    wire::BrokerRegistrationChangeRecord record;
    record.broker_id = broker;
    record.broker_epoch = epoch;
    record.fenced = fenced;
    return record;
}

class MetadataImageTest : public testing::Test {
protected:
    MetadataImageTest() {
        apply(registration(1, 0));
        apply(topic("t", id(1)));
        apply(partition({1, 2, 3}, {1, 2}, 1));
    }
    void apply(const wire::MetadataRecord& record) {
        const Status applied = image.apply(image.end_offset(), record);
        ASSERT_TRUE(applied.has_value()) << applied.error().message;
    }
    void expect_refused(const wire::MetadataRecord& record, const std::string& why) {
        const MetadataImage before = image;
        const Status applied = image.apply(image.end_offset(), record);
        ASSERT_FALSE(applied.has_value());
        EXPECT_EQ(applied.error().message, why);
        EXPECT_EQ(image, before);
    }
    MetadataImage image;
};

TEST_F(MetadataImageTest, PartitionChangesRaiseEpochs) {
    apply(change(0, std::vector<BrokerId>{1, 2, 3}, kNoLeaderChange));
    EXPECT_EQ(image.partition({"t", 0})->leader_epoch, 0);
    EXPECT_EQ(image.partition({"t", 0})->partition_epoch, 1);
    apply(change(0, std::nullopt, kNoBroker));
    apply(change(0, std::nullopt, kNoBroker));  // a leader field is a leader epoch, even if it says the same
    EXPECT_EQ(image.partition({"t", 0})->leader_epoch, 2);
    EXPECT_EQ(image.partition({"t", 0})->partition_epoch, 3);
    EXPECT_EQ(image.partition({"t", 0})->isr, (std::vector<BrokerId>{1, 2, 3}));
}

TEST_F(MetadataImageTest, FencingComesInTwoForms) {
    wire::UnfenceBrokerRecord unfence;
    unfence.id = 1;
    unfence.epoch = 0;
    apply(unfence);
    EXPECT_FALSE(image.broker(1)->fenced);
    wire::FenceBrokerRecord fence;
    fence.id = 1;
    fence.epoch = 0;
    apply(fence);
    EXPECT_TRUE(image.broker(1)->fenced);
    apply(registration_change(1, 0, -1));
    EXPECT_FALSE(image.broker(1)->fenced);
    wire::BrokerRegistrationChangeRecord leaving = registration_change(1, 0, 0);
    leaving.in_controlled_shutdown = 1;
    apply(leaving);
    EXPECT_FALSE(image.broker(1)->fenced);
    EXPECT_FALSE(image.broker(1)->active());
    apply(registration_change(1, 0, 1));
    EXPECT_TRUE(image.broker(1)->fenced);
    apply(registration(1, 7));
    EXPECT_FALSE(image.broker(1)->in_controlled_shutdown);
}

TEST_F(MetadataImageTest, RemovedTopicsAndBrokersAreGone) {
    wire::RemoveTopicRecord removal;
    removal.topic_id = id(1);
    apply(removal);
    EXPECT_EQ(image.topic("t"), nullptr);
    EXPECT_EQ(image.topic(id(1)), nullptr);
    expect_refused(
        change(0, std::nullopt, 1),
        "metadata offset 4: PartitionChangeRecord: there is no topic with id " + id(1).to_string());
    apply(topic("t", id(2)));
    wire::UnregisterBrokerRecord unregistration;
    unregistration.broker_id = 1;
    unregistration.broker_epoch = 0;
    apply(unregistration);
    EXPECT_EQ(image.broker(1), nullptr);
}

TEST_F(MetadataImageTest, ContradictionsAreRefused) {
    expect_refused(registration_change(2, 0, 1),
                   "metadata offset 3: BrokerRegistrationChangeRecord: broker 2 is not registered");
    expect_refused(registration_change(1, 5, 1),
                   "metadata offset 3: BrokerRegistrationChangeRecord: broker 1 has epoch 0, not 5");
    expect_refused(registration(1, -1),
                   "metadata offset 3: RegisterBrokerRecord: broker 1 would fall from epoch 0 to -1");
    expect_refused(topic("t", id(2)), "metadata offset 3: TopicRecord: topic t exists already");
    expect_refused(topic("u", id(1)),
                   "metadata offset 3: TopicRecord: topic id " + id(1).to_string() + " belongs to t");
    expect_refused(change(4, std::nullopt, 1),
                   "metadata offset 3: PartitionChangeRecord: there is no partition t-4");
    expect_refused(change(0, std::nullopt, 3),
                   "metadata offset 3: PartitionChangeRecord: t-0: leader 3 is not in the ISR [1, 2]");
    expect_refused(
        change(0, std::vector<BrokerId>{1, 4}, kNoLeaderChange),
        "metadata offset 3: PartitionChangeRecord: t-0: ISR member 4 is not one of the replicas [1, 2, 3]");
    expect_refused(wire::AbortTransactionRecord{},
                   "metadata offset 3: AbortTransactionRecord: records of an aborted metadata transaction "
                   "were applied already "
                   "and cannot be taken back");
    wire::ConfigRecord config;
    config.resource_type = 2;
    config.resource_name = "u";
    expect_refused(config, "metadata offset 3: ConfigRecord: there is no topic u");
    EXPECT_FALSE(image.apply(2, wire::NoOpRecord{}).has_value());
}

TEST_F(MetadataImageTest, RecordsWithoutMeaningForReplicationOnlyMoveTheEnd) {
    apply(wire::NoOpRecord{});
    apply(wire::BeginTransactionRecord{});
    apply(wire::FeatureLevelRecord{});
    apply(wire::EndTransactionRecord{});
    apply(wire::RegisterControllerRecord{});
    apply(wire::ClearElrRecord{});
    apply(wire::ProducerIdsRecord{});
    EXPECT_EQ(image.end_offset(), 10);
}

TEST_F(MetadataImageTest, ConfigsAreReadWithTheirDefaults) {
    EXPECT_EQ(min_insync_replicas(*image.topic("t"), 2), 2);
    EXPECT_TRUE(unclean_leader_election(*image.topic("t"), true));
    wire::ConfigRecord config;
    config.resource_type = 2;
    config.resource_name = "t";
    config.name = kMinInsyncReplicas;
    config.value = "3";
    apply(config);
    EXPECT_EQ(min_insync_replicas(*image.topic("t"), 2), 3);
    config.name = kUncleanLeaderElectionEnable;
    config.value = "False";
    apply(config);
    EXPECT_FALSE(unclean_leader_election(*image.topic("t"), true));
    config.value = std::nullopt;
    apply(config);
    EXPECT_TRUE(unclean_leader_election(*image.topic("t"), true));
    config.resource_type = 4;  // a broker's: not ours to keep
    config.resource_name = "";
    config.value = "true";
    apply(config);
    EXPECT_EQ(image.topic("t")->configs.size(), 1U);
}

TEST_F(MetadataImageTest, BatchesWithGarbageAreRefused) {
    wire::BatchSpec spec;
    spec.base_offset = 3;
    wire::Record record;
    record.value = Bytes{1, 2, 3};
    spec.records.push_back(record);
    Bytes batch = wire::encode_batch(spec);
    EXPECT_FALSE(image.apply_batches(batch).has_value());
    record.value = wire::encode_metadata_record(wire::NoOpRecord{}, 0);
    spec.records = {record};
    batch = wire::encode_batch(spec);
    batch.back() ^= 1U;
    EXPECT_FALSE(image.apply_batches(batch).has_value());
    EXPECT_EQ(image.end_offset(), 3);
}

}  // namespace
}  // namespace highwater::node
