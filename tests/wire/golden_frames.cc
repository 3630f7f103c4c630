#include "golden_frames.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace highwater::test {
namespace {

std::string test_path(const std::string& file) {
    return std::string(HW_SOURCE_DIR) + "/tests/wire/testdata/" + file;
}

std::string gunzip(const std::string& path) {
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> in(gzopen(path.c_str(), "rb"), &gzclose);
    if (!in) throw std::runtime_error("cannot open " + path);
    std::string text;
    std::array<char, 1U << 16U> buffer{};
    for (;;) {
        const int got = gzread(in.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
        if (got < 0) throw std::runtime_error("cannot unpack " + path);
        if (got == 0) return text;
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

}  // namespace

std::vector<GoldenFrame> read_golden_frames(const std::string& file) {
    std::istringstream lines(gunzip(test_path(file)));
    std::vector<GoldenFrame> frames;
    std::string line;
    while (std::getline(lines, line)) {
        try {
            const auto json = nlohmann::json::parse(line);
            auto bytes = from_hex(json.at("hex").get<std::string>());
            if (!bytes) throw std::runtime_error(bytes.error().message);
            frames.push_back(
                {json.at("msg"), json.at("v"), std::move(*bytes), json.at("json"), json.at("src")});
        } catch (const std::exception& problem) {
            throw std::runtime_error(fmt::format("{} line {}: {}", file, frames.size() + 1, problem.what()));
        }
    }
    return frames;
}

Bytes read_test_file(const std::string& file) {
    std::ifstream in(test_path(file), std::ios::binary);
    if (!in) throw std::runtime_error("cannot open " + test_path(file));
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string to_base64(BytesView bytes) {
    constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k) group = (group << 8U) | (k < have ? bytes[i + k] : 0U);
        for (std::size_t k = 0; k < 4; ++k) {
            text.push_back(k <= have ? kAlphabet[(group >> (18U - 6U * static_cast<unsigned>(k))) & 0x3FU]
                                     : '=');
        }
    }
    return text;
}

}  // namespace highwater::test
