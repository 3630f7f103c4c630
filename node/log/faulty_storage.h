// A Storage that fails on demand in front of another one, files or memory: a disk that is full, cannot be
// read or does not flush. Told by path, so that one partition's disk fails while the others go on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/log/storage.h"

namespace highwater::node {

struct DiskFault {
    /// Paths that begin so; "" is the whole disk.
    std::string prefix;
    bool reads = false;
    /// Appends, truncations, replaced, removed and new files.
    bool writes = false;
    bool flushes = false;
    std::string error = "Input/output error";
    /// Of each kind, that many bytes still pass; a write that crosses the border leaves its first part.
    std::uint64_t after_bytes = 0;
    /// What a failed append left behind cannot be cut off either, until heal().
    bool leftovers_stay = false;
};

class FaultyStorage final : public Storage {
public:
    /// `inner` outlives this and every file opened through it.
    explicit FaultyStorage(Storage& inner) : state_(std::make_shared<State>()), inner_(inner) {}

    void inject(DiskFault fault) { state_->faults.push_back(std::move(fault)); }
    void heal() { state_->faults.clear(); }
    /// Of all files since the start.
    [[nodiscard]] std::uint64_t bytes_read() const { return state_->bytes_read; }

    Result<std::unique_ptr<AppendFile>> open(const std::string& path) override;
    Result<std::optional<Bytes>> read_file(const std::string& path) override;
    Status replace_file(const std::string& path, BytesView content, Durability durability) override;
    Status remove_file(const std::string& path) override;
    Result<std::vector<std::string>> list(const std::string& directory) override;

    enum class Call : std::uint8_t { Read, Write, Flush };
    struct State {
        std::vector<DiskFault> faults;
        std::uint64_t bytes_read = 0;

        /// The fault that this call meets, after `passed` of its `bytes`.
        const DiskFault* meet(Call call, const std::string& path, std::uint64_t bytes, std::uint64_t& passed);
        [[nodiscard]] Status check(Call call, const std::string& path, std::uint64_t bytes);
    };

private:
    // Shared with open files, which may outlive this.
    std::shared_ptr<State> state_;
    Storage& inner_;
};

}  // namespace highwater::node
