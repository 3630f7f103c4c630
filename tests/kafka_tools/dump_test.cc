// Goal: Kafka's own tool reads what our log writes, segments, both indexes and producer snapshots, and has
// nothing to complain about; and it does complain when a file is damaged.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "node/log/file_storage.h"
#include "node/log/partition_log.h"
#include "tests/kafka_tools/dump_tool.h"
#include "tests/node_broker/cluster_fixture.h"
#include "wire/record_batch.h"

namespace highwater::test {
namespace {

/// `records` records of one idempotent producer.
Bytes idempotent(std::int16_t epoch, std::int32_t sequence, int records, std::int64_t timestamp) {
    wire::BatchSpec spec;
    spec.producer_id = 4711;
    spec.producer_epoch = epoch;
    spec.base_sequence = sequence;
    for (int i = 0; i < records; ++i) {
        wire::Record record;
        record.timestamp = timestamp + i;
        record.key = Bytes{'k'};
        record.value = Bytes(200, 'v');
        spec.records.push_back(std::move(record));
    }
    return wire::encode_batch(spec);
}

class OurLog : public testing::Test {
protected:
    static constexpr int kBatches = 300;
    static constexpr int kRecords = 3;

    void SetUp() override {
        const node::LogSettings settings{.segment_bytes = 60000, .index_interval_bytes = 2000};
        auto log = node::PartitionLog::open(storage, "t-0", settings);
        ASSERT_TRUE(log) << log.error().message;
        std::int32_t sequence = 0;
        for (int i = 0; i < kBatches; ++i) {
            if (i % 100 == 0) {
                ASSERT_TRUE((*log)->assign_epoch(i / 100 * 2, (*log)->log_end_offset()));
            }
            const auto appended = (*log)->append_as_leader(
                idempotent(0, sequence, kRecords, 1700000000000 + 10 * i - (i % 7 == 0 ? 500 : 0)),
                i / 100 * 2);
            ASSERT_TRUE(appended) << appended.error().message;
            ASSERT_EQ(appended->error, wire::ErrorCode::None) << appended->refusal;
            sequence += kRecords;
        }
        ASSERT_TRUE((*log)->close());
        ASSERT_GE((*log)->segment_count(), 3U);
    }

    TemporaryDirectory root;
    node::FileStorage storage{root.path()};
    const std::string directory = root.path() + "/t-0";
};

TEST_F(OurLog, EveryBatchIsWhatItWasAppendedAs) {
    const Dumped dumped = dump(files_with(directory, ".log"), "--deep-iteration");
    EXPECT_EQ(complaints(dumped), "");
    EXPECT_EQ(dumped.count("isvalid: true"), static_cast<std::size_t>(kBatches));
    EXPECT_EQ(dumped.count("| offset: "), static_cast<std::size_t>(kBatches * kRecords));
    const auto log = node::PartitionLog::open(storage, "t-0");
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_EQ(batches_in(dumped), batches_in(**log));
    ASSERT_EQ(batches_in(dumped).size(), static_cast<std::size_t>(kBatches));
    for (const int epoch : {0, 2, 4})
        EXPECT_EQ(dumped.count(fmt::format("partitionLeaderEpoch: {} ", epoch)), 100U) << epoch;
    EXPECT_EQ(batches_in(dumped).back(),
              "baseOffset: 897 lastOffset: 899 count: 3 baseSequence: 897 lastSequence: 899 producerId: 4711 "
              "producerEpoch: 0 partitionLeaderEpoch: 4");
}

TEST_F(OurLog, ItsIndexesAreSane) {
    for (const char* ending : {".index", ".timeindex"}) {
        const std::vector<std::string> files = files_with(directory, ending);
        ASSERT_GE(files.size(), 3U);
        const Dumped sane = dump(files, "--index-sanity-check");
        EXPECT_EQ(complaints(sane), "");
        EXPECT_EQ(sane.count(" passed sanity check."), files.size()) << sane.text;
        EXPECT_EQ(complaints(dump(files, "--verify-index-only")), "") << ending;
        const Dumped printed = dump(files);
        EXPECT_EQ(complaints(printed), "");
        EXPECT_GT(printed.count("offset: "), 20U);
    }
}

TEST_F(OurLog, WhatRecoveryWritesIsSaneToo) {
    for (const char* ending : {".index", ".timeindex"}) {
        for (const std::string& path : files_with(directory, ending)) std::filesystem::remove(path);
    }
    const node::LogSettings settings{.segment_bytes = 60000, .index_interval_bytes = 2000};
    const auto log = node::PartitionLog::open(storage, "t-0", settings);
    ASSERT_TRUE(log) << log.error().message;
    for (const char* ending : {".index", ".timeindex"}) {
        const std::vector<std::string> files = files_with(directory, ending);
        EXPECT_EQ(files.size(), (*log)->segment_count());
        EXPECT_EQ(complaints(dump(files, "--verify-index-only")), "") << ending;
    }
}

TEST_F(OurLog, ItsProducerSnapshotsCanBeRead) {
    const Dumped dumped = dump({directory + "/00000000000000000900.snapshot"});
    EXPECT_EQ(complaints(dumped), "");
    EXPECT_EQ(dumped.count("producerId: 4711 producerEpoch: 0"), 1U) << dumped.text;
    EXPECT_EQ(dumped.count("lastSequence: 899"), 1U) << dumped.text;
    EXPECT_EQ(dumped.count("lastOffset: 899"), 1U) << dumped.text;
}

/// Flips the lowest bit of the byte at `at`.
void flip(const std::string& path, std::streamoff at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const int byte = file.get();
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 1));
    ASSERT_TRUE(file.good()) << path;
}

