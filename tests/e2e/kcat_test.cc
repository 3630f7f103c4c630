// Golden case R34: a script that appends through kcat while no broker is there. What kcat reported of a
// record counts, and nothing else does: not that it ended, and not how.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "tests/e2e/program.h"

namespace highwater::test {
namespace {

struct Interval {
    std::int64_t from = 0;
    std::int64_t to = 0;
};

/// From when the kill was complete until the restart began, in the history's times.
std::optional<Interval> without_brokers(const std::vector<Json>& history) {
    Interval down;
    for (const Json& line : history) {
        if (line.value("op", "") != "fault") continue;
        if (line.value("id", "") == "down") down.from = line["t"];
        if (line.value("id", "") == "up" && down.to == 0) down.to = line.value("t0", std::int64_t{0});
    }
    return down.from > 0 && down.to > down.from ? std::optional(down) : std::nullopt;
}

TEST(Kcat, WithAllBrokersDownNothingIsTakenForAcknowledged) {
    const TempDir dir;
    const Ended ended = run_scenario(dir, "all-brokers-down");
    const Json run = ended.json();
    ASSERT_TRUE(run.is_object());
    EXPECT_EQ(run["verdict"], "valid") << ended.err;
    std::vector<Json> history;
    for (const std::string& line : lines_of(read_text(std::string(run["run_dir"]) + "/history.jsonl")))
        history.push_back(Json::parse(line));
    const auto down = without_brokers(history);
    ASSERT_TRUE(down) << "no time without brokers";
    int ok = 0;
    int meanwhile = 0;
    for (const Json& line : history) {
        if (line.value("op", "") != "produce") continue;
        if (line["status"] == "ok") ++ok;
        const std::int64_t ends = line["t"];
        if (ends <= down->from || ends > down->to) continue;
        ++meanwhile;
        EXPECT_NE(line["status"], "ok") << line.dump();
        EXPECT_NE(line.value("error", ""), "") << line.dump();
    }
    EXPECT_GE(ok, 6) << "before and after";
    EXPECT_GE(meanwhile, 6);
}

TEST(Kcat, WithoutTheProgramNothingIsStarted) {
    const TempDir dir;
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", dir.path().c_str(), 1);
    const Ended ended = run_scenario(dir, "all-brokers-down");
    ::setenv("PATH", path.c_str(), 1);
    EXPECT_EQ(ended.exit_code, 70) << ended.err;
    EXPECT_NE(ended.err.find("client kcat: "), std::string::npos) << ended.err;
    EXPECT_EQ(ended.err.find("cluster up"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace highwater::test
