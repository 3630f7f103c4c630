// Goal: the coordinator of groups, rule by rule. Each file in testdata is a dialogue with one.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/node_group/bench.h"

namespace highwater::node {
namespace {

class GroupTranscript : public ::testing::TestWithParam<std::string> {};

TEST_P(GroupTranscript, ReadsAsWritten) {
    GroupBench bench;
    check_transcript(std::string(HW_TEST_DATA) + "/" + GetParam() + ".txt",
                     [&](const std::vector<std::string>& commands) {
                         std::string output;
                         for (const std::string& command : commands) output += bench.run(command);
                         return output;
                     });
}

std::vector<std::string> transcripts() {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(HW_TEST_DATA)) {
        if (file.path().extension() == ".txt") names.push_back(file.path().stem().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

INSTANTIATE_TEST_SUITE_P(Groups, GroupTranscript, ::testing::ValuesIn(transcripts()), [](const auto& one) {
    std::string name = one.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

}  // namespace
}  // namespace highwater::node
