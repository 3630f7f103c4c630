// The two storages behind one face, so that a test of the log is a test of both.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "node/log/file_storage.h"
#include "node/log/memory_storage.h"
#include "temp_dir.h"

namespace highwater::test {

struct OnFiles {
    TempDir directory;
    node::FileStorage storage{directory.path() + "/logs"};
};
struct InMemory {
    node::MemoryStorage storage;
};

struct StorageNames {
    template <class Kind>
    static std::string GetName(int) {
        return std::is_same_v<Kind, OnFiles> ? "OnFiles" : "InMemory";
    }
};
using BothStorages = testing::Types<OnFiles, InMemory>;

/// The file as text; nullopt if there is none.
inline std::optional<std::string> text_of(node::Storage& storage, const std::string& path) {
    const auto bytes = storage.read_file(path);
    EXPECT_TRUE(bytes) << bytes.error().message;
    if (!bytes || !bytes->has_value()) return std::nullopt;
    return std::string(as_text(**bytes));
}

inline void write_text(node::Storage& storage, const std::string& path, std::string_view text) {
    const Status written = storage.replace_file(path, as_bytes_view(text), node::Durability::Flushed);
    ASSERT_TRUE(written) << written.error().message;
}

/// What a failed call says; a test failure if it did not fail.
template <class T>
std::string error_of(const Result<T>& result) {
    if (result) {
        ADD_FAILURE() << "no error";
        return "";
    }
    return result.error().message;
}

}  // namespace highwater::test
