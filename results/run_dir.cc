#include "results/run_dir.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace highwater::results {

namespace fs = std::filesystem;

Result<RunDir> RunDir::create(const std::string& root, const std::string& scenario, std::uint64_t seed) {
    const auto now = std::chrono::system_clock::now();
    const std::string stamp =
        fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
    std::error_code error;
    fs::path path;
    // Two runs of one second and seed get distinct directories.
    for (int attempt = 0; attempt < 1000; ++attempt) {
        path = fs::path(root) / scenario /
               fmt::format("{}-{:x}{}", stamp, seed, attempt == 0 ? "" : fmt::format("-{}", attempt));
        fs::create_directories(path.parent_path(), error);
        if (!error && fs::create_directory(path, error)) break;
        if (error) return failure(fmt::format("{}: {}", path.string(), error.message()));
    }
    const fs::path latest = fs::path(root) / "latest";
    const fs::path fresh = fs::path(root) / fmt::format(".latest-{}", path.filename().string());
    fs::create_directory_symlink(fs::relative(path, root), fresh, error);
    if (!error) fs::rename(fresh, latest, error);
    if (error) return failure(fmt::format("{}: {}", latest.string(), error.message()));
    return RunDir(fs::absolute(path).string());
}

Status RunDir::write(const std::string& name, const std::string& content) const {
    const std::string path = file(name);
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << content;
    out.close();
    if (!out) return failure(fmt::format("{}: cannot be written", path));
    return {};
}

Status RunDir::prune_data() const {
    std::error_code error;
    const fs::path nodes = fs::path(path_) / "nodes";
    for (const fs::directory_entry& node : fs::directory_iterator(nodes, error)) {
        fs::remove_all(node.path() / "data", error);
        if (error) return failure(fmt::format("{}: {}", node.path().string(), error.message()));
    }
    return {};
}

}  // namespace highwater::results
