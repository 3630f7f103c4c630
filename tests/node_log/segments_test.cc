// Goal: a log of many segments is one log: it rolls where Kafka's does, reads and truncates across segments,
// finds every offset by its sparse indexes, opens without reading after a clean stop and is read again, from
// the recovery point on, after any other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "batches.h"
#include "node/log/faulty_storage.h"
#include "node/log/log_segments.h"
#include "node/log/partition_log.h"
#include "storages.h"

namespace highwater::test {
namespace {

constexpr std::size_t kPlenty = 1U << 24U;

/// A batch of one record of 100 bytes, stamped.
Bytes stamped(std::int64_t timestamp, std::size_t size = 100) {
    wire::BatchSpec spec;
    wire::Record record;
    record.timestamp = timestamp;
    record.value = Bytes(size, 'x');
    spec.records = {record};
    return wire::encode_batch(spec);
}

template <class Kind>
class SegmentsTest : public testing::Test {
protected:
    SegmentsTest() {
        const auto size = static_cast<std::int32_t>(stamped(0).size());
        settings.segment_bytes = 3 * size;
        settings.index_interval_bytes = 1;
    }
    void open(const node::LogStart& start = {}) {
        log.reset();
        log = open_log(faulty, settings, start);
    }
    void append(int count) {
        for (int i = 0; i < count; ++i) {
            const auto appended = log->append_as_leader(stamped(1000 + log->log_end_offset()), 0);
            ASSERT_TRUE(appended) << appended.error().message;
        }
    }
    std::string files() {
        std::string text;
        const auto names = kind.storage.list("t-0");
        for (const std::string& name : *names) {
            if (name.size() < 20 || name[0] != '0') continue;
            text += fmt::format("{}{}", text.empty() ? "" : " ", name.substr(17));
        }
        return text;
    }
    /// Offsets that a read from each offset begins with.
    void expect_all_found() {
        for (Offset from = log->log_start_offset(); from < log->log_end_offset(); ++from) {
            const auto bytes = log->read(from, log->log_end_offset(), 1);
            ASSERT_TRUE(bytes) << bytes.error().message;
            const auto header = wire::read_batch_header(*bytes);
            ASSERT_TRUE(header) << from;
            EXPECT_EQ(header->base_offset, from);
            EXPECT_EQ(header->size(), bytes->size());
        }
    }
    std::vector<std::pair<std::int32_t, std::int32_t>> index(const std::string& path, bool time) {
        std::vector<std::pair<std::int32_t, std::int32_t>> entries;
        const auto bytes = kind.storage.read_file(path);
        if (!bytes || !bytes->has_value()) return entries;
        ByteReader in(**bytes);
        while (!in.at_end()) {
            const std::int32_t first = time ? static_cast<std::int32_t>(in.i64()) : in.i32();
            entries.emplace_back(first, in.i32());
        }
        return entries;
    }

