// The directory of one run: runs/<scenario>/<time>-<seed>/, and the link runs/latest. docs/run-format.md.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace highwater::results {

class RunDir {
public:
    /// Creates the directory below `root` ("runs"). Errors: not writable.
    static Result<RunDir> create(const std::string& root, const std::string& scenario, std::uint64_t seed);
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
    /// Writes a whole file. Errors name the path.
    Status write(const std::string& name, const std::string& content) const;
    /// Removes what only a failed run needs: the replicas' data directories.
    Status prune_data() const;

private:
    explicit RunDir(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

}  // namespace highwater::results
