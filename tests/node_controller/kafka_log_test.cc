// Goal: a metadata log written by Kafka 4.4 replays to the state that its own dump tool implies.
// Method: testdata/kafka/metadata.log is that log (one topic, three brokers, four elections); metadata.txt is
// the output of kafka-dump-log --cluster-metadata-decoder for it.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "node/controller/controller.h"
#include "node/log/memory_storage.h"
#include "wire/record_batch.h"

namespace highwater::node {
namespace {

std::string read_testdata(const std::string& name) {
    std::ifstream in(std::string(HW_TEST_DATA) + "/kafka/" + name, std::ios::binary);
    EXPECT_TRUE(in.good()) << name;
    std::stringstream content;
    content << in.rdbuf();
    return content.str();
}

std::vector<std::string> dumped(const std::string& record_type) {
    std::vector<std::string> lines;
    std::istringstream dump(read_testdata("metadata.txt"));
    for (std::string line; std::getline(dump, line);) {
        if (line.find("\"type\":\"" + record_type + "\"") != std::string::npos) lines.push_back(line);
    }
    return lines;
}

std::int64_t number_after(const std::string& text, const std::string& key) {
    const std::size_t at = text.find(key);
    EXPECT_NE(at, std::string::npos) << key << " in " << text;
    return std::stoll(text.substr(at + key.size()));
}

void expect_final_state(const MetadataImage& image) {
    ASSERT_EQ(image.topics().size(), 1U);
    const TopicImage* topic = image.topic("t");
    ASSERT_NE(topic, nullptr);
    EXPECT_EQ(topic->id.to_string(), "Yag0zed1TaqtJD_IdOE8Ag");
    EXPECT_EQ(topic->configs, (std::map<std::string, std::string>{{"min.insync.replicas", "1"}}));
    ASSERT_EQ(topic->partitions.size(), 1U);

    // Every PARTITION_CHANGE_RECORD is a partition epoch, every one with a leader a leader epoch; the last
    // ones count.
    const std::vector<std::string> changes = dumped("PARTITION_CHANGE_RECORD");
    std::vector<std::string> elections;
    for (const std::string& line : changes) {
        if (line.find("\"leader\":") != std::string::npos) elections.push_back(line);
    }
    ASSERT_EQ(elections.size(), 4U);
    const PartitionImage& partition = topic->partitions.at(0);
    EXPECT_EQ(partition.partition_epoch, static_cast<PartitionEpoch>(changes.size()));
    EXPECT_EQ(partition.leader_epoch, static_cast<LeaderEpoch>(elections.size()));
    EXPECT_EQ(partition.leader, number_after(elections.back(), "\"leader\":"));
    EXPECT_NE(changes.back().find("\"isr\":[1,2,3]"), std::string::npos);
    EXPECT_EQ(partition.isr, (std::vector<BrokerId>{1, 2, 3}));
    EXPECT_EQ(partition.replicas, (std::vector<BrokerId>{1, 2, 3}));
    EXPECT_EQ(partition.leader_recovery_state, kRecovered);

    const std::vector<std::string> registrations = dumped("REGISTER_BROKER_RECORD");
    ASSERT_EQ(image.brokers().size(), registrations.size());
    for (const std::string& line : registrations) {
        const BrokerImage* broker = image.broker(static_cast<BrokerId>(number_after(line, "\"brokerId\":")));
        ASSERT_NE(broker, nullptr) << line;
        EXPECT_EQ(broker->epoch, number_after(line, "\"brokerEpoch\":"));
        EXPECT_EQ(broker->registration_offset, number_after(line, "offset: "));
        EXPECT_NE(line.find(broker->incarnation.to_string()), std::string::npos);
        EXPECT_FALSE(broker->fenced);
        EXPECT_FALSE(broker->in_controlled_shutdown);
        ASSERT_EQ(broker->endpoints.size(), 2U);
        EXPECT_EQ(broker->endpoints[0].listener, "INTERNAL");
        EXPECT_EQ(broker->endpoints[0].port, number_after(line, "\"port\":"));
        ASSERT_EQ(broker->log_dirs.size(), 1U);
        EXPECT_NE(line.find(broker->log_dirs[0].to_string()), std::string::npos);
    }
}

TEST(KafkaMetadataLog, ReplaysToWhatItsDumpImplies) {
    const std::string log = read_testdata("metadata.log");
    MetadataImage image;
    const Status applied = image.apply_batches(as_bytes_view(log));
    ASSERT_TRUE(applied.has_value()) << applied.error().message;
    EXPECT_EQ(image.end_offset(), 83);
    expect_final_state(image);

    // The same bytes again, as a fetch may answer them: known already.
    ASSERT_TRUE(image.apply_batches(as_bytes_view(log)).has_value());
    expect_final_state(image);
}

TEST(KafkaMetadataLog, ReplaysBatchByBatch) {
    const std::string log = read_testdata("metadata.log");
    const auto batches = wire::split_batches(as_bytes_view(log));
    ASSERT_TRUE(batches.has_value());
    MetadataImage image;
    for (const wire::BatchView& batch : *batches) {
        ASSERT_TRUE(image.apply_batches(batch.bytes).has_value());
        EXPECT_EQ(image.end_offset(), batch.header.next_offset());
    }
    expect_final_state(image);
}

TEST(KafkaMetadataLog, OurControllerTakesItOver) {
    MemoryStorage storage;
    auto file = storage.open("__cluster_metadata-0/00000000000000000000.log");
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE((*file)->append(as_bytes_view(read_testdata("metadata.log"))).has_value());
    const std::string epochs = "0\n1\n1 0\n";
    ASSERT_TRUE(storage
                    .replace_file("__cluster_metadata-0/leader-epoch-checkpoint", as_bytes_view(epochs),
                                  Durability::Flushed)
                    .has_value());
    ControllerSettings settings;
    settings.self = 11;
    const Instant now{0};
    auto controller = Controller::open(now, 1, settings, storage, Rng(1));
    ASSERT_TRUE(controller.has_value()) << controller.error().message;
    expect_final_state((*controller)->image());
    EXPECT_EQ((*controller)->controller_epoch(), 2);
    EXPECT_EQ((*controller)->metadata_log().log_end_offset(), 84);  // + LeaderChange

    // It decides on: nobody speaks, everybody is fenced, the last ones stay eligible.
    (*controller)->tick(now + seconds(20), 2);
    const PartitionImage partition = *(*controller)->image().partition({"t", 0});
    EXPECT_EQ(partition.leader, kNoBroker);
    EXPECT_TRUE(partition.isr.empty());
    EXPECT_EQ(partition.elr, (std::vector<BrokerId>{3}));
    EXPECT_EQ(partition.last_known_elr, (std::vector<BrokerId>{3}));
    EXPECT_TRUE((*controller)->image().broker(3)->fenced);
}

}  // namespace
}  // namespace highwater::node
