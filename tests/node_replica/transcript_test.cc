// Every file of testdata is one rule, told as an interaction with replicas (bench.h has the commands).
#include "transcript.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "bench.h"

namespace highwater::node {
namespace {

std::vector<std::string> transcript_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(HW_TEST_DATA)) {
        if (entry.path().extension() == ".txt") names.push_back(entry.path().stem());
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

class TranscriptTest : public testing::TestWithParam<std::string> {};

TEST_P(TranscriptTest, IsAsExpected) {
    Bench bench;
    check_transcript(std::string(HW_TEST_DATA) + "/" + GetParam() + ".txt",
                     [&](const std::vector<std::string>& commands) { return bench.run(commands); });
}

INSTANTIATE_TEST_SUITE_P(Rules, TranscriptTest, testing::ValuesIn(transcript_names()), test_name);

TEST(TranscriptFormat, RoundTrips) {
    const std::string text = "# why\nnew A\nstate A\n----\nout\n\n# end\n";
    const Result<Transcript> parsed = parse_transcript(text);
    ASSERT_TRUE(parsed.has_value());
    ASSERT_EQ(parsed->blocks.size(), 1U);
    EXPECT_EQ(parsed->blocks[0].line, 2);
    EXPECT_EQ(parsed->blocks[0].commands, (std::vector<std::string>{"new A", "state A"}));
    EXPECT_EQ(parsed->blocks[0].expected, "out\n");
    EXPECT_EQ(format_transcript(*parsed), text);
}

TEST(TranscriptFormat, RefusesHalfBlocks) {
    EXPECT_FALSE(parse_transcript("new A\n").has_value());
    EXPECT_FALSE(parse_transcript("new A\n\n----\n").has_value());
    EXPECT_FALSE(parse_transcript("----\nout\n").has_value());
}

TEST(TranscriptFormat, UnknownCommandsAndWordsAreErrors) {
    Bench bench;
    EXPECT_NE(bench.run({"frobnicate A"}).find("error: "), std::string::npos);
    EXPECT_NE(bench.run({"new A", "tick A colour=blue"}).find("error: "), std::string::npos);
}

}  // namespace
}  // namespace highwater::node
