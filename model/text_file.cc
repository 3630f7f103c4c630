// Reads a file into memory; the only IO of this room beside the scenario loader.
#include "model/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace highwater {

Result<std::string> read_text_file(const std::string& path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) return failure(fmt::format("{}: {}", path, std::strerror(errno)));
    std::string text;
    std::string block(std::size_t{1} << 18, '\0');
    for (;;) {
        const std::size_t got = std::fread(block.data(), 1, block.size(), file.get());
        text.append(block.data(), got);
        if (got < block.size()) break;
    }
    // A directory opens but does not read.
    if (std::ferror(file.get()) != 0) return failure(fmt::format("{}: {}", path, std::strerror(errno)));
    return text;
}

}  // namespace highwater
