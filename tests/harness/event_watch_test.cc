// Goal: events in files are counted once, while the files grow, and none from before the strike.
#include "harness/event_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace highwater::harness {
namespace {

class EventWatchTest : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (std::filesystem::temp_directory_path() / "highwater-events-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        directory_ = name;
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    [[nodiscard]] std::string file(BrokerId id, const std::string& name) const {
        return directory_ + "/" + std::to_string(id) + name;
    }
    void append(const std::string& path, const std::string& text) const {
        std::ofstream(path, std::ios::app) << text;
    }
    EventWatch watch() {
        return EventWatch(
            {1, 2}, [this](BrokerId id) { return std::vector{file(id, "trace")}; },
            [this](BrokerId id) { return std::vector{file(id, "log")}; });
    }
    static TraceQuery query(const std::string& text) {
        auto parsed = parse_trace_query(text);
        EXPECT_TRUE(parsed.has_value());
        return *parsed;
    }

    std::string directory_;
};

TEST_F(EventWatchTest, TraceLinesAreMatchedByKindFieldsAndTime) {
    const std::string line =
        R"({"t":100,"n":1,"e":"isr-committed","p":"t-0","epoch":3,"isr":[1,2],"clean":true})";
    const auto matches = [&](const std::string& text, std::int64_t since) {
        return trace_line_matches(query(text), Instant{since}, line);
    };
    EXPECT_TRUE(matches("isr-committed", 100));
    EXPECT_TRUE(matches("isr-committed epoch=3 isr=[1,2] p=t-0 clean=true", 0));
    EXPECT_FALSE(matches("isr-committed", 101));
    EXPECT_FALSE(matches("isr-committed epoch=4", 0));
    EXPECT_FALSE(matches("isr-committed leader=1", 0));
    EXPECT_FALSE(matches("fence", 0));
    EXPECT_FALSE(trace_line_matches(query("fence"), Instant{0}, R"({"t":1,"e":"stop","reason":"fence"})"));
    EXPECT_FALSE(trace_line_matches(query("fence"), Instant{0}, R"({"t":1,"e":"fence)"));
}

TEST_F(EventWatchTest, TraceLinesCountWholeAndOnce) {
    EventWatch events = watch();
    const TraceQuery fence = query("fence");
    EXPECT_EQ(events.trace_lines(fence, {1, 2}, Instant{10}), 0) << "no file yet";
    append(file(1, "trace"), "{\"t\":5,\"e\":\"fence\"}\n{\"t\":11,\"e\":\"fence\"}\n{\"t\":12,\"e\":\"fe");
    EXPECT_EQ(events.trace_lines(fence, {1, 2}, Instant{10}), 1);
    append(file(1, "trace"), "nce\"}\n");
    EXPECT_EQ(events.trace_lines(fence, {1, 2}, Instant{10}), 2)
        << "a line cut short is read when it is whole";
    EXPECT_EQ(events.trace_lines(fence, {2}, Instant{10}), 0) << "the other process wrote none";
    EXPECT_EQ(events.trace_lines(fence, {1}, Instant{12}), 1) << "another moment is another question";
}

TEST_F(EventWatchTest, LogLinesCountFromTheFirstQuestion) {
    EventWatch events = watch();
    append(file(1, "log"), "one leader\n");
    const LogQuery leader{"leader", "leader"};
    EXPECT_EQ(events.log_lines(leader, {}, Instant{1}), 0) << "nobody held the role; the files are marked";
    append(file(1, "log"), "two leader\nnothing\nthree leader\n");
    append(file(2, "log"), "four leader\n");
    EXPECT_EQ(events.log_lines(leader, {1}, Instant{1}), 2);
    EXPECT_EQ(events.log_lines(leader, {1, 2}, Instant{1}), 3);
    EXPECT_EQ(events.log_lines(leader, {1, 2}, Instant{2}), 0) << "asked for the first time now";
}

}  // namespace
}  // namespace highwater::harness
