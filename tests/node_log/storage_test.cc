// Goal: both storages do what Storage promises, so that what a test shows in memory holds on files.
#include "node/log/storage.h"

#include <gtest/gtest.h>

#include "storages.h"

namespace highwater::test {
namespace {

using node::Durability;

template <class Kind>
class StorageTest : public testing::Test {
protected:
    node::Storage& storage() { return kind_.storage; }
    std::unique_ptr<node::AppendFile> open(const std::string& path) {
        auto file = storage().open(path);
        if (!file) throw std::runtime_error(file.error().message);
        return std::move(*file);
    }

private:
    Kind kind_;
};
TYPED_TEST_SUITE(StorageTest, BothStorages, StorageNames);

void append(node::AppendFile& file, std::string_view text) {
    const Status appended = file.append(as_bytes_view(text));
    ASSERT_TRUE(appended) << appended.error().message;
}
std::string read(const node::AppendFile& file, std::uint64_t position, std::size_t count) {
    const auto bytes = file.read(position, count);
    return bytes ? std::string(as_text(*bytes)) : bytes.error().message;
}

TYPED_TEST(StorageTest, AFileGrowsAtItsEndAndIsReadAnywhere) {
    const auto file = this->open("t-0/a.log");
    EXPECT_EQ(file->size(), 0U);
    append(*file, "hello ");
    append(*file, "");
    append(*file, "world");
    EXPECT_EQ(file->size(), 11U);
    EXPECT_EQ(read(*file, 0, 11), "hello world");
    EXPECT_EQ(read(*file, 4, 3), "o w");
    EXPECT_EQ(read(*file, 11, 0), "");
    EXPECT_TRUE(file->flush());
}

TYPED_TEST(StorageTest, ReadingBeyondTheEndIsAnErrorWithThePath) {
    const auto file = this->open("t-0/a.log");
    append(*file, "abc");
    for (const auto& [position, count] :
         std::vector<std::pair<std::uint64_t, std::size_t>>{{0, 4}, {3, 1}, {9, 1}}) {
        const std::string error = error_of(file->read(position, count));
        EXPECT_NE(error.find("t-0/a.log: bytes "), std::string::npos) << error;
        EXPECT_NE(error.find("beyond its end 3"), std::string::npos) << error;
    }
}

TYPED_TEST(StorageTest, WhatFollowsATruncationGoesToTheNewEnd) {
    const auto file = this->open("t-0/a.log");
    append(*file, "hello world");
    ASSERT_TRUE(file->truncate(5));
    EXPECT_EQ(file->size(), 5U);
    append(*file, "!");
    EXPECT_EQ(read(*file, 0, 6), "hello!");
}

TYPED_TEST(StorageTest, AnotherOpenSeesEverythingAsAfterAKill) {
    const auto before = this->open("t-0/a.log");
    append(*before, "hello");
    const auto after = this->open("t-0/a.log");
    EXPECT_EQ(after->size(), 5U);
    EXPECT_EQ(read(*after, 0, 5), "hello");
    EXPECT_EQ(text_of(this->storage(), "t-0/a.log"), "hello");
}

TYPED_TEST(StorageTest, ReplaceFilePutsTheNewContentInPlaceOfTheOld) {
    EXPECT_EQ(text_of(this->storage(), "checkpoint"), std::nullopt);
    EXPECT_EQ(text_of(this->storage(), "t-0/checkpoint"), std::nullopt) << "nor is there the directory";
    for (const Durability durability : {Durability::OsDecides, Durability::Flushed}) {
        for (const std::string path : {"checkpoint", "t-0/checkpoint"}) {
            ASSERT_TRUE(this->storage().replace_file(path, as_bytes_view("a longer text"), durability));
            EXPECT_EQ(text_of(this->storage(), path), "a longer text");
            ASSERT_TRUE(this->storage().replace_file(path, as_bytes_view("short"), durability));
            EXPECT_EQ(text_of(this->storage(), path), "short");
            ASSERT_TRUE(this->storage().replace_file(path, {}, durability));
            EXPECT_EQ(text_of(this->storage(), path), "");
        }
    }
}

TYPED_TEST(StorageTest, RemoveFile) {
    write_text(this->storage(), "t-0/checkpoint", "x");
    EXPECT_TRUE(this->storage().remove_file("t-0/checkpoint"));
    EXPECT_EQ(text_of(this->storage(), "t-0/checkpoint"), std::nullopt);
    EXPECT_TRUE(this->storage().remove_file("t-0/checkpoint")) << "no error if there is none";
    EXPECT_TRUE(this->storage().remove_file("u-0/checkpoint"));
}

TYPED_TEST(StorageTest, ListNamesFilesAndDirectoriesInOrder) {
    using Names = std::vector<std::string>;
    EXPECT_EQ(this->storage().list(""), Names{}) << "a root that does not exist yet";
    write_text(this->storage(), "t-1/x", "x");
    write_text(this->storage(), "meta.properties", "x");
    write_text(this->storage(), "t-0/b", "x");
    write_text(this->storage(), "t-0/a", "x");
    EXPECT_EQ(this->storage().list(""), (Names{"meta.properties", "t-0", "t-1"}));
    EXPECT_EQ(this->storage().list("t-0"), (Names{"a", "b"}));
    EXPECT_EQ(this->storage().list("t"), Names{}) << "a prefix is no directory";
}

}  // namespace
}  // namespace highwater::test
