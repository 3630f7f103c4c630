#include "node/log/file_storage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace highwater::node {
namespace {

tl::unexpected<Error> system_failure(const std::string& path, const char* call) {
    return failure(fmt::format("{}: {}: {}", path, call, std::strerror(errno)));
}

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&&) = delete;
    [[nodiscard]] int get() const { return fd_; }

private:
    int fd_;
};

Status write_all(int fd, BytesView bytes, const std::string& path) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return system_failure(path, "write");
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
}

Status read_exactly(int fd, std::uint64_t position, std::uint8_t* into, std::size_t count, const std::string& path) {
    for (std::size_t done = 0; done < count;) {
        const ssize_t got = ::pread(fd, into + done, count - done, static_cast<off_t>(position + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_failure(path, "pread");
        if (got == 0) return failure(fmt::format("{}: ends before byte {}", path, position + count));
        done += static_cast<std::size_t>(got);
    }
    return {};
}

Status create_parent(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
    if (error) return failure(fmt::format("{}: {}", path, error.message()));
    return {};
}

class PosixAppendFile final : public AppendFile {
public:
    PosixAppendFile(std::string path, Descriptor fd, std::uint64_t size)
        : path_(std::move(path)), fd_(std::move(fd)), size_(size) {}

    [[nodiscard]] std::uint64_t size() const override { return size_; }

    Status append(BytesView bytes) override {
        Status written = write_all(fd_.get(), bytes, path_);
        if (written) {
            size_ += bytes.size();
            return {};
        }
        // All or nothing: a half-written batch must not stay where the next one will go.
        if (const Status cut = truncate(size_); !cut) return failure(written.error().message, cut.error());
        return written;
    }

    [[nodiscard]] Result<Bytes> read(std::uint64_t position, std::size_t count) const override {
        if (position + count > size_) {
            return failure(fmt::format("{}: bytes {}+{} are beyond its end {}", path_, position, count, size_));
        }
        Bytes bytes(count);
        if (const Status got = read_exactly(fd_.get(), position, bytes.data(), count, path_); !got) {
            return tl::make_unexpected(got.error());
        }
        return bytes;
    }

    Status truncate(std::uint64_t size) override {
        if (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) return system_failure(path_, "ftruncate");
        size_ = size;
        return {};
    }

    Status flush() override {
        if (::fsync(fd_.get()) != 0) return system_failure(path_, "fsync");
        return {};
    }

private:
    std::string path_;
    Descriptor fd_;
    std::uint64_t size_;
};

}  // namespace

Result<std::unique_ptr<AppendFile>> FileStorage::open(const std::string& path) {
    const std::string name = full(path);
    if (const Status made = create_parent(name); !made) return tl::make_unexpected(made.error());
    Descriptor fd(::open(name.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (fd.get() < 0) return system_failure(name, "open");
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return system_failure(name, "fstat");
    const auto size = static_cast<std::uint64_t>(status.st_size);
    return std::make_unique<PosixAppendFile>(name, std::move(fd), size);
}

Result<std::optional<Bytes>> FileStorage::read_file(const std::string& path) {
    const std::string name = full(path);
    const Descriptor fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0) {
        if (errno == ENOENT) return std::optional<Bytes>();
        return system_failure(name, "open");
    }
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return system_failure(name, "fstat");
    Bytes bytes(static_cast<std::size_t>(status.st_size));
    if (const Status got = read_exactly(fd.get(), 0, bytes.data(), bytes.size(), name); !got) {
        return tl::make_unexpected(got.error());
    }
    return std::optional<Bytes>(std::move(bytes));
}

Status FileStorage::replace_file(const std::string& path, BytesView content, Durability durability) {
    const std::string name = full(path);
    const std::string beside = name + ".tmp";
    if (const Status made = create_parent(name); !made) return made;
    {
        const Descriptor fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
        if (fd.get() < 0) return system_failure(beside, "open");
        if (const Status written = write_all(fd.get(), content, beside); !written) return written;
        if (durability == Durability::Flushed && ::fsync(fd.get()) != 0) return system_failure(beside, "fsync");
    }
    if (::rename(beside.c_str(), name.c_str()) != 0) return system_failure(name, "rename");
    if (durability == Durability::Flushed) {
        const std::string parent = std::filesystem::path(name).parent_path().string();
        const Descriptor directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (directory.get() < 0 || ::fsync(directory.get()) != 0) return system_failure(parent, "fsync");
    }
    return {};
}

Status FileStorage::remove_file(const std::string& path) {
    const std::string name = full(path);
    if (::unlink(name.c_str()) != 0 && errno != ENOENT) return system_failure(name, "unlink");
    return {};
}

Result<std::vector<std::string>> FileStorage::list(const std::string& directory) {
    std::vector<std::string> names;
    std::error_code error;
    const std::filesystem::path path = directory.empty() ? root_ : full(directory);
    if (!std::filesystem::exists(path, error)) return names;
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
        names.push_back(entry.path().filename().string());
    }
    if (error) return failure(fmt::format("{}: {}", path.string(), error.message()));
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace highwater::node
