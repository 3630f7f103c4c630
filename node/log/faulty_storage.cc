#include "node/log/faulty_storage.h"

#include <algorithm>
#include <utility>

namespace highwater::node {
namespace {

using State = FaultyStorage::State;
using Call = FaultyStorage::Call;

class FaultyFile final : public AppendFile {
public:
    FaultyFile(std::shared_ptr<State> state, std::string path, std::unique_ptr<AppendFile> inner)
        : state_(std::move(state)), path_(std::move(path)), inner_(std::move(inner)), size_(inner_->size()) {}

    [[nodiscard]] std::uint64_t size() const override { return size_; }

    Status append(BytesView bytes) override {
        // As file_storage: what an append that failed left behind must not come to lie in the middle.
        if (inner_->size() != size_) {
            if (Status cut = truncate(size_); !cut) return cut;
        }
        std::uint64_t passed = 0;
        const DiskFault* fault = state_->meet(Call::Write, path_, bytes.size(), passed);
        if (Status written = inner_->append(bytes.first(passed)); !written) return written;
        if (fault == nullptr) {
            size_ += bytes.size();
            return {};
        }
        if (!fault->leftovers_stay) {
            if (Status cut = inner_->truncate(size_); !cut) return cut;
        }
        return failure(path_ + ": " + fault->error);
    }

    [[nodiscard]] Result<Bytes> read(std::uint64_t position, std::size_t count) const override {
        if (const Status fault = state_->check(Call::Read, path_, count); !fault)
            return tl::make_unexpected(fault.error());
        return inner_->read(position, count);
    }

    Status truncate(std::uint64_t size) override {
        if (Status fault = state_->check(Call::Write, path_, 0); !fault) return fault;
        Status cut = inner_->truncate(size);
        if (cut) size_ = size;
        return cut;
    }

    Status flush() override {
        if (Status fault = state_->check(Call::Flush, path_, 0); !fault) return fault;
        return inner_->flush();
    }

private:
    std::shared_ptr<State> state_;
    std::string path_;
    std::unique_ptr<AppendFile> inner_;
    std::uint64_t size_;
};

bool hits(const DiskFault& fault, Call call, const std::string& path) {
    if (!path.starts_with(fault.prefix)) return false;
    return call == Call::Read ? fault.reads : call == Call::Write ? fault.writes : fault.flushes;
}

}  // namespace

const DiskFault* FaultyStorage::State::meet(Call call, const std::string& path, std::uint64_t bytes,
                                            std::uint64_t& passed) {
    if (call == Call::Read) bytes_read += bytes;
    passed = bytes;
    for (DiskFault& fault : faults) {
        if (!hits(fault, call, path)) continue;
        if (fault.after_bytes > 0 && bytes <= fault.after_bytes) {
            fault.after_bytes -= bytes;
            continue;
        }
        passed = std::exchange(fault.after_bytes, 0);
        return &fault;
    }
    return nullptr;
}

Status FaultyStorage::State::check(Call call, const std::string& path, std::uint64_t bytes) {
    std::uint64_t passed = 0;
    if (const DiskFault* fault = meet(call, path, bytes, passed)) return failure(path + ": " + fault->error);
    return {};
}

Result<std::unique_ptr<AppendFile>> FaultyStorage::open(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const auto names = inner_.list(slash == std::string::npos ? "" : path.substr(0, slash));
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    if (names && !std::binary_search(names->begin(), names->end(), name)) {
        if (const Status fault = state_->check(Call::Write, path, 0); !fault)
            return tl::make_unexpected(fault.error());
    }
    auto file = inner_.open(path);
    if (!file) return file;
    return std::make_unique<FaultyFile>(state_, path, std::move(*file));
}

Result<std::optional<Bytes>> FaultyStorage::read_file(const std::string& path) {
    auto bytes = inner_.read_file(path);
    const std::uint64_t size = bytes && bytes->has_value() ? (*bytes)->size() : 0;
    if (const Status fault = state_->check(Call::Read, path, size); !fault)
        return tl::make_unexpected(fault.error());
    return bytes;
}

Status FaultyStorage::replace_file(const std::string& path, BytesView content, Durability durability) {
    if (Status fault = state_->check(Call::Write, path, content.size()); !fault) return fault;
    if (durability == Durability::Flushed) {
        if (Status fault = state_->check(Call::Flush, path, 0); !fault) return fault;
    }
    return inner_.replace_file(path, content, durability);
}

Status FaultyStorage::remove_file(const std::string& path) {
    if (Status fault = state_->check(Call::Write, path, 0); !fault) return fault;
    return inner_.remove_file(path);
}

Result<std::vector<std::string>> FaultyStorage::list(const std::string& directory) {
    if (const Status fault = state_->check(Call::Read, directory, 0); !fault)
        return tl::make_unexpected(fault.error());
    return inner_.list(directory);
}

}  // namespace highwater::node
