// Goal: every deliberate bug of node/bugs.def is caught in a whole cluster, by the name of an invariant or
// anomaly, and the very same run of a correct node is silent. Method: one directed script per bug
// (bug_scripts.cc). docs/bugs.md is written from these runs: HIGHWATER_REWRITE=1 writes it, otherwise it is
// compared. What random faults find depends on the seeds and so on any change of the node: their column is
// measured only when the table is written.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/sim/bug_scripts.h"
#include "tests/sim/forked.h"
#include "tests/sim/seed_run.h"

namespace highwater::sim {
namespace {

/// A script must not hang on one set of message delays.
constexpr std::array<std::uint64_t, 5> kDelays = {1, 2, 3, 4, 5};
/// Of random faults.
constexpr std::uint64_t kSeeds = 100;
/// Seeds of which at least this many of a hundred find a bug must find it again.
constexpr int kOftenFound = 20;

const node::BugInfo& info_of(node::Bug bug) { return node::kBugs.at(static_cast<std::size_t>(bug)); }

node::Bugs only(node::Bug bug) {
    node::Bugs bugs;
    bugs.add(bug);
    return bugs;
}

const BugScript& script_of(node::Bug bug) { return bug_scripts().at(static_cast<std::size_t>(bug)); }

std::vector<std::string> ids() {
    std::vector<std::string> ids;
    for (const node::BugInfo& info : node::kBugs) ids.emplace_back(info.id);
    return ids;
}

// -- one bug
// ------------------------------------------------------------------------------------------------------

/// "broken|bug actions|detail"; in a child, as a bug may lead into an assertion of the node.
std::string outcome(const BugScript& script, const node::Bugs& bugs, std::uint64_t seed) {
    return in_child([&] {
        const ScriptResult result = play(script, bugs, seed);
        return fmt::format("{}|{}|{}", result.broken, result.bug_actions, result.detail.substr(0, 1000));
    });
}

/// As docs/bugs.md tells it: what is seen first, and whether the node told that its bug acted.
struct Caught {
    std::string broken;
    bool acted = false;
    std::string all;
};
Caught caught(const BugScript& script, const node::Bugs& bugs, std::uint64_t seed) {
    const std::string all = outcome(script, bugs, seed);
    const std::size_t bar = all.find('|');
    return {all.substr(0, bar), bar != std::string::npos && all.compare(bar, 3, "|0|") != 0, all};
}

class BugCaught : public testing::TestWithParam<std::string> {};

TEST_P(BugCaught, AndACorrectNodeIsSilentInTheSameRun) {
    const Result<node::Bugs> named = node::Bugs::parse(GetParam());
    ASSERT_TRUE(named.has_value());
    const BugScript& script = script_of(named->list().at(0).bug);
    for (const std::uint64_t seed : kDelays) {
        const Caught broken = caught(script, only(script.bug), seed);
        EXPECT_EQ(broken.broken, script.broken) << seed << ": " << broken.all;
        EXPECT_TRUE(broken.acted) << seed << ": " << broken.all;
        EXPECT_EQ(outcome(script, {}, seed), "|0|") << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Each, BugCaught, testing::ValuesIn(ids()), [](const auto& of) { return of.param; });

TEST(BugScripts, AreOneForEachBugInItsOrder) {
    ASSERT_EQ(bug_scripts().size(), node::kBugs.size());
    for (std::size_t i = 0; i < node::kBugs.size(); ++i)
        EXPECT_EQ(bug_scripts().at(i).bug, node::kBugs.at(i).bug) << node::kBugs.at(i).name;
}

// -- seeds
// --------------------------------------------------------------------------------------------------------

bool seed_finds(node::Bug bug, std::uint64_t seed) {
    return !in_child([&] { return run_seed(seed, only(bug)).broken; }).empty();
}

std::string measured(node::Bug bug) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) found += seed_finds(bug, seed) ? 1 : 0;
    return fmt::format("{} of {}", found, kSeeds);
}

// -- docs/bugs.md
// -------------------------------------------------------------------------------------------------

const std::string kDocument = HW_SOURCE_DIR "/docs/bugs.md";
const std::string kHeader =
    "| id | name | what the node does | origin | directed run | acts | seen first | seeds |";

std::string read_document() {
    std::ifstream in(kDocument);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Where the table stands in the document: from its header to the first line that is none of its rows.
struct Span {
    std::size_t begin = std::string::npos;
    std::size_t end = 0;
};
Span find_table(const std::string& document) {
    Span span{document.find(kHeader), document.size()};
    if (span.begin == std::string::npos) return span;
    span.end = span.begin;
    while (span.end < document.size() && document[span.end] == '|') {
        const std::size_t newline = document.find('\n', span.end);
        span.end = newline == std::string::npos ? document.size() : newline + 1;
    }
    return span;
}

/// The last column by id.
std::map<std::string, std::string> known_seeds(const std::string& table) {
    std::map<std::string, std::string> seeds;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("| Z") || !line.ends_with(" |")) continue;
        const std::size_t begin = line.rfind("| ", line.size() - 3) + 2;
        seeds[line.substr(2, line.find(' ', 2) - 2)] = line.substr(begin, line.size() - 2 - begin);
    }
    return seeds;
}

