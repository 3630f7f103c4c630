// Storage on real files below one directory, with plain open, write, pread, ftruncate and fsync: what a
// disk-fault shim can intercept.
#pragma once

#include <string>

#include "node/log/storage.h"

namespace highwater::node {

class FileStorage final : public Storage {
public:
    /// `root` is created if missing. Errors of later calls name the path and the system's reason.
    explicit FileStorage(std::string root) : root_(std::move(root)) {}

    Result<std::unique_ptr<AppendFile>> open(const std::string& path) override;
    Result<std::optional<Bytes>> read_file(const std::string& path) override;
    Status replace_file(const std::string& path, BytesView content, Durability durability) override;
    Status remove_file(const std::string& path) override;
    Result<std::vector<std::string>> list(const std::string& directory) override;

private:
    [[nodiscard]] std::string full(const std::string& path) const { return root_ + "/" + path; }
    std::string root_;
};

}  // namespace highwater::node
