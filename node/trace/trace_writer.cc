#include "node/trace/trace_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "node/trace/trace_line.h"

namespace highwater::node {
namespace {

tl::unexpected<Error> system_failure(const std::string& path, const char* what) {
    return failure(fmt::format("trace file {}: {}: {}", path, what, std::strerror(errno)));
}

struct Tail {
    /// Offset after the last newline: everything behind it was cut short by a kill.
    std::uint64_t complete_size = 0;
    std::int32_t incarnation = 0;
};

std::int32_t incarnation_of(std::string_view line) {
    constexpr std::string_view kKey = "\"i\":";
    const std::size_t at = line.find(kKey);
    std::int32_t incarnation = 0;
    if (at != std::string_view::npos) {
        std::from_chars(line.data() + at + kKey.size(), line.data() + line.size(), incarnation);
    }
    return incarnation;
}

/// Looks at growing pieces of the end until one holds a whole last line.
Result<Tail> read_tail(int fd, std::uint64_t size, const std::string& path) {
    for (std::uint64_t length = std::min<std::uint64_t>(size, 4096); length > 0;
         length = std::min(size, length * 4)) {
        std::string end(length, '\0');
        const ssize_t got = ::pread(fd, end.data(), length, static_cast<off_t>(size - length));
        if (got != static_cast<ssize_t>(length)) return system_failure(path, "cannot read its end");
        const std::size_t newline = end.rfind('\n');
        const bool whole_file = length == size;
        if (newline == std::string::npos) {
            if (whole_file) return Tail{};
            continue;
        }
        const std::size_t before = newline == 0 ? std::string::npos : end.rfind('\n', newline - 1);
        if (before == std::string::npos && !whole_file) continue;
        const std::size_t start = before == std::string::npos ? 0 : before + 1;
        return Tail{size - length + newline + 1,
                    incarnation_of(std::string_view(end).substr(start, newline - start))};
    }
    return Tail{};
}

}  // namespace

Result<TraceWriter> TraceWriter::open(const std::string& path, BrokerId node, std::int32_t at_least) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) return system_failure(path, "cannot open");
    TraceWriter writer(fd, path, node, 1);
    struct stat info{};
    if (::fstat(fd, &info) != 0) return system_failure(path, "cannot stat");
    const auto size = static_cast<std::uint64_t>(info.st_size);
    const Result<Tail> tail = read_tail(fd, size, path);
    if (!tail) return tl::make_unexpected(tail.error());
    if (tail->complete_size < size && ::ftruncate(fd, static_cast<off_t>(tail->complete_size)) != 0) {
        return system_failure(path, "cannot remove its unfinished last line");
    }
    writer.incarnation_ = std::max(tail->incarnation + 1, at_least);
    return writer;
}

TraceWriter::~TraceWriter() {
    if (fd_ >= 0) ::close(fd_);
}

TraceWriter::TraceWriter(TraceWriter&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      node_(other.node_),
      incarnation_(other.incarnation_),
      sequence_(other.sequence_),
      buffer_(std::move(other.buffer_)) {}

TraceWriter& TraceWriter::operator=(TraceWriter&& other) noexcept {
    std::swap(fd_, other.fd_);
    path_ = std::move(other.path_);
    node_ = other.node_;
    incarnation_ = other.incarnation_;
    sequence_ = other.sequence_;
    buffer_ = std::move(other.buffer_);
    return *this;
}

Status TraceWriter::write(Instant at, const std::vector<Event>& events) {
    buffer_.clear();
    for (const Event& event : events)
        append_trace_line(buffer_, {at, node_, incarnation_, ++sequence_}, event);
    std::string_view left = buffer_;
    while (!left.empty()) {
        const ssize_t written = ::write(fd_, left.data(), left.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            return system_failure(path_, "cannot write");
        }
        left.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

}  // namespace highwater::node
