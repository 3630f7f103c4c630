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

Status read_exactly(int fd, std::uint64_t position, std::uint8_t* into, std::size_t count,
                    const std::string& path) {
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

/// `path`'s directory below `root`, the one above, … and `root` itself: what names the file from the root on.
std::vector<std::string> directories_of(const std::string& root, std::string path) {
    std::vector<std::string> directories;
    while (!path.empty()) {
        const std::size_t slash = path.rfind('/');
        path.resize(slash == std::string::npos ? 0 : slash);
        directories.push_back(path.empty() ? root : root + "/" + path);
    }
    return directories;
}

/// A new or renamed file survives a power loss only with the directories that name it.
Status flush_directories(const std::vector<std::string>& directories) {
    for (const std::string& directory : directories) {
        const Descriptor fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (fd.get() < 0) return system_failure(directory, "open");
        if (::fsync(fd.get()) != 0) return system_failure(directory, "fsync");
    }
    return {};
}

class PosixAppendFile final : public AppendFile {
public:
    PosixAppendFile(std::string path, Descriptor fd, std::uint64_t size, std::vector<std::string> directories)
        : path_(std::move(path)),
          fd_(std::move(fd)),
          size_(size),
          unflushed_directories_(std::move(directories)) {}

    [[nodiscard]] std::uint64_t size() const override { return size_; }

    Status append(BytesView bytes) override {
        // Left by an append that failed and could not be cut off: these bytes must not go after it.
        if (tail_to_cut_) {
            if (Status cut = truncate(size_); !cut) return cut;
        }
        Status written = write_all(fd_.get(), bytes, path_);
        if (written) {
            size_ += bytes.size();
            return {};
        }
        tail_to_cut_ = true;
        if (const Status cut = truncate(size_); !cut) return failure(written.error().message, cut.error());
        return written;
    }

    [[nodiscard]] Result<Bytes> read(std::uint64_t position, std::size_t count) const override {
        if (position + count > size_) {
            return failure(
                fmt::format("{}: bytes {}+{} are beyond its end {}", path_, position, count, size_));
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
        tail_to_cut_ = false;
        return {};
    }

    Status flush() override {
        if (::fsync(fd_.get()) != 0) return system_failure(path_, "fsync");
        if (Status flushed = flush_directories(unflushed_directories_); !flushed) return flushed;
        unflushed_directories_.clear();
        return {};
    }

private:
    std::string path_;
    Descriptor fd_;
    std::uint64_t size_;
    bool tail_to_cut_ = false;
    /// Until the first flush: the file may be new.
    std::vector<std::string> unflushed_directories_;
};

/// The content of a file that is not there yet under its own name.
Status write_new(const std::string& path, BytesView content, Durability durability) {
    const Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (fd.get() < 0) return system_failure(path, "open");
    if (Status written = write_all(fd.get(), content, path); !written) return written;
    if (durability == Durability::Flushed && ::fsync(fd.get()) != 0) return system_failure(path, "fsync");
    return {};
}

}  // namespace

Result<std::unique_ptr<AppendFile>> FileStorage::open(const std::string& path) {
    const std::string name = full(path);
    if (const Status made = create_parent(name); !made) return tl::make_unexpected(made.error());
    Descriptor fd(::open(name.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (fd.get() < 0) return system_failure(name, "open");
    struct stat status{};
    if (::fstat(fd.get(), &status) != 0) return system_failure(name, "fstat");
    const auto size = static_cast<std::uint64_t>(status.st_size);
    return std::make_unique<PosixAppendFile>(name, std::move(fd), size, directories_of(root_, path));
}

Result<std::optional<Bytes>> FileStorage::read_file(const std::string& path) {
    const std::string name = full(path);
    const Descriptor fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0) {
        if (errno == ENOENT) return std::optional<Bytes>();
        return system_failure(name, "open");
    }
    struct stat status{};
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
    Status done = write_new(beside, content, durability);
    if (done && ::rename(beside.c_str(), name.c_str()) != 0) done = system_failure(name, "rename");
    if (!done) {
        ::unlink(beside.c_str());  // a leftover is harmless, the next call writes over it
        return done;
    }
    if (durability == Durability::Flushed) return flush_directories(directories_of(root_, path));
    return {};
}

Status FileStorage::remove_file(const std::string& path) {
    const std::string name = full(path);
    if (::unlink(name.c_str()) != 0) {
        if (errno == ENOENT) return {};
        const bool directory = errno == EISDIR || errno == EPERM;
        if (!directory) return system_failure(name, "unlink");
        if (::rmdir(name.c_str()) != 0) return system_failure(name, "rmdir");
    }
    return flush_directories({std::filesystem::path(name).parent_path().string()});
}

Result<std::vector<std::string>> FileStorage::list(const std::string& directory) {
    std::vector<std::string> names;
    const std::string path = directory.empty() ? root_ : full(directory);
    std::error_code error;
    std::filesystem::directory_iterator entry(path, error);
    if (error == std::errc::no_such_file_or_directory) return names;
    while (!error && entry != std::filesystem::directory_iterator()) {
        names.push_back(entry->path().filename().string());
        entry.increment(error);
    }
    if (error) return failure(fmt::format("{}: {}", path, error.message()));
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace highwater::node