std::string table_of(const std::map<std::string, std::string>& seeds) {
    std::string table = kHeader + "\n|---|---|---|---|---|---|---|---|\n";
    for (const BugScript& script : bug_scripts()) {
        const node::BugInfo& info = info_of(script.bug);
        const auto found = seeds.find(std::string(info.id));
        const Caught broken = caught(script, only(script.bug), kDelays.front());
        table += fmt::format("| {} | `{}` | {} | {} | `{}` | {} | {} | {} |\n", info.id, info.name,
                             info.mechanism, info.origin, script.name, broken.acted ? "yes" : "no",
                             broken.broken, found == seeds.end() ? "?" : found->second);
    }
    return table;
}

TEST(BugTable, IsWhatTheRunsSay) {
    const std::string document = read_document();
    const Span span = find_table(document);
    ASSERT_NE(span.begin, std::string::npos) << "docs/bugs.md has no table with this header: " << kHeader;
    const std::string written = document.substr(span.begin, span.end - span.begin);
    if (std::getenv("HIGHWATER_REWRITE") != nullptr) {
        std::map<std::string, std::string> seeds;
        for (const node::BugInfo& info : node::kBugs) seeds[std::string(info.id)] = measured(info.bug);
        std::ofstream(kDocument) << document.substr(0, span.begin) << table_of(seeds)
                                 << document.substr(span.end);
    } else {
        EXPECT_EQ(written, table_of(known_seeds(written))) << "HIGHWATER_REWRITE=1 writes docs/bugs.md anew";
    }
}

/// What the table says of seeds is not made up: a bug that many of them find is found again by one of them.
TEST(BugTable, SeedsThatFoundABugOftenFindItAgain) {
    const std::string document = read_document();
    const Span span = find_table(document);
    ASSERT_NE(span.begin, std::string::npos);
    const std::map<std::string, std::string> seeds =
        known_seeds(document.substr(span.begin, span.end - span.begin));
    int often = 0;
    for (const node::BugInfo& info : node::kBugs) {
        const auto cell = seeds.find(std::string(info.id));
        ASSERT_NE(cell, seeds.end()) << info.id;
        int found = -1;
        std::from_chars(cell->second.data(), cell->second.data() + cell->second.size(), found);
        ASSERT_EQ(cell->second, fmt::format("{} of {}", found, kSeeds)) << info.id;
        if (found < kOftenFound) continue;
        ++often;
        bool again = false;
        for (std::uint64_t seed = 0; seed < kSeeds && !again; ++seed) again = seed_finds(info.bug, seed);
        EXPECT_TRUE(again) << info.id;
    }
    EXPECT_GE(often, 10);
}

}  // namespace
}  // namespace highwater::sim
