#include "harness/kafka/distribution.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

namespace highwater::harness {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string cache_directory() {
    const std::string cache = environment("XDG_CACHE_HOME");
    return (cache.empty() ? environment("HOME") + "/.cache" : cache) + "/highwater";
}

/// In the order of the names' bytes, as scripts/kafka.sh has them: an archive of classes is bound to it.
std::vector<std::string> jars_in(const std::string& directory) {
    std::vector<std::string> jars;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
        if (entry.path().extension() == ".jar") jars.push_back(entry.path().string());
    }
    std::sort(jars.begin(), jars.end());
    return jars;
}

/// "4.3.1" of …/kafka-clients-4.3.1.jar; "": there is no such jar.
std::string version_of(const std::vector<std::string>& jars) {
    constexpr std::string_view kBegin = "kafka-clients-";
    constexpr std::string_view kEnd = ".jar";
    for (const std::string& jar : jars) {
        const std::string name = fs::path(jar).filename().string();
        if (name.starts_with(kBegin) && name.find("-test") == std::string::npos)
            return name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
    }
    return "";
}

/// The file itself: what a process in /proc is known by.
std::string real_path(const std::string& path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    return error ? path : real.string();
}

}  // namespace

std::string find_java() {
    const std::string home = environment("JAVA_HOME");
    if (!home.empty() && ::access((home + "/bin/java").c_str(), X_OK) == 0)
        return real_path(home + "/bin/java");
    std::string path = environment("PATH");
    while (!path.empty()) {
        const std::size_t colon = path.find(':');
        const std::string file = path.substr(0, colon) + "/java";
        if (::access(file.c_str(), X_OK) == 0) return real_path(file);
        path.erase(0, colon == std::string::npos ? path.size() : colon + 1);
    }
    return "";
}

Result<KafkaVersion> KafkaVersion::parse(const std::string& text) {
    KafkaVersion version;
    version.text = text;
    const char* const end = text.data() + text.size();
    const auto major = std::from_chars(text.data(), end, version.major);
    if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.')
        return failure(fmt::format("'{}' is no version of Kafka", text));
    const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
    if (minor.ec != std::errc{} || (minor.ptr != end && *minor.ptr != '.' && *minor.ptr != '-'))
        return failure(fmt::format("'{}' is no version of Kafka", text));
    return version;
}

Result<KafkaDistribution> KafkaDistribution::find(const std::string& what) {
    KafkaDistribution found;
    const bool is_path = what.find('/') != std::string::npos;
    const std::string directory = is_path ? what : fmt::format("{}/kafka-{}", cache_directory(), what);
    if (is_path) {
        found.jars = jars_in(directory + "/libs");
        if (found.jars.empty())
            return failure(fmt::format("{}/libs: no Kafka distribution, it has no jars", directory));
        const std::string text = version_of(found.jars);
        if (text.empty())
            return failure(fmt::format("{}/libs: no kafka-clients jar, which names the version", directory));
        auto version = KafkaVersion::parse(text);
        if (!version) return failure(directory, version.error());
        found.version = std::move(*version);
    } else {
        auto version = KafkaVersion::parse(what);
        if (!version) return tl::make_unexpected(version.error());
        found.version = std::move(*version);
        if (::access((directory + "/complete").c_str(), R_OK) != 0)
            return failure(
                fmt::format("Apache Kafka {} is not on this machine: scripts/dev kafka {}", what, what));
        found.jars = jars_in(directory);
        const std::string archive = directory + "/classes.jsa";
        if (::access(archive.c_str(), R_OK) == 0) found.class_archive = archive;
        if (::access((directory + "/format/broker/meta.properties").c_str(), R_OK) == 0)
            found.format_template = directory + "/format";
    }
    found.java = find_java();
    if (found.java.empty())
        return failure(
            "no java in JAVA_HOME or PATH, and Kafka needs 17 or later: apt-get install "
            "default-jdk-headless");
    return found;
}

std::string KafkaDistribution::class_path() const {
    std::string text;
    for (const std::string& jar : jars) text += (text.empty() ? "" : ":") + jar;
    return text;
}

const char* KafkaDistribution::profile() const {
    if (version.at_least(4, 0)) return "kafka-4.x";
    return version.at_least(3, 7) ? "kafka-3.7+" : "kafka-2.x";
}

}  // namespace highwater::harness
