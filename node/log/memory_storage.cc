#include "node/log/memory_storage.h"

#include <fmt/format.h>

#include <set>

namespace highwater::node {

class MemoryAppendFile final : public AppendFile {
public:
    MemoryAppendFile(const MemoryStorage& storage, std::string path,
                     std::shared_ptr<MemoryStorage::Content> content)
        : storage_(storage), path_(std::move(path)), content_(std::move(content)) {}

    [[nodiscard]] std::uint64_t size() const override { return content_->bytes.size(); }

    Status append(BytesView bytes) override {
        if (const Status fault = storage_.check_fault(path_); !fault) return fault;
        content_->bytes.insert(content_->bytes.end(), bytes.begin(), bytes.end());
        return {};
    }

    [[nodiscard]] Result<Bytes> read(std::uint64_t position, std::size_t count) const override {
        if (position + count > content_->bytes.size()) {
            return failure(fmt::format("{}: bytes {}+{} are beyond its end {}", path_, position, count,
                                       content_->bytes.size()));
        }
        const auto begin = content_->bytes.begin() + static_cast<std::ptrdiff_t>(position);
        return Bytes(begin, begin + static_cast<std::ptrdiff_t>(count));
    }

    Status truncate(std::uint64_t size) override {
        if (const Status fault = storage_.check_fault(path_); !fault) return fault;
        content_->bytes.resize(size);
        return {};
    }

    Status flush() override {
        if (const Status fault = storage_.check_fault(path_); !fault) return fault;
        content_->flushed = content_->bytes;
        return {};
    }

private:
    const MemoryStorage& storage_;
    std::string path_;
    std::shared_ptr<MemoryStorage::Content> content_;
};

Status MemoryStorage::check_fault(const std::string& path) const {
    if (fault_) {
        if (const auto message = fault_(path)) return failure(path + ": " + *message);
    }
    return {};
}

Result<std::unique_ptr<AppendFile>> MemoryStorage::open(const std::string& path) {
    if (!files_.contains(path)) {
        if (const Status fault = check_fault(path); !fault) return tl::make_unexpected(fault.error());
    }
    auto& content = files_[path];
    if (!content) content = std::make_shared<Content>();
    return std::make_unique<MemoryAppendFile>(*this, path, content);
}

Result<std::optional<Bytes>> MemoryStorage::read_file(const std::string& path) {
    const auto found = files_.find(path);
    if (found == files_.end()) return std::optional<Bytes>();
    return std::optional<Bytes>(found->second->bytes);
}

Status MemoryStorage::replace_file(const std::string& path, BytesView bytes, Durability durability) {
    if (const Status fault = check_fault(path); !fault) return fault;
    auto& content = files_[path];
    if (!content) content = std::make_shared<Content>();
    content->bytes.assign(bytes.begin(), bytes.end());
    if (durability == Durability::Flushed) content->flushed = content->bytes;
    return {};
}

Status MemoryStorage::remove_file(const std::string& path) {
    if (const Status fault = check_fault(path); !fault) return fault;
    files_.erase(path);
    return {};
}

Result<std::vector<std::string>> MemoryStorage::list(const std::string& directory) {
    std::set<std::string> names;
    const std::string prefix = directory.empty() ? "" : directory + "/";
    for (const auto& [path, content] : files_) {
        if (!path.starts_with(prefix)) continue;
        const std::string rest = path.substr(prefix.size());
        names.insert(rest.substr(0, rest.find('/')));
    }
    return std::vector<std::string>(names.begin(), names.end());
}

void MemoryStorage::lose_unflushed() {
    for (auto entry = files_.begin(); entry != files_.end();) {
        Content& content = *entry->second;
        if (content.flushed) {
            content.bytes = *content.flushed;
            ++entry;
        } else {
            entry = files_.erase(entry);
        }
    }
}

}  // namespace highwater::node
