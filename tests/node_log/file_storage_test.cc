// Goal: what the system refuses reaches the caller with path and reason, and leaves nothing half done. The
// refusals are real: a limit on the size of files makes a write short and the next one fail.
#include "node/log/file_storage.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "batches.h"
#include "storages.h"

namespace highwater::test {
namespace {

using node::Durability;

/// While it lives no file of this process grows beyond `bytes`: writes fall short, then fail with EFBIG.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
        if (::getrlimit(RLIMIT_FSIZE, &before_) != 0) throw std::runtime_error("getrlimit");
        const rlimit limit{bytes, before_.rlim_max};
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) throw std::runtime_error("setrlimit");
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, signal_);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;

private:
    rlimit before_{};
    void (*signal_)(int);
};

class FileStorageTest : public testing::Test {
protected:
    [[nodiscard]] std::string full(const std::string& path) const {
        return kind.directory.path() + "/logs/" + path;
    }
    OnFiles kind;
    node::FileStorage& storage = kind.storage;
};

TEST_F(FileStorageTest, AnAppendThatFallsShortLeavesNothing) {
    auto file = storage.open("t-0/a.log");
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE((*file)->append(as_bytes_view("whole")));
    {
        const FileSizeLimit limit(8);  // room for three of the six bytes
        EXPECT_EQ(error_of((*file)->append(as_bytes_view("halves"))),
                  full("t-0/a.log") + ": write: File too large");
    }
    EXPECT_EQ((*file)->size(), 5U);
    EXPECT_EQ(text_of(storage, "t-0/a.log"), "whole");
    ASSERT_TRUE((*file)->append(as_bytes_view(" again")));
    EXPECT_EQ(text_of(storage, "t-0/a.log"), "whole again");
}

TEST_F(FileStorageTest, NothingGoesAfterATailThatCouldNotBeCut) {
    // The device that is always full refuses the truncation too.
    std::filesystem::create_directories(full("t-0"));
    std::filesystem::create_symlink("/dev/full", full("t-0/a.log"));
    auto file = storage.open("t-0/a.log");
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(error_of((*file)->append(as_bytes_view("x"))),
              full("t-0/a.log") + ": write: No space left on device: " + full("t-0/a.log") +
                  ": ftruncate: Invalid argument");
    EXPECT_EQ(error_of((*file)->append(as_bytes_view("x"))),
              full("t-0/a.log") + ": ftruncate: Invalid argument");
    EXPECT_EQ((*file)->size(), 0U);
}

TEST_F(FileStorageTest, AReplacementThatFailsLeavesTheOldContentAndNothingBesides) {
    write_text(storage, "t-0/checkpoint", "old");
    for (const Durability durability : {Durability::OsDecides, Durability::Flushed}) {
        const FileSizeLimit limit(8);
        const std::string error =
            error_of(storage.replace_file("t-0/checkpoint", as_bytes_view("new and long"), durability));
        EXPECT_EQ(error, full("t-0/checkpoint.tmp") + ": write: File too large");
    }
    EXPECT_EQ(text_of(storage, "t-0/checkpoint"), "old");
    EXPECT_EQ(storage.list("t-0"), std::vector<std::string>{"checkpoint"});
}

TEST_F(FileStorageTest, AnAppendThatFailsLeavesTheLogAsItWas) {
    const auto log = open_log(storage);
    lead(*log, 0, {"a", "b"});
    const auto size = std::filesystem::file_size(full(kLogFile));
    {
        const FileSizeLimit limit(size + 100);  // the epoch file fits, the batch does not
        const std::string error = error_of(log->append_as_leader(batch({std::string(200, 'x')}), 1));
        EXPECT_EQ(error, full(kLogFile) + ": write: File too large");
    }
    EXPECT_EQ(std::filesystem::file_size(full(kLogFile)), size);
    EXPECT_EQ(records_of(*log), "0:a 1:b");
    EXPECT_EQ(epochs_of(log->epochs()), "0@0");
    lead(*log, 0, {"c"});
    EXPECT_EQ(records_of(*open_log(storage)), "0:a 1:b | 2:c");
    EXPECT_EQ(text_of(storage, kEpochFile), "0\n1\n0 0\n") << "nothing is left of epoch 1";
}

TEST_F(FileStorageTest, AFileInPlaceOfADirectoryIsNamed) {
    write_text(storage, "t-0", "a file");
    EXPECT_EQ(error_of(storage.read_file("t-0/checkpoint")),
              full("t-0/checkpoint") + ": open: Not a directory");
    EXPECT_EQ(error_of(storage.list("t-0")), full("t-0") + ": Not a directory");
    EXPECT_EQ(error_of(storage.remove_file("t-0/checkpoint")),
              full("t-0/checkpoint") + ": unlink: Not a directory");
    for (const std::string& error :
         {error_of(storage.open("t-0/a.log")),
          error_of(storage.replace_file("t-0/a.log", {}, Durability::OsDecides))}) {
        EXPECT_EQ(error, full("t-0/a.log") + ": Not a directory");
    }
}

TEST_F(FileStorageTest, ADirectoryInPlaceOfAFileIsNamed) {
    std::filesystem::create_directories(full("checkpoint"));
    EXPECT_EQ(error_of(storage.open("checkpoint")), full("checkpoint") + ": open: Is a directory");
    EXPECT_EQ(error_of(storage.replace_file("checkpoint", as_bytes_view("x"), Durability::OsDecides)),
              full("checkpoint") + ": rename: Is a directory");
    EXPECT_EQ(storage.list(""), std::vector<std::string>{"checkpoint"}) << "no file beside is left over";
}

TEST_F(FileStorageTest, AFileCutBehindItsBackIsAnError) {
    lead(*open_log(storage), 0, {"a"});
    const auto size = std::filesystem::file_size(full(kLogFile));
    auto file = storage.open(kLogFile);
    ASSERT_TRUE(file) << file.error().message;
    std::filesystem::resize_file(full(kLogFile), 10);
    EXPECT_EQ(error_of((*file)->read(0, size)),
              full(kLogFile) + ": ends before byte " + std::to_string(size));
}

TEST_F(FileStorageTest, ARootMayEndWithASlashOrBeRelative) {
    node::FileStorage slash(full(""));
    write_text(slash, "t-0/x", "one");
    EXPECT_EQ(text_of(storage, "t-0/x"), "one");
    auto file = slash.open("t-0/y");
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_TRUE((*file)->flush());

    const auto here = std::filesystem::current_path();
    std::filesystem::current_path(kind.directory.path());
    node::FileStorage relative("logs");
    write_text(relative, "t-0/x", "two");
    std::filesystem::current_path(here);
    EXPECT_EQ(text_of(storage, "t-0/x"), "two");
}

}  // namespace
}  // namespace highwater::test
