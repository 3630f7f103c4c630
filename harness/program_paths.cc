#include "harness/program_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace highwater::harness {
namespace {

namespace fs = std::filesystem;

fs::path program_dir() {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::current_path() : self.parent_path();
}

/// The build copies the scenarios beside the binary, so that no path of the source tree is compiled in.
fs::path scenario_dir() { return program_dir() / "scenarios"; }

}  // namespace

std::string node_program() {
    // Tests put a node of their own in its place.
    if (const char* given = std::getenv("HIGHWATER_NODE"); given != nullptr && *given != '\0') return given;
    return (program_dir() / "highwater-node").string();
}

std::vector<std::string> bundled_scenarios() {
    std::vector<std::string> paths;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(scenario_dir(), error)) {
        if (entry.path().extension() == ".toml") paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

Result<std::string> find_scenario(const std::string& name) {
    std::error_code error;
    if (name.find('/') != std::string::npos || name.ends_with(".toml") || name.ends_with(".json")) {
        if (fs::is_regular_file(name, error)) return name;
        return failure(fmt::format("{}: no such scenario file", name));
    }
    const fs::path bundled = scenario_dir() / (name + ".toml");
    if (fs::is_regular_file(bundled, error)) return bundled.string();
    std::string known;
    for (const std::string& path : bundled_scenarios()) {
        known += (known.empty() ? "" : ", ") + fs::path(path).stem().string();
    }
    return failure(fmt::format("no scenario is called '{}' (known: {})", name, known));
}

}  // namespace highwater::harness