    Kind kind;
    node::FaultyStorage faulty{kind.storage};
    node::LogSettings settings;
    std::unique_ptr<node::PartitionLog> log;
};
TYPED_TEST_SUITE(SegmentsTest, BothStorages, StorageNames);

TYPED_TEST(SegmentsTest, RollsBeforeASegmentWouldGrowTooLong) {
    this->open();
    this->append(7);
    EXPECT_EQ(this->log->segment_count(), 3U);
    EXPECT_EQ(this->log->recovery_point(), 6) << "what was rolled away is flushed";
    ASSERT_TRUE(this->log->close());
    EXPECT_EQ(
        this->files(),
        "000.index 000.log 000.timeindex 003.index 003.log 003.snapshot 003.timeindex 006.index 006.log "
        "006.snapshot 006.timeindex 007.snapshot");
    this->expect_all_found();
    const auto whole = this->log->read(0, 7, kPlenty);
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ(whole->size(), 7 * stamped(0).size()) << "one read passes from segment to segment";
    const auto part = this->log->read(1, 5, 3 * stamped(0).size());
    EXPECT_EQ(wire::split_batches(*part)->size(), 3U);
    EXPECT_EQ(this->log->read(2, 5, kPlenty)->size(), 3 * stamped(0).size());
}

TYPED_TEST(SegmentsTest, OneAppendIsNeverSplit) {
    this->open();
    this->append(2);
    ASSERT_TRUE(this->log->append_as_leader(joined({stamped(1), stamped(1)}), 0));
    EXPECT_EQ(this->log->segment_count(), 2U);
    EXPECT_EQ(this->log->recovery_point(), 2);
    ASSERT_TRUE(
        this->log->append_as_leader(joined({stamped(1), stamped(1), stamped(1), stamped(1), stamped(1)}), 0));
    EXPECT_EQ(this->log->segment_count(), 3U);
    this->open();
    EXPECT_EQ(this->log->log_end_offset(), 9);
    this->expect_all_found();
}

TYPED_TEST(SegmentsTest, RollsByTheRecordsTime) {
    this->settings.segment_bytes = 1 << 20;
    this->settings.roll = milliseconds(500);
    this->open();
    for (const std::int64_t timestamp : {1000, 1500, 1501, 900, 2002})
        ASSERT_TRUE(this->log->append_as_leader(stamped(timestamp), 0));
    ASSERT_TRUE(this->log->close());
    EXPECT_EQ(this->log->segment_count(), 3U) << "1501 is 501 after 1000, 2002 is 501 after 1501";
    this->open({.clean = true, .recovery_point = 5});
    ASSERT_TRUE(this->log->append_as_leader(stamped(2502), 0));
    EXPECT_EQ(this->log->segment_count(), 3U);
    ASSERT_TRUE(this->log->append_as_leader(stamped(2503), 0));
    EXPECT_EQ(this->log->segment_count(), 4U) << "the first timestamp is known after a restart";
}

TYPED_TEST(SegmentsTest, AFullIndexEndsItsSegment) {
    this->settings.segment_bytes = 1 << 20;
    this->settings.index_size_max_bytes = 24;
    this->open();
    this->append(9);
    // Entries for the second, third, … batch: two time entries of 12 bytes fill an index.
    EXPECT_EQ(this->log->segment_count(), 3U);
    this->expect_all_found();
}

TYPED_TEST(SegmentsTest, IndexEntriesAreKafkas) {
    const auto size = static_cast<std::int32_t>(stamped(0).size());
    this->settings.segment_bytes = 100 * size;
    this->settings.index_interval_bytes = 2 * size;
    this->open();
    // Larger by one byte than two batches: an entry each third batch, not for the first.
    for (int i = 0; i < 9; ++i) ASSERT_TRUE(this->log->append_as_leader(stamped(i == 7 ? 900 : 1000 + i), 0));
    ASSERT_TRUE(this->log->close());
    using Entries = std::vector<std::pair<std::int32_t, std::int32_t>>;
    EXPECT_EQ(this->index("t-0/00000000000000000000.index", false), (Entries{{3, 3 * size}, {6, 6 * size}}));
    EXPECT_EQ(this->index("t-0/00000000000000000000.timeindex", true),
              (Entries{{1003, 3}, {1006, 6}, {1008, 8}}));
}

TYPED_TEST(SegmentsTest, ACleanStopSparesTheNextStartTheReading) {
    this->settings.segment_bytes = 1 << 20;
    this->settings.index_interval_bytes = 4096;
    this->open();
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(this->log->append_as_leader(stamped(1000 + i, 10000), 0));
    ASSERT_TRUE(this->log->close());
    const std::uint64_t whole = this->log->size_bytes();
    const auto read_by = [&](const node::LogStart& start) {
        const std::uint64_t before = this->faulty.bytes_read();
        this->open(start);
        EXPECT_EQ(this->log->log_end_offset(), 100);
        return this->faulty.bytes_read() - before;
    };
    EXPECT_LT(read_by({.clean = true, .recovery_point = 100}), whole / 10);
    EXPECT_GE(read_by({.clean = false, .recovery_point = 100}), whole)
        << "the last segment is always doubted";
    this->expect_all_found();
}

TYPED_TEST(SegmentsTest, OnlyWhatTheRecoveryPointDoesNotCoverIsReadAgain) {
    this->open();
    this->append(12);
    const auto damage = [&](Offset base) {
        const std::string path = fmt::format("t-0/{:020}.log", base);
        Bytes bytes = *this->kind.storage.read_file(path).value();
        bytes[bytes.size() - 1] ^= 1U;
        ASSERT_TRUE(this->kind.storage.replace_file(path, bytes, node::Durability::Flushed));
    };
    damage(3);
    this->open({.recovery_point = 7});
    EXPECT_EQ(this->log->log_end_offset(), 12) << "behind the recovery point nobody looks";
    this->open({.recovery_point = 5});
    EXPECT_EQ(this->log->log_end_offset(), 5) << "the segment of the recovery point is read from its start";
    EXPECT_EQ(this->log->recovered_cut_bytes(), 7 * stamped(0).size());
    EXPECT_EQ(this->log->segment_count(), 2U) << "and what came after the bad byte is gone";
    EXPECT_EQ(this->files().find("006"), std::string::npos) << this->files();
    EXPECT_EQ(this->files().find("009"), std::string::npos) << this->files();
    this->append(3);
    this->expect_all_found();
}

TYPED_TEST(SegmentsTest, ASegmentThatDoesNotFollowIsDropped) {
    this->open();
    this->append(9);
    ASSERT_TRUE(this->kind.storage.remove_file("t-0/00000000000000000003.log"));
    this->open({.recovery_point = 9});
    EXPECT_EQ(this->log->log_end_offset(), 3);
    EXPECT_EQ(this->log->segment_count(), 1U);
    EXPECT_EQ(this->files(), "000.index 000.log 000.timeindex 003.snapshot")
        << "the index without a log is gone too";
}

TYPED_TEST(SegmentsTest, ABrokenIndexIsRebuilt) {
    this->open();
    this->append(8);
    ASSERT_TRUE(this->log->close());
    for (const char* base : {"00000000000000000000", "00000000000000000003", "00000000000000000006"}) {
        for (const char* ending : {".index", ".timeindex"}) {
            const std::string path = fmt::format("t-0/{}{}", base, ending);
            SCOPED_TRACE(path);
            const auto good = text_of(this->kind.storage, path);
            ASSERT_TRUE(good.has_value());
            for (const std::string& bad : {std::string(5, '\0'), std::string(24, '\0'),
                                           std::string(24, '\xff'), std::string("missing")}) {
                if (bad == "missing") {
                    ASSERT_TRUE(this->kind.storage.remove_file(path));
                } else {
                    write_text(this->kind.storage, path, bad);
                }
                this->open({.clean = true, .recovery_point = 8});
                EXPECT_EQ(this->log->log_end_offset(), 8);
                EXPECT_EQ(this->log->recovered_cut_bytes(), 0U);
                this->expect_all_found();
                ASSERT_TRUE(this->log->close());
                EXPECT_EQ(text_of(this->kind.storage, path), good);
            }
        }
    }
}

TYPED_TEST(SegmentsTest, TruncationTakesWholeSegmentsAndIndexEntries) {
    for (const Offset to : {8, 6, 4, 3, 0}) {
        SCOPED_TRACE(to);
        this->open();
        ASSERT_TRUE(this->log->truncate_to(0));
        this->append(10);
        ASSERT_TRUE(this->log->flush());
        ASSERT_TRUE(this->log->truncate_to(to));
        EXPECT_EQ(this->log->log_end_offset(), to);
        EXPECT_LE(this->log->recovery_point(), to);
        this->expect_all_found();
        this->append(4);
        this->expect_all_found();
        ASSERT_TRUE(this->log->close());
        this->open({.clean = true, .recovery_point = to + 4});
        EXPECT_EQ(this->log->log_end_offset(), to + 4);
        this->expect_all_found();
    }
}

TYPED_TEST(SegmentsTest, FlushIntervalMessagesFlushes) {
    this->settings.segment_bytes = 1 << 20;
    this->settings.flush_interval_messages = 3;
    this->open();
    this->append(2);
    EXPECT_EQ(this->log->recovery_point(), 0);
    this->append(1);
    EXPECT_EQ(this->log->recovery_point(), 3);
    this->append(2);
    EXPECT_EQ(this->log->recovery_point(), 3);
}

TYPED_TEST(SegmentsTest, BytesBehindTheLogsEndAreNeverRead) {
    this->settings.segment_bytes = 1 << 20;
    this->open();
    this->append(3);
    this->faulty.inject({.prefix = "t-0", .writes = true, .after_bytes = 50, .leftovers_stay = true});
    EXPECT_FALSE(this->log->append_as_leader(stamped(5), 0));
    EXPECT_EQ(this->log->log_end_offset(), 3);
    EXPECT_EQ(this->log->read(0, 100, kPlenty)->size(), 3 * stamped(0).size());
    EXPECT_EQ(this->log->read(3, 100, kPlenty)->size(), 0U);
    EXPECT_FALSE(this->log->append_as_leader(stamped(5), 0)) << "not behind half a batch";
    this->faulty.heal();
    this->append(1);
    this->open();
    EXPECT_EQ(this->log->log_end_offset(), 4);
    EXPECT_EQ(this->log->recovered_cut_bytes(), 0U);
}

TYPED_TEST(SegmentsTest, HalfABatchThatStaysIsCutAtTheNextStart) {
    this->open();
    this->append(2);
    this->faulty.inject({.prefix = "t-0",
                         .writes = true,
                         .error = "No space left on device",
                         .after_bytes = 50,
                         .leftovers_stay = true});
    EXPECT_EQ(error_of(this->log->append_as_leader(stamped(5), 0)),
              "t-0/00000000000000000000.log: No space left on device");
    this->faulty.heal();
    this->open();
    EXPECT_EQ(this->log->log_end_offset(), 2);
    EXPECT_EQ(this->log->recovered_cut_bytes(), 50U);
}

TYPED_TEST(SegmentsTest, AFlushThatFailsEndsAppending) {
    this->open();
    this->append(2);
    this->faulty.inject({.prefix = "t-0", .flushes = true});
    EXPECT_EQ(error_of(this->log->flush()), "t-0/00000000000000000000.log: Input/output error");
    EXPECT_EQ(this->log->recovery_point(), 0) << "never beyond what was flushed";
    this->faulty.heal();
    EXPECT_EQ(error_of(this->log->append_as_leader(stamped(1), 0)),
              "t-0: nothing can be appended any more: t-0/00000000000000000000.log: Input/output error")
        << "a second fsync would not tell what the first one lost";
    EXPECT_FALSE(this->log->close());
}

TYPED_TEST(SegmentsTest, ARollThatFailsAppendsNothing) {
    this->open();
    this->append(3);
    this->faulty.inject({.prefix = "t-0/00000000000000000003", .writes = true});
    EXPECT_FALSE(this->log->append_as_leader(stamped(1), 0));
    EXPECT_EQ(this->log->log_end_offset(), 3);
    this->faulty.heal();
    this->open();
    EXPECT_EQ(this->log->log_end_offset(), 3);
}

TYPED_TEST(SegmentsTest, AReadThatFailsSaysWhere) {
    this->open();
    this->append(3);
    this->faulty.inject({.prefix = "t-0", .reads = true});
    EXPECT_EQ(error_of(this->log->read(0, 3, 100)), "t-0/00000000000000000000.log: Input/output error");
    EXPECT_EQ(error_of(node::PartitionLog::open(this->faulty, "t-0")), "t-0: Input/output error");
}

TYPED_TEST(SegmentsTest, TheLogStartIsWhatTheCheckpointSays) {
    this->open({.log_start_offset = 5});
    EXPECT_EQ(this->log->log_start_offset(), 5);
    EXPECT_EQ(this->log->log_end_offset(), 5);
    this->append(4);
    this->open({.log_start_offset = 7});
    EXPECT_EQ(this->log->log_start_offset(), 7);
    EXPECT_EQ(this->log->first_segment_offset(), 5);
    this->open({.log_start_offset = 99});
    EXPECT_EQ(this->log->log_start_offset(), 9) << "never beyond the end";
}

TEST(Segments, AnUnusableLogFailsEveryCall) {
    node::MemoryStorage storage;
    const auto log = node::PartitionLog::unusable(storage, "t-0", Error{"t-0: Input/output error"});
    EXPECT_EQ(log->log_end_offset(), 0);
    EXPECT_EQ(log->log_start_offset(), 0);
    EXPECT_FALSE(log->append_as_leader(stamped(1), 0));
    EXPECT_FALSE(log->flush());
    EXPECT_FALSE(log->close());
    EXPECT_EQ(storage.list("")->size(), 0U);
}

}  // namespace
}  // namespace highwater::test
