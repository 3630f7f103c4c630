// Reads a file into memory, or its lines one after another; the only IO of this room beside the scenario
// loader.
#include "model/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>

namespace highwater {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Error file_error(const std::string& path) { return {fmt::format("{}: {}", path, std::strerror(errno))}; }

/// Passes on complete lines and counts them; what a block cut off waits for the next.
class LineSplitter {
public:
    explicit LineSplitter(const LineFunction& line) : line_(line) {}

    Status feed(std::string_view block) {
        const std::size_t first = block.find('\n');
        if (first == std::string_view::npos) {
            rest_ += block;
            return {};
        }
        if (!rest_.empty()) {
            rest_ += block.substr(0, first);
            if (Status status = pass(rest_, true); !status) return status;
            rest_.clear();
            block.remove_prefix(first + 1);
        }
        for (;;) {
            const void* const found = block.empty() ? nullptr : std::memchr(block.data(), '\n', block.size());
            if (found == nullptr) break;
            const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - block.data());
            if (Status status = pass(block.substr(0, length), true); !status) return status;
            block.remove_prefix(length + 1);
        }
        rest_ = block;
        return {};
    }
    Status finish() { return rest_.empty() ? Status{} : pass(rest_, false); }

private:
    Status pass(std::string_view line, bool terminated) {
        ++number_;
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        if (line.find_first_not_of(" \t") == std::string_view::npos) return {};
        return line_(line, number_, terminated);
    }

    const LineFunction& line_;
    std::string rest_;
    std::size_t number_ = 0;
};

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
    const File file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) return tl::make_unexpected(file_error(path));
    std::string text;
    std::string block(kBlock, '\0');
    for (;;) {
        const std::size_t got = std::fread(block.data(), 1, block.size(), file.get());
        text.append(block.data(), got);
        if (got < block.size()) break;
    }
    // A directory opens but does not read.
    if (std::ferror(file.get()) != 0) return tl::make_unexpected(file_error(path));
    return text;
}

Status for_each_line(std::string_view text, const LineFunction& line) {
    LineSplitter lines(line);
    if (Status status = lines.feed(text); !status) return status;
    return lines.finish();
}

Status for_each_line_of_file(const std::string& path, const std::function<void(std::uint64_t)>& begin,
                             const LineFunction& line) {
    const File file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) return tl::make_unexpected(file_error(path));
    std::setvbuf(file.get(), nullptr, _IONBF, 0);  // blocks are large enough
    long size = 0;
    if (std::fseek(file.get(), 0, SEEK_END) == 0) {
        size = std::ftell(file.get());
        std::rewind(file.get());
    }
    begin(size > 0 && size < std::numeric_limits<long>::max() ? static_cast<std::uint64_t>(size) : 0);
    LineSplitter lines(line);
    std::string block(kBlock, '\0');
    for (;;) {
        const std::size_t got = std::fread(block.data(), 1, block.size(), file.get());
        if (Status status = lines.feed({block.data(), got}); !status) return status;
        if (got < block.size()) break;
    }
    if (std::ferror(file.get()) != 0) return tl::make_unexpected(file_error(path));
    return lines.finish();
}

}  // namespace highwater