// Without this, a tool that prints something else one day would look content.
TEST_F(OurLog, ADamagedFileIsFoundOut) {
    struct Damage {
        std::string ending;
        std::streamoff byte;
        std::string options;
        std::string complaint;
    };
    const std::vector<Damage> cases = {
        {".log", 500, "--deep-iteration", "isvalid: false"},
        {".log", 5, "--deep-iteration", " is followed by "},
        {".index", 3, "--verify-index-only", "Index offset: "},
        {".index", 7, "--verify-index-only", "Exception"},
        {".timeindex", 7, "--verify-index-only", "Index timestamp: "},
        {".timeindex", 11, "--verify-index-only", "Indexed offset: "},
        {".timeindex", 1, "--index-sanity-check", "Exception"},
        {".snapshot", 20, "", "Snapshot is corrupt"},
    };
    for (const Damage& damage : cases) {
        const std::string path =
            files_with(directory, damage.ending).at(damage.ending == ".snapshot" ? 0 : 1);
        SCOPED_TRACE(path + " " + std::to_string(damage.byte));
        flip(path, damage.byte);
        EXPECT_NE(complaints(dump({path}, damage.options)).find(damage.complaint), std::string::npos);
        flip(path, damage.byte);
    }
    const std::string torn = files_with(directory, ".log").front();
    std::filesystem::resize_file(torn, std::filesystem::file_size(torn) - 10);
    EXPECT_NE(complaints(dump({torn}, "--deep-iteration")).find(" invalid bytes at the end of "),
              std::string::npos);
}

// The only line that complaints() lets pass is one that Kafka's own files draw as well.
TEST(KafkasLog, ASegmentThatDoesNotStartAtZeroDrawsTheLineThatIsLetPass) {
    const std::string segment =
        HW_SOURCE_DIR "/tests/node_log/testdata/kafka-4.3.1/clean/t-0/00000000000000000016.log";
    const Dumped dumped = dump({segment}, "--deep-iteration");
    EXPECT_EQ(dumped.count("  -1 is followed by 16"), 1U) << dumped.text;
    EXPECT_EQ(complaints(dumped), "");
}

class ClusterDump : public ClusterTest {};

TEST_F(ClusterDump, AClustersMetadataLogAndItsReplicasCanBeRead) {
    cluster_.emplace("log.index.interval.bytes=100\nlog.segment.bytes=2000\n");
    start_with_topic({{1, 2, 3}});
    for (std::uint64_t value = 0; value < 60; ++value) produce(1, {value});
    for (const BrokerId id : {3, 2, 1, ProcessCluster::kController}) cluster().terminate(id);

    const std::string metadata =
        cluster().directory(ProcessCluster::kController) + "/data/__cluster_metadata-0";
    const Dumped log = dump(files_with(metadata, ".log"), "--cluster-metadata-decoder");
    EXPECT_EQ(complaints(log), "");
    EXPECT_EQ(log.count("\"type\":\"TOPIC_RECORD\""), 1U) << log.text;
    EXPECT_EQ(log.count("\"type\":\"PARTITION_RECORD\""), 1U);
    EXPECT_EQ(log.count("\"type\":\"REGISTER_BROKER_RECORD\""), 3U);
    node::FileStorage controller(cluster().directory(ProcessCluster::kController) + "/data");
    const auto ours = node::PartitionLog::open(controller, "__cluster_metadata-0");
    ASSERT_TRUE(ours) << ours.error().message;
    EXPECT_EQ(batches_in(log), batches_in(**ours));
    EXPECT_EQ(log.count("| offset: "), static_cast<std::size_t>((*ours)->log_end_offset()));

    for (const BrokerId id : {1, 2, 3}) {
        const std::string directory = cluster().directory(id) + "/data/" + kTopic + "-0";
        SCOPED_TRACE(directory);
        const Dumped replica = dump(files_with(directory, ".log"), "--deep-iteration");
        EXPECT_EQ(complaints(replica), "");
        EXPECT_EQ(replica.count("| offset: "), 60U);
        node::FileStorage broker(cluster().directory(id) + "/data");
        const auto held = node::PartitionLog::open(broker, kTopic + "-0");
        ASSERT_TRUE(held) << held.error().message;
        EXPECT_EQ(batches_in(replica), batches_in(**held));
        EXPECT_GT(files_with(directory, ".log").size(), 1U);
        EXPECT_EQ(complaints(dump(files_with(directory, ".index"), "--verify-index-only")), "");
        EXPECT_EQ(complaints(dump(files_with(directory, ".timeindex"), "--verify-index-only")), "");
    }
}

}  // namespace
}  // namespace highwater::test
