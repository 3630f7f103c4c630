// Goal: a power loss in memory takes exactly what was not flushed, a kill takes nothing, and a fault hits
// what writes.
#include "node/log/memory_storage.h"

#include <gtest/gtest.h>

#include "batches.h"
#include "storages.h"

namespace highwater::test {
namespace {

using node::Durability;
using node::MemoryStorage;

class MemoryStorageTest : public testing::Test {
protected:
    std::unique_ptr<node::AppendFile> open(const std::string& path) {
        auto file = storage.open(path);
        if (!file) throw std::runtime_error(file.error().message);
        return std::move(*file);
    }
    MemoryStorage storage;
};

TEST_F(MemoryStorageTest, APowerLossTakesWhatWasNotFlushed) {
    const auto file = open("a.log");
    ASSERT_TRUE(file->append(as_bytes_view("kept")));
    ASSERT_TRUE(file->flush());
    ASSERT_TRUE(file->append(as_bytes_view(" lost")));
    storage.lose_unflushed();
    EXPECT_EQ(text_of(storage, "a.log"), "kept");
    EXPECT_EQ(open("a.log")->size(), 4U);
}

TEST_F(MemoryStorageTest, AFileNeverFlushedIsGone) {
    const auto file = open("a.log");
    ASSERT_TRUE(file->append(as_bytes_view("lost")));
    ASSERT_TRUE(storage.replace_file("checkpoint", as_bytes_view("lost"), Durability::OsDecides));
    storage.lose_unflushed();
    EXPECT_EQ(storage.list(""), std::vector<std::string>{});
}

TEST_F(MemoryStorageTest, ATruncationNotFlushedIsUndone) {
    const auto file = open("a.log");
    ASSERT_TRUE(file->append(as_bytes_view("hello world")));
    ASSERT_TRUE(file->flush());
    ASSERT_TRUE(file->truncate(5));
    ASSERT_TRUE(file->append(as_bytes_view("!")));
    storage.lose_unflushed();
    EXPECT_EQ(text_of(storage, "a.log"), "hello world");
}

TEST_F(MemoryStorageTest, AReplacementNotFlushedGoesBackToTheLastFlushedOne) {
    ASSERT_TRUE(storage.replace_file("checkpoint", as_bytes_view("1"), Durability::Flushed));
    ASSERT_TRUE(storage.replace_file("checkpoint", as_bytes_view("2"), Durability::OsDecides));
    EXPECT_EQ(text_of(storage, "checkpoint"), "2") << "a reader sees the newest, as after a kill";
    storage.lose_unflushed();
    EXPECT_EQ(text_of(storage, "checkpoint"), "1");
    ASSERT_TRUE(storage.replace_file("checkpoint", as_bytes_view("3"), Durability::Flushed));
    storage.lose_unflushed();
    storage.lose_unflushed();
    EXPECT_EQ(text_of(storage, "checkpoint"), "3");
}

TEST_F(MemoryStorageTest, AFaultFailsEveryWriteToItsPathsAndNoRead) {
    const auto file = open("t-0/a.log");
    ASSERT_TRUE(file->append(as_bytes_view("abc")));
    const auto other = open("t-1/a.log");
    storage.fail_writes([](const std::string& path) -> std::optional<std::string> {
        if (path.starts_with("t-0/")) return "No space left on device";
        return std::nullopt;
    });
    EXPECT_EQ(error_of(file->append(as_bytes_view("d"))), "t-0/a.log: No space left on device");
    EXPECT_EQ(error_of(file->truncate(0)), "t-0/a.log: No space left on device");
    EXPECT_EQ(error_of(file->flush()), "t-0/a.log: No space left on device");
    EXPECT_EQ(error_of(storage.open("t-0/new.log")), "t-0/new.log: No space left on device");
    EXPECT_EQ(error_of(storage.remove_file("t-0/a.log")), "t-0/a.log: No space left on device");
    EXPECT_EQ(error_of(storage.replace_file("t-0/c", as_bytes_view("x"), Durability::OsDecides)),
              "t-0/c: No space left on device");
    EXPECT_EQ(text_of(storage, "t-0/a.log"), "abc");
    EXPECT_EQ(text_of(storage, "t-0/c"), std::nullopt);
    EXPECT_TRUE(storage.open("t-0/a.log")) << "an existing file opens";
    EXPECT_TRUE(other->append(as_bytes_view("d"))) << "other paths work";

    storage.fail_writes(nullptr);
    EXPECT_TRUE(file->append(as_bytes_view("d")));
    EXPECT_EQ(text_of(storage, "t-0/a.log"), "abcd");
}

TEST_F(MemoryStorageTest, ALogAfterAPowerLossIsTheFlushedOneWithItsEpochs) {
    const auto log = open_log(storage);
    lead(*log, 0, {"a"});
    lead(*log, 1, {"b"});
    ASSERT_TRUE(log->flush());
    lead(*log, 1, {"c"});
    lead(*log, 2, {"d"});  // this epoch's entry is flushed, its record is not
    EXPECT_EQ(records_of(*open_log(storage)), "0:a | 1:b | 2:c | 3:d") << "a kill loses nothing";
    storage.lose_unflushed();
    const auto after = open_log(storage);
    EXPECT_EQ(records_of(*after), "0:a | 1:b");
    EXPECT_EQ(epochs_of(after->epochs()), "0@0 1@1");
    EXPECT_EQ(after->recovered_cut_bytes(), 0U);
}

TEST_F(MemoryStorageTest, NewEpochsAreFlushedAndTruncatedOnesAreNot) {
    const auto after_power_loss = [&] {
        storage.lose_unflushed();
        return text_of(storage, kEpochFile);
    };
    const auto log = open_log(storage);
    ASSERT_TRUE(log->assign_epoch(3, 0));
    EXPECT_EQ(after_power_loss(), "0\n1\n3 0\n");
    lead(*log, 3, {"a"});
    lead(*log, 4, {"b"});
    EXPECT_EQ(after_power_loss(), "0\n2\n3 0\n4 1\n");

    const auto follower = open_log(storage);  // empty: no record was flushed
    ASSERT_EQ(follower->log_end_offset(), 0);
    ASSERT_TRUE(follower->append_as_follower(joined({batch({"a"}, 0, 5), batch({"b"}, 1, 6)})));
    EXPECT_EQ(after_power_loss(), "0\n2\n5 0\n6 1\n");
    ASSERT_TRUE(follower->truncate_to(1));
    EXPECT_EQ(text_of(storage, kEpochFile), "0\n1\n5 0\n");
    EXPECT_EQ(after_power_loss(), "0\n2\n5 0\n6 1\n") << "as Kafka leaves it to the system";
}

TEST_F(MemoryStorageTest, EpochsAfterAPowerLossThatUndoesATruncationAreThoseOfTheRecords) {
    const auto log = open_log(storage);
    lead(*log, 4, {"a", "b"});
    lead(*log, 5, {"c"});
    ASSERT_TRUE(log->flush());
    ASSERT_TRUE(log->truncate_to(0));
    lead(*log, 6, {"x"});  // the file says 6@0, flushed
    ASSERT_EQ(text_of(storage, kEpochFile), "0\n1\n6 0\n");
    storage.lose_unflushed();
    const auto after = open_log(storage);
    EXPECT_EQ(records_of(*after), "0:a 1:b | 2:c");
    EXPECT_EQ(epochs_of(after->epochs()), "4@0 5@2") << "6@0 would hide that this log never saw epoch 6";
    EXPECT_EQ(text_of(storage, kEpochFile), "0\n2\n4 0\n5 2\n");
}

}  // namespace
}  // namespace highwater::test
