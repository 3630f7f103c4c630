// The whole source tree against the rules; and that the rules can fail.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/tidy/rules.h"

namespace highwater::tidy {
namespace {

namespace fs = std::filesystem;

using Lines = std::vector<std::string>;

TEST(Tidy, WholeTree) {
    const fs::path root = HW_SOURCE_DIR;
    std::size_t files = 0;
    std::size_t in_rooms = 0;
    for (const char* folder : {"base", "model", "wire", "node", "nemesis", "workloads", "checker", "results",
                               "harness", "tests"}) {
        ASSERT_TRUE(fs::is_directory(root / folder)) << folder;
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
            const std::string extension = entry.path().extension();
            if (extension != ".h" && extension != ".cc" && extension != ".def") continue;
            const std::string path = fs::relative(entry.path(), root).string();
            if (!path.starts_with("tests/")) {
                ++in_rooms;
                EXPECT_NE(room_of(path), "") << path << " is in no room";
            }
            std::ifstream in(entry.path());
            std::stringstream text;
            text << in.rdbuf();
            ASSERT_FALSE(in.fail()) << path;
            for (const std::string& breach : check_file(path, text.str())) ADD_FAILURE() << breach;
            ++files;
        }
    }
    // A walk that sees nothing proves nothing.
    EXPECT_GT(in_rooms, 100U);
    EXPECT_GT(files, in_rooms);
}

TEST(Tidy, RoomOfPath) {
    EXPECT_EQ(room_of("base/rng.h"), "base");
    EXPECT_EQ(room_of("node/log/segment.cc"), "node/log");
    EXPECT_EQ(room_of("node/bugs.def"), "node/log");
    EXPECT_EQ(room_of("harness/commands/run.cc"), "harness");
    EXPECT_EQ(room_of("node/other.h"), "");
    EXPECT_EQ(room_of("rng.h"), "");
}

TEST(Tidy, UnlistedEdgeFailsWithFileAndLine) {
    EXPECT_EQ(
        check_file("node/replica/isr.cc", "#include \"node/replica/isr.h\"\n#include \"model/fault.h\"\n"),
        Lines{"node/replica/isr.cc:2: node/replica may not use model (\"model/fault.h\")"});
    EXPECT_EQ(check_file("base/rng.cc", "#include \"wire/codec.h\"\n"),
              Lines{"base/rng.cc:1: base may not use wire (\"wire/codec.h\")"});
    EXPECT_EQ(check_file("harness/runner.cc", "# include \"node/server/server.h\"\n"),
              Lines{"harness/runner.cc:1: harness may not use node/server (\"node/server/server.h\")"});
    EXPECT_EQ(check_file("model/fault.cc", "#include \"fault.h\"\n"),
              Lines{"model/fault.cc:1: \"fault.h\" is in no room: includes start at the root"});
    EXPECT_EQ(check_file("checker/check.cc",
                         "#include \"checker/check.h\"\n#include \"model/op.h\"\n#include <map>\n"),
              Lines{});
}

TEST(Tidy, SocketsAndJsonStayInTheirPlaces) {
    EXPECT_EQ(check_file("workloads/client.cc", "#include <boost/asio.hpp>\n").size(), 1U);
    EXPECT_EQ(check_file("nemesis/relay.h", "// Relay.\n#pragma once\n#include <boost/asio/ip/tcp.hpp>\n"),
              Lines{"nemesis/relay.h:3: <boost/asio/ip/tcp.hpp> belongs into node/broker and .cc files of "
                    "nemesis and harness"});
    EXPECT_EQ(check_file("workloads/rdkafka_client.cc", "#include <librdkafka/rdkafka.h>\n"), Lines{});
    EXPECT_EQ(check_file("harness/runner.cc", "#include <librdkafka/rdkafka.h>\n"),
              Lines{"harness/runner.cc:1: <librdkafka/rdkafka.h> belongs into .cc files of workloads"});
    EXPECT_EQ(check_file("nemesis/relay.cc", "#include <boost/asio/ip/tcp.hpp>\n"), Lines{});
    EXPECT_EQ(check_file("model/op.h", "// Op.\n#pragma once\n#include <nlohmann/json.hpp>\n").size(), 1U);
    EXPECT_EQ(check_file("model/op.h", "// Op.\n#pragma once\n#include <toml++/toml.h>\n").size(), 1U);
    EXPECT_EQ(check_file("model/op.cc", "#include <nlohmann/json.hpp>\n"), Lines{});
}

TEST(Tidy, ThreadsOnlyWhereTheyMayBe) {
    EXPECT_EQ(check_file("node/server/server.cc", "std::mutex m;\n"),
              Lines{"node/server/server.cc:1: node/server has no threads: std::mutex"});
    EXPECT_EQ(check_file("checker/check.cc", "#include <thread>\n").size(), 1U);
    EXPECT_EQ(check_file("node/broker/shell.cc", "std::thread t;\n"), Lines{});
    EXPECT_EQ(check_file("model/op.cc", "int x;  // no std::thread here\n"), Lines{});
}

TEST(Tidy, LengthHeadersAndUnfinishedWork) {
    std::string lines;
    for (int i = 0; i < 600; ++i) lines += "int x;\n";
    EXPECT_EQ(check_file("base/long.cc", lines), Lines{});
    EXPECT_EQ(check_file("base/long.cc", lines + "int y;\n"),
              Lines{"base/long.cc:601: more than 600 lines: split it by rule"});
    EXPECT_EQ(check_file("tests/base/x.h", "#pragma once\n"),
              Lines{"tests/base/x.h:1: a header starts with a comment that says its job"});
    EXPECT_EQ(check_file("base/x.h", "// X.\nint x;\n"), Lines{"base/x.h:1: no #pragma once"});
    EXPECT_EQ(check_file("base/x.cc",
                         "// TO"
                         "DO: later\n")
                  .size(),
              1U);
    EXPECT_EQ(check_file("base/x.cc", "mkdtemp(\"x-XXXXXX\")\n"), Lines{});
}

}  // namespace
}  // namespace highwater::tidy
