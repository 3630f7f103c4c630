// `highwater doctor` on this machine, where the other end-to-end tests run: it must be able to run the main
// job.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tests/e2e/program.h"

namespace highwater::test {
namespace {

const Json& check_of(const Json& json, const std::string& name) {
    static const Json none;
    for (const Json& check : json["checks"]) {
        if (check["name"] == name) return check;
    }
    ADD_FAILURE() << "no check of " << name;
    return none;
}

/// One variable of the environment for one test.
class Environment {
public:
    Environment(const char* name, const std::string& value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        ::setenv(name, value.c_str(), 1);
    }
    ~Environment() { before_.empty() ? ::unsetenv(name_) : ::setenv(name_, before_.c_str(), 1); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

private:
    const char* name_;
    std::string before_;
};

TEST(Doctor, ThisMachineCanRunTheMainJob) {
    const TempDir dir;
    const Ended ended = highwater(dir, {"doctor", "--out", dir.file("runs"), "--json"});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    const Json json = ended.json();
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(json["ready"], true);
    std::set<std::string> names;
    for (const Json& check : json["checks"]) {
        names.insert(check["name"].get<std::string>());
        EXPECT_FALSE(check["found"].get<std::string>().empty()) << check;
        EXPECT_TRUE(check["ok"].get<bool>() || !check["needed"].get<bool>()) << check;
        EXPECT_TRUE(!check["ok"].get<bool>() || check["remedy"] == "") << check;
    }
    for (const char* name : {"cores", "memory", "disk", "loopback addresses", "signals", "ptrace", "cgroups",
                             "user namespaces", "/dev/net/tun", "Java 17", "Apache Kafka 4.3.1", "mvn",
                             "kcat", "librdkafka", "chromium", "clock"}) {
        EXPECT_EQ(names.count(name), 1U) << name;
    }
    EXPECT_EQ(lines_of(ended.err).size(), names.size() + 1);
    EXPECT_TRUE(check_of(json, "chromium")["ok"].get<bool>()) << "the page's tests need it";
}

TEST(Doctor, NamesTheCommandThatFetchesKafka) {
    const TempDir dir;
    const Environment nothing_fetched("XDG_CACHE_HOME", dir.path());
    const Json json = highwater(dir, {"doctor", "--out", dir.file("runs"), "--json"}).json();
    const Json& kafka = check_of(json, "Apache Kafka 4.3.1");
    EXPECT_FALSE(kafka["ok"].get<bool>());
    EXPECT_FALSE(kafka["needed"].get<bool>());
    EXPECT_EQ(kafka["remedy"], "scripts/dev kafka 4.3.1");
}

TEST(Doctor, MissingProgramsAreToldWithTheirCommand) {
    const TempDir dir;
    const Environment path("PATH", dir.path());
    const Environment home("JAVA_HOME", "");
    const Ended ended = highwater(dir, {"doctor", "--out", dir.path(), "--json"});
    EXPECT_EQ(ended.exit_code, 0) << "none of these is needed:\n" << ended.err;
    const Json json = ended.json();
    for (const char* name : {"Java 17", "mvn", "kcat", "chromium"}) {
        const Json& check = check_of(json, name);
        EXPECT_FALSE(check["ok"].get<bool>()) << name;
        EXPECT_TRUE(check["remedy"].get<std::string>().starts_with("apt-get install -y ")) << check;
    }
    EXPECT_NE(ended.err.find("missing  kcat"), std::string::npos) << ended.err;
}

TEST(Doctor, WithoutTheNodeNothingRuns) {
    const TempDir dir;
    const Environment node("HIGHWATER_NODE", dir.file("no-such-node"));
    const Ended ended = highwater(dir, {"doctor", "--out", dir.path(), "--json"});
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_EQ(ended.json()["ready"], false);
    EXPECT_NE(ended.err.find("CANNOT run here: highwater-node"), std::string::npos) << ended.err;
}

TEST(Doctor, OldJavaIsNotEnough) {
    const TempDir dir;
    const std::string java = dir.write("java", "#!/bin/sh\necho 'openjdk version \"1.8.0_392\"' >&2\n");
    ASSERT_EQ(std::system(("chmod +x '" + java + "'").c_str()), 0);
    const std::string before = std::getenv("PATH");
    const Environment path("PATH", dir.path() + ":" + before);
    const Environment home("JAVA_HOME", "");
    const Json json = highwater(dir, {"doctor", "--out", dir.path(), "--json"}).json();
    const Json& check = check_of(json, "Java 17");
    EXPECT_FALSE(check["ok"].get<bool>());
    EXPECT_NE(check["found"].get<std::string>().find("release 8"), std::string::npos) << check;
}

}  // namespace
}  // namespace highwater::test
