// Storage: the only door to files. Partition logs, checkpoints and the metadata log see nothing else, so that
// a test can lose the bytes that were never flushed (memory_storage) and a process writes Kafka's files
// (file_storage).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace highwater::node {

/// A file that grows at its end: a segment.
class AppendFile {
public:
    virtual ~AppendFile() = default;
    [[nodiscard]] virtual std::uint64_t size() const = 0;
    /// All or nothing: after an error size() is what it was. Errors: EIO, ENOSPC.
    virtual Status append(BytesView bytes) = 0;
    /// Exactly `count` bytes from `position`; an error if the file is shorter.
    [[nodiscard]] virtual Result<Bytes> read(std::uint64_t position, std::size_t count) const = 0;
    virtual Status truncate(std::uint64_t size) = 0;
    /// Everything appended so far survives a power loss.
    virtual Status flush() = 0;
};

enum class Durability { OsDecides, Flushed };

/// Paths are relative to the node's log.dirs, with '/' between directories ("t-0/leader-epoch-checkpoint").
class Storage {
public:
    virtual ~Storage() = default;
    /// Creates the file, and its directory, if missing.
    virtual Result<std::unique_ptr<AppendFile>> open(const std::string& path) = 0;
    /// The whole file; nullopt if there is none.
    virtual Result<std::optional<Bytes>> read_file(const std::string& path) = 0;
    /// Writes beside, renames over: a reader sees the old or the new content, never a mixture. After an error
    /// while writing the old content stands.
    virtual Status replace_file(const std::string& path, BytesView content, Durability durability) = 0;
    /// Also a directory, if it is empty. No error if there is none. Durable at once: a power loss does not
    /// bring the file back.
    virtual Status remove_file(const std::string& path) = 0;
    /// Names (not paths) of files and directories directly in `directory` ("" is the root), sorted.
    virtual Result<std::vector<std::string>> list(const std::string& directory) = 0;
};

}  // namespace highwater::node
