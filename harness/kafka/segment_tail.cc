#include "harness/kafka/segment_tail.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace highwater::harness {
namespace {

namespace fs = std::filesystem;

class File {
public:
    explicit File(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    [[nodiscard]] int fd() const { return fd_; }
    [[nodiscard]] std::optional<std::uint64_t> size() const {
        struct stat status{};
        if (fd_ < 0 || ::fstat(fd_, &status) != 0) return std::nullopt;
        return static_cast<std::uint64_t>(status.st_size);
    }

private:
    int fd_;
};

/// Empty if there is not as much.
Bytes read_at(int fd, std::uint64_t at, std::size_t size) {
    Bytes bytes(size);
    std::size_t done = 0;
    while (done < size) {
        const ssize_t got = ::pread(fd, bytes.data() + done, size - done, static_cast<off_t>(at + done));
        if (got <= 0) return {};
        done += static_cast<std::size_t>(got);
    }
    return bytes;
}

std::string segment_name(Offset base) { return fmt::format("{:020}.log", base); }

/// "": the directory has no segment.
std::string first_segment(const std::string& directory) {
    std::string first;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
        const std::string name = entry.path().filename().string();
        if (name.size() != segment_name(0).size() || !name.ends_with(".log")) continue;
        if (first.empty() || name < first) first = name;
    }
    return first;
}

}  // namespace

SegmentTail::SegmentTail(std::string directory, bool with_batches)
    : directory_(std::move(directory)), with_batches_(with_batches) {}

void SegmentTail::forget() {
    file_.clear();
    position_ = 0;
    last_at_.reset();
    last_header_.clear();
    log_end_.reset();
    epochs_.clear();
}

SegmentTail::Progress SegmentTail::poll() {
    Progress progress;
    const std::optional<Offset> before = log_end_;
    if (!file_.empty()) {
        const File file(directory_ + "/" + file_);
        const auto size = file.size();
        if (!size || !as_it_was(file.fd(), *size)) {
            forget();
            progress.cut = true;
        }
    }
    if (file_.empty()) {
        file_ = first_segment(directory_);
        if (!file_.empty()) log_end_ = std::stoll(file_);
    }
    if (!file_.empty()) read_on(progress);
    progress.changed = progress.cut || log_end_ != before;
    return progress;
}

bool SegmentTail::as_it_was(int fd, std::uint64_t size) const {
    if (size < position_) return false;
    return !last_at_ || read_at(fd, *last_at_, last_header_.size()) == last_header_;
}

void SegmentTail::read_on(Progress& progress) {
    do {
        const File file(directory_ + "/" + file_);
        const auto size = file.size();
        while (size && take_batch(file.fd(), *size, progress)) {
        }
    } while (next_segment());
}

bool SegmentTail::take_batch(int fd, std::uint64_t size, Progress& progress) {
    if (position_ + wire::kBatchHeaderSize > size) return false;
    Bytes bytes = read_at(fd, position_, wire::kBatchHeaderSize);
    const auto header = wire::read_batch_header(bytes);
    // Files may be longer than what is written: nothing but zeros there.
    if (!header || header->magic != 2 || position_ + header->size() > size) return false;
    last_at_ = position_;
    last_header_ = bytes;
    if (with_batches_) progress.batches.push_back(read_at(fd, position_, header->size()));
    position_ += header->size();
    log_end_ = header->next_offset();
    if (epochs_.empty() || epochs_.back().epoch < header->leader_epoch)
        epochs_.push_back({.offset = header->base_offset, .epoch = header->leader_epoch});
    return true;
}

bool SegmentTail::next_segment() {
    const std::string next = segment_name(log_end_.value_or(0));
    struct stat status{};
    if (next == file_ || ::stat((directory_ + "/" + next).c_str(), &status) != 0) return false;
    file_ = next;
    position_ = 0;
    last_at_.reset();
    last_header_.clear();
    return true;
}

}  // namespace highwater::harness
