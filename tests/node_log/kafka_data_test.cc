// Goal: the directories of a real Kafka 4.4 cluster open as Kafka itself saw them: every batch and record of
// its dump tool, its epoch entries, its checkpoints; and opening them changes no byte.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "batches.h"
#include "node/log/checkpoint.h"
#include "node/log/file_storage.h"
#include "node/log/partition_log.h"
#include "node/log/partition_metadata.h"
#include "storages.h"
#include "temp_dir.h"
#include "wire/record_batch.h"

namespace highwater::test {
namespace {

struct Dump {
    /// "base-last epoch E at P size S" of each batch.
    std::vector<std::string> batches;
    /// "offset:payload" of each record, bars between batches.
    std::string records;
    Offset end = 0;
};

/// Lines of "name: value" pairs; the payload is the rest of a record's line.
Dump read_dump(const std::string& path) {
    std::ifstream in(path);
    Dump dump;
    for (std::string text; std::getline(in, text);) {
        if (!text.starts_with("baseOffset:") && !text.starts_with("| ")) continue;
        std::istringstream line(text.starts_with("| ") ? text.substr(2) : text);
        std::map<std::string, std::string> facts;
        std::string name;
        std::string value;
        while (line >> name && name != "payload:" && line >> value) facts[name] = value;
        if (text.starts_with("| ")) {
            std::getline(line >> std::ws, value);
            dump.records +=
                fmt::format("{}{}:{}", dump.records.empty() ? "" : " ", facts.at("offset:"), value);
            continue;
        }
        if (!dump.records.empty()) dump.records += " |";
        dump.batches.push_back(fmt::format("{}-{} epoch {} at {} size {}", facts.at("baseOffset:"),
                                           facts.at("lastOffset:"), facts.at("partitionLeaderEpoch:"),
                                           facts.at("position:"), facts.at("size:")));
        dump.end = std::stoll(facts.at("lastOffset:")) + 1;
    }
    return dump;
}

std::vector<std::string> batches_of(BytesView log) {
    std::vector<std::string> told;
    const auto views = wire::split_batches(log);
    EXPECT_TRUE(views) << views.error().message;
    std::size_t position = 0;
    for (const wire::BatchView& view : *views) {
        told.push_back(fmt::format("{}-{} epoch {} at {} size {}", view.header.base_offset,
                                   view.header.last_offset(), view.header.leader_epoch, position,
                                   view.bytes.size()));
        position += view.bytes.size();
    }
    return told;
}

class KafkaDirectory : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        std::filesystem::copy(source, copy.path(), std::filesystem::copy_options::recursive);
        dump = read_dump(source + "/t-0/dump.txt");
        ASSERT_EQ(dump.batches.size(), 8U);
    }
    /// The file as Kafka left it.
    [[nodiscard]] std::string original(const std::string& path) const {
        std::ifstream in(source + "/" + path, std::ios::binary);
        EXPECT_TRUE(in) << path;
        return {std::istreambuf_iterator<char>(in), {}};
    }

    const std::string source = fmt::format("{}/{}", HW_TEST_DATA, GetParam());
    TempDir copy;
    node::FileStorage storage{copy.path()};
    Dump dump;
};

TEST_P(KafkaDirectory, OpensAsDumped) {
    const auto log = open_log(storage);
    EXPECT_EQ(log->recovered_cut_bytes(), 0U);
    EXPECT_EQ(log->log_start_offset(), 0);
    EXPECT_EQ(log->log_end_offset(), dump.end);
    EXPECT_EQ(records_of(*log), dump.records);
    const auto bytes = log->read(0, dump.end, 1U << 20U);
    ASSERT_TRUE(bytes) << bytes.error().message;
    EXPECT_EQ(batches_of(*bytes), dump.batches);
    EXPECT_EQ(format_epoch_checkpoint(log->epochs()), original("t-0/leader-epoch-checkpoint"));
    for (const char* path : {kLogFile, kEpochFile}) EXPECT_EQ(text_of(storage, path), original(path)) << path;
}

TEST_P(KafkaDirectory, EpochsEndAsKafkaWouldAnswer) {
    const auto log = open_log(storage);
    using Answer = std::optional<OffsetAndEpoch>;
    EXPECT_EQ(log->epochs().end_offset_for(0, 8), (Answer{{1, 0}}));
    EXPECT_EQ(log->epochs().end_offset_for(2, 8), (Answer{{5, 2}}));
    EXPECT_EQ(log->epochs().end_offset_for(4, 8), (Answer{{8, 4}}));
    EXPECT_EQ(log->epochs().end_offset_for(5, 8), Answer{});
}

TEST_P(KafkaDirectory, RebuiltEpochsEqualKafkas) {
    ASSERT_TRUE(storage.remove_file(kEpochFile));
    static_cast<void>(open_log(storage));
    EXPECT_EQ(text_of(storage, kEpochFile), original("t-0/leader-epoch-checkpoint"));
}

TEST_P(KafkaDirectory, GoesOnAsOurs) {
    {
        const auto log = open_log(storage);
        ASSERT_TRUE(log->truncate_to(7));
        lead(*log, 9, {"ours"});
        ASSERT_TRUE(log->flush());
    }
    const auto log = open_log(storage);
    EXPECT_EQ(records_of(*log), dump.records.substr(0, dump.records.rfind(" | ")) + " | 7:ours");
    EXPECT_EQ(text_of(storage, kEpochFile), "0\n5\n0 0\n1 1\n2 3\n3 5\n9 7\n");
}

TEST_P(KafkaDirectory, CheckpointsReadAndWriteAsKafkas) {
    for (const char* name : {node::kReplicationOffsetCheckpoint, "recovery-point-offset-checkpoint",
                             "log-start-offset-checkpoint"}) {
        const std::string text = original(name);
        const auto offsets = node::parse_offset_checkpoint(text, name);
        ASSERT_TRUE(offsets) << offsets.error().message;
        // Kafka creates these files empty.
        if (text.empty()) continue;
        EXPECT_EQ(node::format_offset_checkpoint(*offsets), text) << name;
    }
    const auto high_watermarks =
        node::parse_offset_checkpoint(original(node::kReplicationOffsetCheckpoint), "high watermarks");
    ASSERT_TRUE(high_watermarks);
    ASSERT_EQ(high_watermarks->size(), 1U);
    EXPECT_EQ(high_watermarks->at({"t", 0}), std::string_view(GetParam()) == "n2" ? 7 : 6);
}

TEST_P(KafkaDirectory, PartitionMetadataReadsAndWritesAsKafkas) {
    const std::string text = original(std::string("t-0/") + node::kPartitionMetadataFile);
    const auto topic_id = node::parse_partition_metadata(text, node::kPartitionMetadataFile);
    ASSERT_TRUE(topic_id) << topic_id.error().message;
    EXPECT_EQ(topic_id->to_string(), "Yag0zed1TaqtJD_IdOE8Ag");
    EXPECT_EQ(node::format_partition_metadata(*topic_id), text);
}

INSTANTIATE_TEST_SUITE_P(Nodes, KafkaDirectory, testing::Values("n1", "n2", "n3"),
                         [](const auto& node) { return std::string(node.param); });

}  // namespace
}  // namespace highwater::test
