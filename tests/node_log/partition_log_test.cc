// Goal: appends, reads, truncations and epochs of one log, on both storages, each seen again after a reopen.
#include "node/log/partition_log.h"

#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "batches.h"
#include "storages.h"
#include "wire/record_batch.h"

namespace highwater::test {
namespace {

constexpr std::size_t kPlenty = 1U << 20U;

template <class Kind>
class PartitionLogTest : public testing::Test {
protected:
    node::Storage& storage() { return kind_.storage; }
    node::PartitionLog& log() { return *log_; }
    void reopen() {
        log_.reset();
        log_ = open_log(storage());
    }
    std::string read(Offset from, Offset limit, std::size_t max_bytes = kPlenty) {
        const auto bytes = log_->read(from, limit, max_bytes);
        return bytes ? records_of(*bytes) : bytes.error().message;
    }
    /// Three batches: 0..2, 3..4, 5..5, of epochs 0, 0, 2.
    void fill() {
        lead(log(), 0, {"a", "b", "c"});
        lead(log(), 0, {"d", "e"});
        lead(log(), 2, {"f"});
    }

private:
    Kind kind_;
    std::unique_ptr<node::PartitionLog> log_ = open_log(kind_.storage);
};
TYPED_TEST_SUITE(PartitionLogTest, BothStorages, StorageNames);

TYPED_TEST(PartitionLogTest, ANewLogIsEmpty) {
    EXPECT_EQ(this->log().directory(), "t-0");
    EXPECT_EQ(this->log().log_start_offset(), 0);
    EXPECT_EQ(this->log().log_end_offset(), 0);
    EXPECT_EQ(this->log().recovered_cut_bytes(), 0U);
    EXPECT_EQ(epochs_of(this->log().epochs()), "");
    EXPECT_EQ(this->read(0, 100), "");
    this->reopen();
    EXPECT_EQ(this->log().log_end_offset(), 0);
}

TYPED_TEST(PartitionLogTest, TheLeaderGivesOffsetsAndEpoch) {
    // The producer's offsets and epoch mean nothing.
    const auto first = this->log().append_as_leader(batch({"a", "b"}, 77, 9), 3);
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(first->first_offset, 0);
    EXPECT_EQ(first->last_offset, 1);
    EXPECT_EQ(first->batches, 1);
    EXPECT_EQ(first->max_timestamp, 1000);
    const auto second = this->log().append_as_leader(joined({batch({"c"}), batch({"d", "e"})}), 3);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(second->first_offset, 2);
    EXPECT_EQ(second->last_offset, 4);
    EXPECT_EQ(second->batches, 2);

    for (int opened = 0; opened < 2; ++opened) {
        EXPECT_EQ(records_of(this->log()), "0:a 1:b | 2:c | 3:d 4:e");
        EXPECT_EQ(this->log().log_end_offset(), 5);
        EXPECT_EQ(epochs_of(this->log().epochs()), "3@0");
        const auto bytes = this->log().read(0, 5, kPlenty);
        ASSERT_TRUE(bytes) << bytes.error().message;
        const auto views = wire::split_batches(*bytes);
        ASSERT_TRUE(views) << views.error().message;
        for (const wire::BatchView& view : *views) EXPECT_EQ(view.header.leader_epoch, 3);
        this->reopen();
    }
}

TYPED_TEST(PartitionLogTest, TheFollowerTakesOffsetsAndEpochsAsTheyAre) {
    const Bytes sent = joined({batch({"a", "b"}, 0, 1), batch({"c"}, 2, 1), batch({"d"}, 3, 4)});
    const auto appended = this->log().append_as_follower(sent);
    ASSERT_TRUE(appended) << appended.error().message;
    EXPECT_EQ(appended->first_offset, 0);
    EXPECT_EQ(appended->last_offset, 3);
    EXPECT_EQ(appended->batches, 3);
    EXPECT_EQ(text_of(this->storage(), kEpochFile), "0\n2\n1 0\n4 3\n");
    for (int opened = 0; opened < 2; ++opened) {
        const auto bytes = this->log().read(0, 4, kPlenty);
        ASSERT_TRUE(bytes) << bytes.error().message;
        EXPECT_EQ(to_hex(*bytes), to_hex(sent)) << "byte for byte";
        EXPECT_EQ(epochs_of(this->log().epochs()), "1@0 4@3");
        this->reopen();
    }
}

TYPED_TEST(PartitionLogTest, APartialBatchAtTheEndIsLeftOut) {
    Bytes sent = joined({batch({"a"}, 0, 0), batch({"b"}, 1, 0)});
    sent.pop_back();
    const auto appended = this->log().append_as_follower(sent);
    ASSERT_TRUE(appended) << appended.error().message;
    EXPECT_EQ(appended->last_offset, 0);
    EXPECT_EQ(records_of(this->log()), "0:a");

    const auto none = this->log().append_as_follower(BytesView(sent).subspan(batch({"a"}).size()));
    ASSERT_TRUE(none) << none.error().message;
    EXPECT_EQ(none->batches, 0);
    EXPECT_EQ(none->first_offset, kUnknownOffset);
    EXPECT_EQ(none->last_offset, kUnknownOffset);
    EXPECT_EQ(this->log().log_end_offset(), 1);
    this->reopen();
    EXPECT_EQ(records_of(this->log()), "0:a");
}

TYPED_TEST(PartitionLogTest, WhatDoesNotFollowIsRefusedWhole) {
    this->fill();
    Bytes damaged = batch({"h"}, 7, 5);
    damaged.back() ^= 1U;
    struct Row {
        const char* what;
        Bytes bytes;
        const char* error;
    };
    const std::vector<Row> rows{
        {"a gap", batch({"x"}, 7, 5), "t-0: batch at offset 7 does not follow 6"},
        {"an overlap", batch({"x", "y"}, 5, 5), "t-0: batch at offset 5 does not follow 6"},
        {"a second that falls back", joined({batch({"x", "y"}, 6, 5), batch({"z"}, 7, 6)}),
         "t-0: batch at offset 7 does not follow 8"},
        {"a second that is damaged", joined({batch({"g"}, 6, 5), damaged}),
         "t-0: record batch at offset 7 has CRC"},
        {"no batch at all", Bytes(61, 0), "t-0: record batch at offset 0 has length 0"},
    };
    for (const Row& row : rows) {
        const std::string error = error_of(this->log().append_as_follower(row.bytes));
        EXPECT_TRUE(error.starts_with(row.error)) << row.what << ": " << error;
        EXPECT_EQ(records_of(this->log()), "0:a 1:b 2:c | 3:d 4:e | 5:f") << row.what;
        EXPECT_EQ(epochs_of(this->log().epochs()), "0@0 2@5") << row.what;
        EXPECT_EQ(text_of(this->storage(), kEpochFile), "0\n2\n0 0\n2 5\n") << row.what;
    }
    this->reopen();
    EXPECT_EQ(records_of(this->log()), "0:a 1:b 2:c | 3:d 4:e | 5:f");
}

TYPED_TEST(PartitionLogTest, OffsetsMayHaveHolesAfterTheFirstBatch) {
    ASSERT_TRUE(this->log().append_as_follower(joined({batch({"a"}, 0, 0), batch({"b"}, 10, 0)})));
    this->reopen();
    EXPECT_EQ(this->log().log_end_offset(), 11);
    EXPECT_EQ(this->read(5, 11), "10:b") << "from within the hole";
    EXPECT_EQ(this->read(0, 5), "0:a");
}

TYPED_TEST(PartitionLogTest, TheLeaderRefusesIncompleteAndDamagedBatches) {
    Bytes cut = joined({batch({"a"}), batch({"b"})});
    cut.pop_back();
    EXPECT_EQ(error_of(this->log().append_as_leader(cut, 0)), "t-0: the batches to append are incomplete");
    EXPECT_EQ(error_of(this->log().append_as_leader({}, 0)), "t-0: the batches to append are incomplete");
    Bytes damaged = batch({"a"});
    damaged.back() ^= 1U;
    EXPECT_NE(error_of(this->log().append_as_leader(damaged, 0)).find("CRC"), std::string::npos);
    EXPECT_EQ(this->log().log_end_offset(), 0);
    EXPECT_EQ(epochs_of(this->log().epochs()), "");
}

TYPED_TEST(PartitionLogTest, TheWidestBatchAProducerCanClaimIsNoOverflow) {
    // One record that claims 2^31 offsets: the last offset delta is the largest there is.
    ByteWriter wide;
    wide.raw(batch({"a"}));
    wide.patch_u32(23, 0x7fffffff);
    wide.patch_u32(17, crc32c(BytesView(wide.bytes()).subspan(21)));
    const auto appended = this->log().append_as_leader(joined({wide.bytes(), wide.bytes()}), 0);
    ASSERT_TRUE(appended) << appended.error().message;
    EXPECT_EQ(appended->last_offset, (Offset{1} << 32U) - 1);
    this->reopen();
    EXPECT_EQ(this->log().log_end_offset(), Offset{1} << 32U);
}

TYPED_TEST(PartitionLogTest, AReadBeginsWithTheBatchThatHoldsTheOffset) {
    this->fill();
    EXPECT_EQ(this->read(0, 6), "0:a 1:b 2:c | 3:d 4:e | 5:f");
    EXPECT_EQ(this->read(1, 6), "0:a 1:b 2:c | 3:d 4:e | 5:f");
    EXPECT_EQ(this->read(2, 6), "0:a 1:b 2:c | 3:d 4:e | 5:f");
    EXPECT_EQ(this->read(3, 6), "3:d 4:e | 5:f");
    EXPECT_EQ(this->read(4, 6), "3:d 4:e | 5:f");
    EXPECT_EQ(this->read(5, 6), "5:f");
    EXPECT_EQ(this->read(6, 6), "");
    EXPECT_EQ(this->read(6, 100), "") << "the end, with a limit beyond it";
}

TYPED_TEST(PartitionLogTest, ABatchThatReachesPastTheLimitIsLeftOut) {
    this->fill();
    EXPECT_EQ(this->read(0, 5), "0:a 1:b 2:c | 3:d 4:e");
    EXPECT_EQ(this->read(0, 4), "0:a 1:b 2:c") << "3..4 straddles";
    EXPECT_EQ(this->read(0, 3), "0:a 1:b 2:c");
    EXPECT_EQ(this->read(0, 2), "") << "not even the first, though it is the only one";
    EXPECT_EQ(this->read(0, 0), "");
    EXPECT_EQ(this->read(4, 4), "");
    EXPECT_EQ(this->read(5, 3), "") << "a limit below";
}

TYPED_TEST(PartitionLogTest, AReadIsAtMostMaxBytesButAtLeastABatch) {
    this->fill();
    const std::size_t first = batch({"a", "b", "c"}).size();
    const std::size_t second = batch({"d", "e"}).size();
    EXPECT_EQ(this->read(0, 6, 0), "0:a 1:b 2:c");
    EXPECT_EQ(this->read(0, 6, first + second - 1), "0:a 1:b 2:c");
    EXPECT_EQ(this->read(0, 6, first + second), "0:a 1:b 2:c | 3:d 4:e");
    EXPECT_EQ(this->read(3, 6, 1), "3:d 4:e");
}

TYPED_TEST(PartitionLogTest, TruncationCutsRecordsAndEpochs) {
    struct Row {
        Offset to;
        const char* records;
        const char* epochs;
        const char* file;
    };
    const std::vector<Row> rows{
        {5, "0:a 1:b 2:c | 3:d 4:e", "0@0", "0\n1\n0 0\n"},
        {4, "0:a 1:b 2:c", "0@0", "0\n1\n0 0\n"},  // the batch that straddles goes whole
        {3, "0:a 1:b 2:c", "0@0", "0\n1\n0 0\n"},
        {1, "", "", "0\n0\n"},
        {0, "", "", "0\n0\n"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.to);
        ASSERT_TRUE(this->log().truncate_to(0));
        this->fill();
        const Status cut = this->log().truncate_to(row.to);
        ASSERT_TRUE(cut) << cut.error().message;
        for (int opened = 0; opened < 2; ++opened) {
            EXPECT_EQ(records_of(this->log()), row.records);
            EXPECT_EQ(epochs_of(this->log().epochs()), row.epochs);
            EXPECT_EQ(text_of(this->storage(), kEpochFile), row.file);
            EXPECT_EQ(this->log().recovered_cut_bytes(), 0U);
            this->reopen();
        }
    }
    lead(this->log(), 5, {"x"});
    this->reopen();
    EXPECT_EQ(records_of(this->log()), "0:x");
    EXPECT_EQ(epochs_of(this->log().epochs()), "5@0");
}

TYPED_TEST(PartitionLogTest, ATruncationAtOrBeyondTheEndCutsNoRecord) {
    this->fill();
    for (const Offset to : {6, 7, 1000}) {
        ASSERT_TRUE(this->log().truncate_to(to));
        EXPECT_EQ(this->log().log_end_offset(), 6);
        EXPECT_EQ(epochs_of(this->log().epochs()), "0@0 2@5");
    }
}

TYPED_TEST(PartitionLogTest, ATruncationThatCutsNoRecordStillCutsAnEpochWithoutOne) {
    // A leader that appended nothing before the next one was elected: its entry at the log's end would answer
    // for an epoch this log has no record of.
    for (const Offset to : {6, 1000}) {
        SCOPED_TRACE(to);
        ASSERT_TRUE(this->log().truncate_to(0));
        this->fill();
        ASSERT_TRUE(this->log().assign_epoch(4, 6));
        ASSERT_EQ(text_of(this->storage(), kEpochFile), "0\n3\n0 0\n2 5\n4 6\n");
        ASSERT_TRUE(this->log().truncate_to(to));
        EXPECT_EQ(this->log().log_end_offset(), 6);
        EXPECT_EQ(epochs_of(this->log().epochs()), "0@0 2@5");
        EXPECT_EQ(text_of(this->storage(), kEpochFile), "0\n2\n0 0\n2 5\n");
    }
}

TYPED_TEST(PartitionLogTest, AssignEpochGoesIntoTheFileAtOnce) {
    ASSERT_TRUE(this->log().assign_epoch(0, 0));
    EXPECT_EQ(text_of(this->storage(), kEpochFile), "0\n1\n0 0\n");
    lead(this->log(), 0, {"a"});
    ASSERT_TRUE(this->log().assign_epoch(3, 1));
    EXPECT_EQ(text_of(this->storage(), kEpochFile), "0\n2\n0 0\n3 1\n");
    ASSERT_TRUE(this->log().assign_epoch(3, 1)) << "again";
    EXPECT_EQ(epochs_of(this->log().epochs()), "0@0 3@1");
    lead(this->log(), 3, {"b"});
    EXPECT_EQ(epochs_of(this->log().epochs()), "0@0 3@1");
    this->reopen();
    EXPECT_EQ(epochs_of(this->log().epochs()), "0@0 3@1");
}

TYPED_TEST(PartitionLogTest, AnEpochWithoutRecordsIsForgottenAtOpen) {
    this->fill();
    ASSERT_TRUE(this->log().assign_epoch(4, 6));
    this->reopen();
    EXPECT_EQ(epochs_of(this->log().epochs()), "0@0 2@5");
    EXPECT_EQ(text_of(this->storage(), kEpochFile), "0\n2\n0 0\n2 5\n");
}

TYPED_TEST(PartitionLogTest, RecordsOfAnOlderEpochDisproveAnEntryWhereTheyGo) {
    this->fill();
    ASSERT_TRUE(this->log().assign_epoch(4, 6));
    const auto appended = this->log().append_as_follower(batch({"g"}, 6, 3));
    ASSERT_TRUE(appended) << appended.error().message;
    for (int opened = 0; opened < 2; ++opened) {
        EXPECT_EQ(epochs_of(this->log().epochs()), "0@0 2@5 3@6");
        EXPECT_EQ(text_of(this->storage(), kEpochFile), "0\n3\n0 0\n2 5\n3 6\n");
        this->reopen();
    }
}

TYPED_TEST(PartitionLogTest, PartitionsOfOneStorageAreApart) {
    auto other = node::PartitionLog::open(this->storage(), "t-1");
    ASSERT_TRUE(other) << other.error().message;
    this->fill();
    lead(**other, 7, {"other"});
    this->reopen();
    EXPECT_EQ(records_of(this->log()), "0:a 1:b 2:c | 3:d 4:e | 5:f");
    EXPECT_EQ(records_of(**other), "0:other");
    EXPECT_EQ(epochs_of((*other)->epochs()), "7@0");
}

TYPED_TEST(PartitionLogTest, AReadOutsideTheLogIsAMistakeOfTheCaller) {
    this->fill();
    EXPECT_DEATH(static_cast<void>(this->log().read(7, 10, kPlenty)), "read at 7 of \\[0, 6\\]");
    EXPECT_DEATH(static_cast<void>(this->log().read(-1, 10, kPlenty)), "read at -1 of \\[0, 6\\]");
}

TEST(PartitionLogFaults, AFailedAppendChangesNothing) {
    node::MemoryStorage storage;
    const auto log = open_log(storage);
    lead(*log, 0, {"a"});
    ASSERT_TRUE(log->assign_epoch(1, 1));
    for (const std::string failing : {kEpochFile, kLogFile}) {
        SCOPED_TRACE(failing);
        storage.fail_writes([&](const std::string& path) -> std::optional<std::string> {
            if (path == failing) return "Input/output error";
            return std::nullopt;
        });
        EXPECT_EQ(error_of(log->append_as_leader(batch({"b"}), 2)), failing + ": Input/output error");
        EXPECT_EQ(records_of(*log), "0:a");
        EXPECT_EQ(epochs_of(log->epochs()), "0@0 1@1") << "nor is the entry of the present leader gone";
    }
    storage.fail_writes(nullptr);
    lead(*log, 1, {"b"});
    EXPECT_EQ(text_of(storage, kEpochFile), "0\n2\n0 0\n1 1\n") << "the file forgot the epoch that failed";
    EXPECT_EQ(records_of(*open_log(storage)), "0:a | 1:b");
}

TEST(PartitionLogFaults, TruncationAndFlushTellTheDisksError) {
    node::MemoryStorage storage;
    const auto log = open_log(storage);
    lead(*log, 0, {"a"});
    storage.fail_writes([](const std::string&) { return std::optional<std::string>("Input/output error"); });
    EXPECT_EQ(error_of(log->truncate_to(0)), std::string(kLogFile) + ": Input/output error");
    EXPECT_EQ(records_of(*log), "0:a");
    EXPECT_EQ(error_of(log->flush()), std::string(kLogFile) + ": Input/output error");
    EXPECT_EQ(error_of(log->assign_epoch(1, 1)), std::string(kEpochFile) + ": Input/output error");
    EXPECT_EQ(error_of(node::PartitionLog::open(storage, "t-1")),
              "t-1/00000000000000000000.log: Input/output error");
}

}  // namespace
}  // namespace highwater::test
