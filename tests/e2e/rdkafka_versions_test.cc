// The rdkafka client is compiled against Debian's library and runs with a newer one in its place as well: the
// one that confluent-kafka brings along, which scripts/dev installs for tests/conformance.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/e2e/program.h"

namespace highwater::test {
namespace {

namespace fs = std::filesystem;

/// Of the Python that scripts/dev installs for tests/conformance, of several the newest; "" if there is none.
std::string newer_library() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    const std::string root = cache != nullptr && *cache != '\0'
                                 ? std::string(cache)
                                 : std::string(home != nullptr ? home : "") + "/.cache";
    std::string found;
    fs::file_time_type newest = fs::file_time_type::min();
    std::error_code error;
    for (const auto& installed : fs::directory_iterator(root + "/highwater", error)) {
        if (!installed.path().filename().string().starts_with("conformance-python-")) continue;
        for (const auto& entry : fs::recursive_directory_iterator(installed.path() / "lib", error)) {
            const std::string name = entry.path().filename();
            if (!name.starts_with("librdkafka-") || name.find(".so") == std::string::npos) continue;
            if (const auto at = fs::last_write_time(installed.path(), error); at >= newest) {
                newest = at;
                found = entry.path();
            }
        }
    }
    return found;
}

class Preload {
public:
    explicit Preload(const std::string& library) { ::setenv("LD_PRELOAD", library.c_str(), 1); }
    ~Preload() { ::unsetenv("LD_PRELOAD"); }
    Preload(const Preload&) = delete;
    Preload& operator=(const Preload&) = delete;
};

TEST(RdkafkaVersions, ANewerLibraryInItsPlace) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer's runtime has to be the first library";
#endif
    const std::string library = newer_library();
    ASSERT_NE(library, "") << "scripts/dev test installs confluent-kafka";
    const TempDir dir;
    const Preload preload(library);
    const Ended doctor = highwater(dir, {"doctor", "--out", dir.path(), "--json"});
    const Json machine = doctor.json();
    std::string version;
    for (const Json& check : machine["checks"]) {
        if (check["name"] == "librdkafka") version = check["found"];
    }
    EXPECT_TRUE(version.starts_with("version 2.16.")) << version;
    const Ended ended = highwater(dir, {"run", "hidden-retries", "--set", "workload.idempotent=true", "--set",
                                        "workload.in_flight=5", "--out", dir.file("runs"), "--json"});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    const Json run = ended.json();
    ASSERT_TRUE(run.is_object());
    EXPECT_EQ(run["verdict"], "valid") << ended.err;
    EXPECT_GE(run["evidence"].value("hidden-retries", 0), 1);
}

}  // namespace
}  // namespace highwater::test
