// Every file of testdata/rules is one rule, told as an interaction with the controller (bench.h has the
// commands).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "bench.h"

namespace highwater::node {
namespace {

const std::string kRules = std::string(HW_TEST_DATA) + "/rules/";

std::vector<std::string> rule_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(kRules))
        names.push_back(entry.path().stem());
    std::sort(names.begin(), names.end());
    return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

class ControllerRule : public testing::TestWithParam<std::string> {};

TEST_P(ControllerRule, IsAsExpected) {
    ControllerBench bench;
    check_transcript(kRules + GetParam() + ".txt",
                     [&](const std::vector<std::string>& commands) { return bench.run(commands); });
}

INSTANTIATE_TEST_SUITE_P(Rules, ControllerRule, testing::ValuesIn(rule_names()), test_name);

TEST(ControllerBench, UnknownCommandsAndWordsAreErrors) {
    ControllerBench bench;
    EXPECT_NE(bench.run({"start colour=blue"}).find("error: "), std::string::npos);
    EXPECT_NE(bench.run({"start", "frobnicate"}).find("error: "), std::string::npos);
}

}  // namespace
}  // namespace highwater::node
