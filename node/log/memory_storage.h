// Storage in memory that knows what was flushed, so that a test can pull the plug. It outlives the server
// object: what a kill -9 leaves in the page cache is simply still there when the next server opens it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "node/log/storage.h"

namespace highwater::node {

class MemoryStorage final : public Storage {
public:
    Result<std::unique_ptr<AppendFile>> open(const std::string& path) override;
    Result<std::optional<Bytes>> read_file(const std::string& path) override;
    Status replace_file(const std::string& path, BytesView content, Durability durability) override;
    Status remove_file(const std::string& path) override;
    Result<std::vector<std::string>> list(const std::string& directory) override;

    /// Power loss: every file is as it was at its last flush; one that was never flushed is gone. A removed
    /// file stays removed.
    void lose_unflushed();
    /// Makes everything that writes to a path for which it returns a message fail with it: append, truncate,
    /// flush, replace, remove, and open of a file that does not exist yet. nullptr ends it.
    void fail_writes(std::function<std::optional<std::string>(const std::string& path)> fault) {
        fault_ = std::move(fault);
    }

private:
    friend class MemoryAppendFile;
    struct Content {
        Bytes bytes;
        std::optional<Bytes> flushed;
    };
    [[nodiscard]] Status check_fault(const std::string& path) const;

    // Shared with open files: a file that is still open writes into what a reopened storage reads.
    std::map<std::string, std::shared_ptr<Content>> files_;
    std::function<std::optional<std::string>(const std::string&)> fault_;
};

}  // namespace highwater::node
