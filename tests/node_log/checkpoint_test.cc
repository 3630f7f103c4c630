// Goal: the small text files are Kafka's, and a damaged one is refused with its line, never half read.
#include "node/log/checkpoint.h"

#include <gtest/gtest.h>

#include "batches.h"
#include "node/log/bugs.h"
#include "node/log/leader_epoch_cache.h"
#include "node/log/partition_metadata.h"
#include "storages.h"

namespace highwater::test {
namespace {

using namespace node;

TEST(OffsetCheckpoint, TextAndBack) {
    const OffsetCheckpoint offsets{
        {{"orders", 10}, 7}, {{"orders", 2}, 9223372036854775807}, {{"a.b_c-d", 0}, 0}};
    const std::string text = "0\n3\na.b_c-d 0 0\norders 2 9223372036854775807\norders 10 7\n";
    EXPECT_EQ(format_offset_checkpoint(offsets), text);
    EXPECT_EQ(parse_offset_checkpoint(text, "f"), offsets);
    EXPECT_EQ(format_offset_checkpoint({}), "0\n0\n");
    EXPECT_EQ(parse_offset_checkpoint("0\n0\n", "f"), OffsetCheckpoint{});
}

TEST(OffsetCheckpoint, KafkaCreatesItEmpty) {
    EXPECT_EQ(parse_offset_checkpoint("", "f"), OffsetCheckpoint{});
}

TEST(OffsetCheckpoint, BadLinesAreNamed) {
    struct Row {
        const char* text;
        const char* error;
    };
    const std::vector<Row> rows{
        {"1\n0\n", "f:1: version '1', expected 0"},
        {"\n", "f:1: version '', expected 0"},
        {"0", "f:2: '' entries announced, 0 lines follow"},
        {"0\n2\nt 0 5\n", "f:2: '2' entries announced, 1 lines follow"},
        {"0\n0\nt 0 5\n", "f:2: '0' entries announced, 1 lines follow"},
        {"0\nx\nt 0 5\n", "f:2: 'x' entries announced, 1 lines follow"},
        {"0\n2\nt 0 5\nt 1\n", "f:4: 't 1' has 2 fields, expected 3"},
        {"0\n2\nt 0 5\nt 1 5 6\n", "f:4: 't 1 5 6' has 4 fields, expected 3"},
        {"0\n2\nt 0 5\n\n", "f:4: '' has 0 fields, expected 3"},
        {"0\n1\n 0 5\n", "f:3: ' 0 5' has an empty field"},
        {"0\n2\nt 0 5\nt 1 5x\n", "f:4: '5x' is no whole number from 0 to 9223372036854775807"},
        {"0\n1\nt 0 -1\n", "f:3: '-1' is no whole number from 0 to 9223372036854775807"},
        {"0\n1\nt 0 9223372036854775808\n",
         "f:3: '9223372036854775808' is no whole number from 0 to 9223372036854775807"},
        {"0\n1\nt 2147483648 5\n", "f:3: '2147483648' is no whole number from 0 to 2147483647"},
    };
    for (const Row& row : rows)
        EXPECT_EQ(error_of(parse_offset_checkpoint(row.text, "f")), row.error) << row.text;
}

TEST(OffsetCheckpoint, EveryCutOfAFileButItsLastCharactersIsRefused) {
    // Each line is complete only with its newline, but Kafka reads a last line without one: so cuts within
    // the last number cannot be told, which is why the file is renamed into place.
    const std::string text = "0\n2\nt 0 51\nt 1 62\n";
    for (std::size_t size = 1; size < text.size() - 2; ++size) {
        EXPECT_FALSE(parse_offset_checkpoint(text.substr(0, size), "f")) << size;
    }
}

TEST(EpochCheckpoint, TextAndBack) {
    const LeaderEpochCache cache({{0, 0}, {3, 8}});
    EXPECT_EQ(format_epoch_checkpoint(cache), "0\n2\n0 0\n3 8\n");
    const auto back = parse_epoch_checkpoint("0\n2\n0 0\n3 8\n", "f");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->entries(), cache.entries());
    EXPECT_EQ(format_epoch_checkpoint({}), "0\n0\n");
    const auto empty = parse_epoch_checkpoint("", "f");
    ASSERT_TRUE(empty) << empty.error().message;
    EXPECT_TRUE(empty->entries().empty());
}

TEST(EpochCheckpoint, BadLinesAreNamed) {
    struct Row {
        const char* text;
        const char* error;
    };
    const std::vector<Row> rows{
        {"2\n0\n", "f:1: version '2', expected 0"},
        {"0\n1\n", "f:2: '1' entries announced, 0 lines follow"},
        {"0\n1\n0 0 0\n", "f:3: '0 0 0' has 3 fields, expected 2"},
        {"0\n1\ne 0\n", "f:3: 'e' is no whole number from 0 to 2147483647"},
        {"0\n1\n2147483648 0\n", "f:3: '2147483648' is no whole number from 0 to 2147483647"},
        {"0\n2\n0 0\n1 -3\n", "f:4: '-3' is no whole number from 0 to 9223372036854775807"},
        {"0\n2\n1 0\n1 5\n", "f:4: epoch 1 start 5 does not rise"},
        {"0\n2\n1 5\n2 5\n", "f:4: epoch 2 start 5 does not rise"},
        {"0\n3\n1 5\n3 7\n2 9\n", "f:5: epoch 2 start 9 does not rise"},
    };
    for (const Row& row : rows)
        EXPECT_EQ(error_of(parse_epoch_checkpoint(row.text, "f")), row.error) << row.text;
}

TEST(PartitionMetadata, TextAndBack) {
    const auto id = Uuid::parse("Yag0zed1TaqtJD_IdOE8Ag");
    ASSERT_TRUE(id);
    EXPECT_EQ(format_partition_metadata(*id), "version: 0\ntopic_id: Yag0zed1TaqtJD_IdOE8Ag");
    EXPECT_EQ(parse_partition_metadata("version: 0\ntopic_id: Yag0zed1TaqtJD_IdOE8Ag", "f"), *id);
    EXPECT_EQ(parse_partition_metadata("version: 0\ntopic_id: Yag0zed1TaqtJD_IdOE8Ag\n", "f"), *id);
}

TEST(PartitionMetadata, BadLinesAreNamed) {
    EXPECT_EQ(error_of(parse_partition_metadata("", "f")), "f:1: '', expected 'version: 0'");
    EXPECT_EQ(error_of(parse_partition_metadata("version: 1\ntopic_id: x", "f")),
              "f:1: 'version: 1', expected 'version: 0'");
    EXPECT_EQ(error_of(parse_partition_metadata("version: 0\n", "f")),
              "f:2: '', expected 'topic_id: ' and an id");
    EXPECT_EQ(error_of(parse_partition_metadata("version: 0", "f")),
              "f:2: '', expected 'topic_id: ' and an id");
    EXPECT_EQ(error_of(parse_partition_metadata("version: 0\nid: x", "f")),
              "f:2: 'id: x', expected 'topic_id: ' and an id");
    EXPECT_TRUE(error_of(parse_partition_metadata("version: 0\ntopic_id: x", "f")).starts_with("f:2: "));
}

TEST(Bugs, ByNameAndById) {
    const auto none = Bugs::parse("");
    ASSERT_TRUE(none);
    EXPECT_TRUE(none->empty());
    for (const BugInfo& info : kBugs) {
        for (const std::string_view spelling : {info.name, info.id}) {
            const auto one = Bugs::parse(spelling);
            ASSERT_TRUE(one) << one.error().message;
            ASSERT_EQ(one->list().size(), 1U);
            EXPECT_EQ(one->list()[0].name, info.name);
            EXPECT_TRUE(one->has(info.bug));
        }
    }
    const auto two = Bugs::parse("Z06,ack_on_append");
    ASSERT_TRUE(two) << two.error().message;
    EXPECT_TRUE(two->has(Bug::ServeAboveHw) && two->has(Bug::AckOnAppend));
}

TEST(Bugs, AnUnknownOneIsRefusedWithThoseThatExist) {
    const std::string error = error_of(Bugs::parse("ack_on_append,ack_never"));
    EXPECT_TRUE(error.starts_with("unknown bug 'ack_never' (known: ")) << error;
    EXPECT_NE(error.find("serve_above_hw (Z06)"), std::string::npos) << error;
    EXPECT_TRUE(error_of(Bugs::parse(",Z06")).starts_with("unknown bug ''"));
}

}  // namespace
}  // namespace highwater::test
