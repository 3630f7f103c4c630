// docs/protocol.md promises tests for each rule of the protocol: they exist.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace highwater::tidy {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
    std::ifstream in(path);
    EXPECT_TRUE(in) << path;
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

/// "Suite.Name" of every test that is written in the tree.
std::set<std::string> written_tests() {
    static const std::regex kTest(R"(\b(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\))");
    std::set<std::string> names;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(HW_SOURCE_DIR "/tests")) {
        if (entry.path().extension() != ".cc") continue;
        const std::string text = read(entry.path());
        for (std::sregex_iterator at(text.begin(), text.end(), kTest), end; at != end; ++at)
            names.insert((*at)[1].str() + "." + (*at)[2].str());
    }
    return names;
}

/// The data rows of the tables: rule, what holds, tests.
std::vector<std::vector<std::string>> rules() {
    std::vector<std::vector<std::string>> rows;
    std::istringstream in(read(HW_SOURCE_DIR "/docs/protocol.md"));
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("| ") || line.starts_with("| rule |")) continue;
        std::vector<std::string> cells;
        std::istringstream cut(line.substr(1));
        for (std::string cell; std::getline(cut, cell, '|');) cells.push_back(cell);
        rows.push_back(std::move(cells));
    }
    return rows;
}

TEST(ProtocolDoc, EveryRuleNamesTestsThatExist) {
    static const std::regex kQuoted("`([^`]+)`");
    const std::set<std::string> tests = written_tests();
    ASSERT_GT(rules().size(), 40U);
    for (const std::vector<std::string>& row : rules()) {
        ASSERT_EQ(row.size(), 3U) << row.front();
        EXPECT_TRUE(std::regex_search(row[2], kQuoted)) << row[0] << ": no test";
        for (std::sregex_iterator at(row[2].begin(), row[2].end(), kQuoted), end; at != end; ++at) {
            const std::string name = (*at)[1];
            const std::size_t slash = name.find('/');
            if (slash == std::string::npos)
                EXPECT_TRUE(tests.contains(name)) << row[0] << ": no test " << name;
            else
                EXPECT_TRUE(fs::exists(fs::path(HW_SOURCE_DIR "/tests") / name.substr(0, slash) / "testdata" /
                                       name.substr(slash + 1)))
                    << row[0] << ": no transcript " << name;
        }
    }
}

}  // namespace
}  // namespace highwater::tidy
