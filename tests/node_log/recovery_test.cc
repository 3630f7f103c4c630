// Goal: whatever the end of the file looks like after a crash, the log opens with the longest valid
// beginning, cuts the rest and says how much. Only bad bytes are cut; a disk that cannot be read is an error.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "batches.h"
#include "node/log/partition_log.h"
#include "storages.h"

namespace highwater::test {
namespace {

const Bytes kFirst = batch({"a", "b"}, 0, 0);
const Bytes kSecond = batch({"c"}, 2, 1);
const Bytes kThird = batch({"d", "e"}, 3, 4);

template <class Kind>
class RecoveryTest : public testing::Test {
protected:
    node::Storage& storage() { return kind_.storage; }
    std::unique_ptr<node::PartitionLog> open(const Bytes& content) {
        EXPECT_TRUE(storage().replace_file(kLogFile, content, node::Durability::OsDecides));
        return open_log(storage());
    }
    std::size_t size() { return text_of(storage(), kLogFile).value_or("").size(); }

private:
    Kind kind_;
};
TYPED_TEST_SUITE(RecoveryTest, BothStorages, StorageNames);

TYPED_TEST(RecoveryTest, ATornTailIsCutAtEveryLength) {
    const Bytes whole = joined({kFirst, kSecond, kThird});
    const std::size_t before = kFirst.size() + kSecond.size();
    for (std::size_t size = before; size < whole.size(); ++size) {
        SCOPED_TRACE(size);
        const auto log = this->open(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
        EXPECT_EQ(records_of(*log), "0:a 1:b | 2:c");
        EXPECT_EQ(log->log_end_offset(), 3);
        EXPECT_EQ(log->recovered_cut_bytes(), size - before);
        EXPECT_EQ(epochs_of(log->epochs()), "0@0 1@2");
        EXPECT_EQ(this->size(), before) << "the file itself is cut";
    }
    const auto log = this->open(whole);
    EXPECT_EQ(records_of(*log), "0:a 1:b | 2:c | 3:d 4:e");
    EXPECT_EQ(log->recovered_cut_bytes(), 0U);
}

TYPED_TEST(RecoveryTest, AFlippedByteCutsItsBatchAndAllAfterIt) {
    const Bytes whole = joined({kFirst, kSecond, kThird});
    // Bytes 0-7 hold the base offset and 12-15 the epoch, which no checksum covers.
    for (std::size_t at = 8; at < kSecond.size(); ++at) {
        if (at >= 12 && at < 16) continue;
        SCOPED_TRACE(at);
        Bytes damaged = whole;
        damaged[kFirst.size() + at] ^= 0x80U;
        const auto log = this->open(damaged);
        EXPECT_EQ(records_of(*log), "0:a 1:b");
        EXPECT_EQ(log->recovered_cut_bytes(), kSecond.size() + kThird.size());
        EXPECT_EQ(epochs_of(log->epochs()), "0@0");
        EXPECT_EQ(this->size(), kFirst.size());
    }
}

TYPED_TEST(RecoveryTest, OffsetsThatFallBackAreCut) {
    EXPECT_EQ(records_of(*this->open(joined({kFirst, kSecond, batch({"x"}, 2, 1)}))), "0:a 1:b | 2:c");
    EXPECT_EQ(records_of(*this->open(joined({kFirst, kFirst}))), "0:a 1:b");
}

TYPED_TEST(RecoveryTest, RubbishFromTheFirstByteLeavesAnEmptyLog) {
    for (const Bytes& rubbish : {Bytes(1, 0), Bytes(5000, 0), Bytes(5000, 0xff)}) {
        const auto log = this->open(rubbish);
        EXPECT_EQ(log->log_end_offset(), 0);
        EXPECT_EQ(log->recovered_cut_bytes(), rubbish.size());
        lead(*log, 0, {"a"});
        EXPECT_EQ(records_of(*open_log(this->storage())), "0:a");
    }
}

TYPED_TEST(RecoveryTest, TheLogGoesOnWhereItWasCut) {
    Bytes torn = joined({kFirst, kSecond});
    torn.pop_back();
    {
        const auto log = this->open(torn);
        lead(*log, 6, {"x", "y"});
    }
    const auto log = open_log(this->storage());
    EXPECT_EQ(records_of(*log), "0:a 1:b | 2:x 3:y");
    EXPECT_EQ(epochs_of(log->epochs()), "0@0 6@2");
    EXPECT_EQ(log->recovered_cut_bytes(), 0U);
}

TYPED_TEST(RecoveryTest, LogsLongerThanOnePieceOfTheirReading) {
    // Recovery reads 4 MiB at a time: batches that lie across the border, and one that is larger than a
    // piece.
    constexpr std::size_t kMiB = 1U << 20U;
    Bytes content;
    Offset next = 0;
    const auto add = [&](std::size_t size) {
        const Bytes more = batch({std::string(size, 'x')}, next++, 0);
        content.insert(content.end(), more.begin(), more.end());
    };
    for (int i = 0; i < 9; ++i) add(kMiB - 300);
    add(5 * kMiB);
    add(10);
    const std::size_t whole = content.size();
    {
        const auto log = this->open(content);
        EXPECT_EQ(log->log_end_offset(), 11);
        EXPECT_EQ(log->recovered_cut_bytes(), 0U);
        const auto last = log->read(10, 11, 1);
        ASSERT_TRUE(last) << last.error().message;
        EXPECT_EQ(records_of(*last), "10:xxxxxxxxxx");
    }
    // Rubbish with more than a piece behind it: a length below the header's, one beyond the end of the file,
    // and one that is larger than a piece and there.
    for (const std::size_t claimed : {std::size_t{0}, 100 * kMiB, 6 * kMiB}) {
        SCOPED_TRACE(claimed);
        ByteWriter header;
        header.i64(11);
        header.u32(static_cast<std::uint32_t>(claimed));
        Bytes damaged = joined({content, header.bytes()});
        damaged.resize(whole + 9 * kMiB, 0);
        const auto log = this->open(damaged);
        EXPECT_EQ(log->log_end_offset(), 11);
        EXPECT_EQ(log->recovered_cut_bytes(), 9 * kMiB);
    }
    content.resize(whole - 100 - 5 * kMiB);  // within the large one
    const auto log = this->open(content);
    EXPECT_EQ(log->log_end_offset(), 9);
}

TYPED_TEST(RecoveryTest, TheEpochFileIsRebuiltFromTheBatches) {
    const Bytes content = joined({kFirst, kSecond, kThird});
    for (const char* file :
         {"", "0\n0\n", "0\n1\n0 0\n", "0\n2\n0 0\n4 1\n", "0\n4\n0 0\n1 2\n4 3\n9 5\n", "0\n1\n9 90\n"}) {
        SCOPED_TRACE(file);
        write_text(this->storage(), kEpochFile, file);
        const auto log = this->open(content);
        EXPECT_EQ(epochs_of(log->epochs()), "0@0 1@2 4@3");
        EXPECT_EQ(text_of(this->storage(), kEpochFile), "0\n3\n0 0\n1 2\n4 3\n");
    }
}

TYPED_TEST(RecoveryTest, AnEpochFileThatCannotBeReadIsAnErrorWithItsLine) {
    write_text(this->storage(), kEpochFile, "0\n1\n0 zero\n");
    const std::string error = error_of(node::PartitionLog::open(this->storage(), "t-0"));
    EXPECT_TRUE(error.starts_with(std::string(kEpochFile) + ":3: 'zero'")) << error;
}

class UnreadableFile final : public node::AppendFile {
public:
    explicit UnreadableFile(std::unique_ptr<node::AppendFile> file) : file_(std::move(file)) {}
    [[nodiscard]] std::uint64_t size() const override { return file_->size(); }
    Status append(BytesView bytes) override { return file_->append(bytes); }
    [[nodiscard]] Result<Bytes> read(std::uint64_t, std::size_t) const override {
        return failure("Input/output error");
    }
    Status truncate(std::uint64_t size) override { return file_->truncate(size); }
    Status flush() override { return file_->flush(); }

private:
    std::unique_ptr<node::AppendFile> file_;
};
class UnreadableStorage final : public node::Storage {
public:
    Result<std::unique_ptr<node::AppendFile>> open(const std::string& path) override {
        auto file = readable.open(path);
        if (!file) return file;
        return std::make_unique<UnreadableFile>(std::move(*file));
    }
    Result<std::optional<Bytes>> read_file(const std::string& path) override {
        return readable.read_file(path);
    }
    Status replace_file(const std::string& path, BytesView content, node::Durability durability) override {
        return readable.replace_file(path, content, durability);
    }
    Status remove_file(const std::string& path) override { return readable.remove_file(path); }
    Result<std::vector<std::string>> list(const std::string& directory) override {
        return readable.list(directory);
    }

    node::MemoryStorage readable;
};

TEST(Recovery, ADiskThatCannotBeReadIsAnErrorAndNothingIsCut) {
    UnreadableStorage storage;
    const Bytes content = joined({kFirst, kSecond});
    write_text(storage, kLogFile, as_text(content));
    EXPECT_EQ(error_of(node::PartitionLog::open(storage, "t-0")), "Input/output error");
    EXPECT_EQ(text_of(storage, kLogFile), as_text(content));
}

}  // namespace
}  // namespace highwater::test
