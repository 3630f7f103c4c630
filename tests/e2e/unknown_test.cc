// Runs that prove nothing are unknown and say why; what the user got wrong is exit 64 and one line.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/e2e/program.h"

namespace highwater::test {
namespace {

TEST(Unknown, NothingAppendedIsVacuous) {
    const TempDir dir;
    const Ended ended = run_scenario(dir, "min-isr-rejection", {"--set", "workload.rate=0/s"});
    const Json json = ended.json();
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_EQ(json["verdict"], "unknown");
    EXPECT_TRUE(contains(json["reasons"], "vacuous")) << ended.out;
}

TEST(Unknown, RoleThatNobodyHolds) {
    const TempDir dir;
    const Ended ended = run_scenario(dir, std::string(HW_TEST_DATA) + "/nobody-leads.toml");
    const Json json = ended.json();
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_EQ(json["verdict"], "unknown");
    EXPECT_TRUE(contains(json["reasons"], "target-unresolved")) << ended.out;
    EXPECT_NE(ended.err.find("'nobody' targets leader, which nobody held"), std::string::npos) << ended.err;
}

struct Mistake {
    const char* name;
    std::string scenario;                // text of a file; empty: `arguments` name one
    std::vector<std::string> arguments;  // after "run"; "@" is the file
    std::vector<std::string> told;       // what the line must contain
};
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

const char* const kHead = "name = \"x\"\n[cluster]\nbrokers = 3\n[[workload]]\nkind = \"append\"\n";

std::vector<Mistake> mistakes() {
    const std::string head = kHead;
    return {
        {"UnknownId",
         head + "[[fault]]\nkind = \"pause\"\ntarget = \"id:9\"\n",
         {"@"},
         {"scenario.toml", "target", "9", "1 to 3"}},
        {"MisspeltKey",
         head + "[[fault]]\nkind = \"pause\"\ntarget = \"leader\"\nuntill = \"leader == none\"\n",
         {"@"},
         {"scenario.toml:9", "untill"}},
        {"BrokenToml", head + "[[fault]\n", {"@"}, {"scenario.toml:6"}},
        {"MissingFile", "", {"nowhere/missing.toml"}, {"nowhere/missing.toml", "no such"}},
        {"UnknownScenario",
         "",
         {"unclean-elections"},
         {"unclean-elections", "unclean-election", "slow-follower"}},
        {"SetWithoutValue",
         "",
         {"unclean-election", "--set", "workload.rate"},
         {"--set", "workload.rate", "key=value"}},
        {"SetUnknownKey", "", {"unclean-election", "--set", "workload.rat=1/s"}, {"rat"}},
        {"SetBadValue", "", {"unclean-election", "--set", "workload.rate=quick"}, {"rate", "quick"}},
        {"UnknownSut", "", {"unclean-election", "--sut", "sun"}, {"--sut", "sun"}},
        {"UnknownBug", "", {"unclean-election", "--bug", "no_such_bug"}, {"no_such_bug"}},
    };
}

class BadInput : public ::testing::TestWithParam<Mistake> {};

TEST_P(BadInput, Exit64AndOneClearLine) {
    const TempDir dir;
    std::vector<std::string> arguments{"run"};
    for (const std::string& argument : GetParam().arguments) {
        arguments.push_back(argument == "@" ? dir.write("scenario.toml", GetParam().scenario) : argument);
    }
    arguments.insert(arguments.end(), {"--out", dir.file("runs"), "--json"});
    const Ended ended = highwater(dir, arguments);
    EXPECT_EQ(ended.exit_code, 64) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(lines_of(ended.err).size(), 1U) << ended.err;
    for (const std::string& part : GetParam().told)
        EXPECT_NE(ended.err.find(part), std::string::npos) << ended.err;
    EXPECT_FALSE(std::filesystem::exists(dir.file("runs"))) << "a run directory for a run that never was";
}

INSTANTIATE_TEST_SUITE_P(Each, BadInput, ::testing::ValuesIn(mistakes()),
                         [](const auto& mistake) { return std::string(mistake.param.name); });

}  // namespace
}  // namespace highwater::test
