// Every bundled scenario ends as it expects on our own node without a bug: one seed each, with
// HIGHWATER_NIGHTLY=1 ten, and fifty of the random one. And what hw-leo-gap and the traps are about, to the
// number.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "tests/e2e/program.h"

namespace highwater::test {
namespace {

int seeds_of(const std::string& scenario) {
    if (std::getenv("HIGHWATER_NIGHTLY") == nullptr) return 1;
    return scenario == "chaos" ? 50 : 10;
}

/// Its key `sut`, if it has one, names it.
bool is_for_our_node(const std::string& file) {
    for (const std::string& line : lines_of(read_text(file))) {
        if (line.starts_with("sut = ")) return line.find("\"node\"") != std::string::npos;
    }
    return true;
}

std::vector<std::string> bundled() {
    std::vector<std::string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(HW_SOURCE_DIR) + "/harness/scenarios")) {
        if (is_for_our_node(entry.path().string())) names.push_back(entry.path().stem().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// `[expect] verdict` of a resolved scenario on our node.
std::string expected_verdict(const Json& scenario) {
    const Json expect = scenario.value("expect", Json::object());
    const auto verdict = expect.find("verdict");
    if (verdict == expect.end()) return "valid";
    if (verdict->is_string()) return *verdict;
    return verdict->value("node", "valid");
}

class EndsAsExpected : public ::testing::TestWithParam<std::string> {};

TEST_P(EndsAsExpected, WithoutABug) {
    const std::string& name = GetParam();
    for (int seed = 1; seed <= seeds_of(name); ++seed) {
        const TempDir dir;
        const Ended ended = highwater(
            dir, {"run", name, "--seed", std::to_string(seed), "--out", dir.file("runs"), "--json"});
        const Json run = ended.json();
        ASSERT_TRUE(run.is_object()) << "seed " << seed << "\n" << ended.err;
        const std::string run_dir = run["run_dir"];
        const Json scenario = Json::parse(read_text(run_dir + "/scenario.json"), nullptr, false);
        ASSERT_TRUE(scenario.is_object());
        EXPECT_EQ(run["verdict"], expected_verdict(scenario)) << "seed " << seed << "\n" << ended.err;
        if (HasFailure()) return;  // its directory is kept
    }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, EndsAsExpected, ::testing::ValuesIn(bundled()),
                         [](const auto& bundled_name) {
                             std::string name = bundled_name.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

/// What a run has left behind, parsed.
struct Left {
    Json run;
    std::vector<Json> history;
    std::vector<Json> trace;
    std::map<std::string, Json> faults;  // by id
};

std::vector<Json> parse_lines(const std::string& file) {
    std::vector<Json> lines;
    for (const std::string& line : lines_of(read_text(file))) lines.push_back(Json::parse(line));
    return lines;
}

void run_and_read(const TempDir& dir, const std::string& scenario, Left& left) {
    const Ended ended = run_scenario(dir, scenario);
    left.run = ended.json();
    ASSERT_TRUE(left.run.is_object()) << ended.err;
    ASSERT_EQ(left.run["verdict"], "valid") << ended.out << ended.err;
    const std::string run_dir = left.run["run_dir"];
    left.history = parse_lines(run_dir + "/history.jsonl");
    left.trace = parse_lines(run_dir + "/trace.jsonl");
    const Json schedule = Json::parse(read_text(run_dir + "/schedule.json"));
    for (const Json& fault : schedule["faults"]) left.faults[fault["id"]] = fault;
}

/// Last value of `field` in lines of this kind and node before `until`; -1: none.
std::int64_t last_of(const std::vector<Json>& trace, const std::string& kind, int node,
                     const std::string& field, std::int64_t until) {
    std::int64_t last = -1;
    for (const Json& line : trace) {
        if (line.value("t", std::int64_t{0}) >= until) break;
        if (line.value("e", "") == kind && line.value("n", 0) == node && line.contains(field))
            last = line[field].get<std::int64_t>();
    }
    return last;
}

TEST(HwLeoGap, ShowsTheNumbersOfTheArticle) {
    const TempDir dir;
    Left left;
    ASSERT_NO_FATAL_FAILURE(run_and_read(dir, "hw-leo-gap", left));
    constexpr int kLeader = 1;
    const std::int64_t thaw = left.faults.at("thaw")["requested"];
    const std::int64_t thawed = left.faults.at("thaw")["completed"];
    const std::int64_t gap = left.faults.at("gap")["completed"];
    EXPECT_GE(thaw - gap, 2'000'000'000) << "four checkpoints of 500 ms between";
    // Frozen: LEO 19, HW 16, checkpoint 16, and nobody left the ISR.
    EXPECT_EQ(last_of(left.trace, "append", kLeader, "leo", thaw), 19);
    EXPECT_EQ(last_of(left.trace, "hw", kLeader, "to", thaw), 16);
    EXPECT_EQ(last_of(left.trace, "checkpoint", kLeader, "hw", thaw), 16);
    for (const Json& line : left.trace) {
        EXPECT_NE(line.value("e", ""), "isr-proposed") << line;
        if (line.value("e", "") != "hw" || line.value("n", 0) != kLeader) continue;
        EXPECT_EQ(line["isr"], Json({1, 2, 3})) << line;
    }
    // And 19 once it has thawed. (Progress after heal is proven by one more record.)
    EXPECT_EQ(last_of(left.trace, "hw", kLeader, "to", thawed), 19);
    int acked_alone = 0;
    int seen_later = 0;
    for (const Json& operation : left.history) {
        const std::string op = operation.value("op", "");
        const std::int64_t offset = operation.value("offset", std::int64_t{-1});
        if (op == "produce" && offset >= 16 && offset < 19) {
            EXPECT_EQ(operation["acks"], 1) << operation;
            EXPECT_EQ(operation["status"], "ok") << operation;
            EXPECT_LT(operation["t"].get<std::int64_t>(), gap) << "acknowledged while the HW stood still";
            ++acked_alone;
        }
        if (op != "poll") continue;
        for (const Json& record : operation.value("records", Json::array())) {
            if (record[0] < 16 || record[0] >= 19) continue;
            EXPECT_GT(operation["t"].get<std::int64_t>(), thaw) << "read above the HW: " << operation;
            ++seen_later;
        }
    }
    EXPECT_EQ(acked_alone, 3);
    EXPECT_GE(seen_later, 3);
}

TEST(Traps, LossIsCountedAndExpected) {
    for (const std::string scenario : {"trap-rf1", "trap-min-isr-1"}) {
        const TempDir dir;
        Left left;
        ASSERT_NO_FATAL_FAILURE(run_and_read(dir, scenario, left));
        EXPECT_GE(left.run["anomalies"].value("expected-loss", 0), 1) << left.run;
        EXPECT_EQ(left.run["anomalies"].value("lost-committed", 0), 0) << left.run;
        EXPECT_TRUE(left.run["violations"].empty()) << left.run;
    }
}

}  // namespace
}  // namespace highwater::test
