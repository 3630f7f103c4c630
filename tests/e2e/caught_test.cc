// Goal: each deliberate bug of node/bugs.def makes a named scenario on real processes invalid within three
// runs, and the first sentence of the kind that is expected names brokers and the epoch, ISR or record.
// Method: `highwater run SCENARIO --seed k --bug ID`, k = 1, 2, 3, until it is invalid. docs/bugs.md has a
// row for each between its markers: HIGHWATER_REWRITE=1 writes the rows of the cases that run, with the
// sentence just seen (its numbers differ from run to run); every other run compares all columns but that one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>

#include "tests/e2e/program.h"

namespace highwater::test {
namespace {

constexpr int kRuns = 3;

struct Named {
    std::string_view name;
    std::string_view id;
};
#define HW_BUG(enumerator, name, id, origin, mechanism) Named{name, id},
constexpr auto kNamed = std::to_array<Named>({
#include "node/bugs.def"
});
#undef HW_BUG

/// By whom and as what a bug is caught. `words` stand in the sentence, in this order.
struct Case {
    std::string id;
    std::string scenario;
    std::string kind;
    std::vector<std::string> words;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> kCases = {
        {"Z01", "no-dirty-read", "AckQuorum", {"broker ", "acked offset", "epoch", "high watermark"}},
        {"Z02", "no-dirty-read", "hw-above-isr", {"broker ", "raised its high watermark", "epoch", "ISR"}},
        {"Z03",
         "shrink-request-held",
         "hw-above-isr",
         {"broker 1", "high watermark", "epoch", "log end offset of broker"}},
        {"Z04",
         "min-isr-rejection",
         "acked-below-min-isr",
         {"broker 1", "acked offset", "epoch", "ISR {1}", "below min ISR 2"}},
        {"Z05",
         "min-isr-rejection",
         "visible-under-min-isr",
         {"broker 1", "moved its high watermark", "epoch", "ISR {1}", "below min ISR 2"}},
        {"Z06", "no-dirty-read", "dirty-read", {"broker "}},
        {"Z07", "elected-with-a-tail", "StrongIsr", {"broker 2", "epoch 1", "broker 3", "lacks offset"}},
        {"Z10", "tail-is-no-copy", "WeakIsr", {"broker 2", "epoch 2", "broker 1", "lacks offset"}},
        {"Z11", "demoted-with-waiting-produce", "lost-committed", {"offset", "acked", "broker", "epoch"}},
        {"Z20", "one-round-behind", "unexplained-truncation", {"broker", "epoch"}},
        {"Z22",
         "returns-with-a-tail",
         "stuck",
         {"ISR of leader", "epoch", "broker 1 is outside", "of epoch 0 there", "at the leader"}},
        {"Z23", "returns-with-a-tail", "LogMatching", {"broker", "offset", "epoch", "broker", "epoch"}},
        {"Z24",
         "leader-flap",
         "stuck",
         {"ISR of leader 1", "epoch", "broker 2 is outside", "of epoch 2 there, of epoch 1 at the leader"}},
        {"Z28", "epoch-without-records", "stuck", {"ISR of leader 1", "epoch", "broker 2 is outside"}},
        {"Z40",
         "shrink-request-held",
         "StrongIsr",
         {"broker 1", "broker 3 of the ISR {1,2,3}", "lacks offset"}},
        {"Z41",
         "expand-answer-held",
         "StrongIsr",
         {"broker 1", "broker 3 of the ISR {1,2,3}", "lacks offset"}},
        {"Z42",
         "pending-isr-wiped",
         "MaximalIsrSuperset",
         {"leader 1", "counts with ISR", "the controller's ISR"}},
        {"Z43",
         "rejoin-behind",
         "CandidateCompleteness",
         {"broker 3", "taken into the ISR", "lacks", "epoch"}},
        {"Z44",
         "join-below-the-epoch-start",
         "CandidateCompleteness",
         {"broker 3", "taken into the ISR", "lacks"}},
        {"Z47", "former-leader-asks", "unclean-election", {"broker 1", "epoch 2", "outside the ISR"}},
        {"Z49",
         "wiped-rejoin",
         "CandidateCompleteness",
         {"broker 3", "taken into the ISR", "lacks", "epoch"}},
        {"Z52", "unclean-election", "unclean-election", {"broker", "epoch", "outside the ISR {1}"}},
        {"Z59",
         "last-leader-returns",
         "UncleanExclusion",
         {"broker 2", "registered anew", "stays in the ELR"}},
        {"Z60", "last-leader-returns", "FencedLeader", {"leader 3", "epoch", "ISR {3}", "a fenced broker"}},
    };
    return kCases;
}

// -- docs/bugs.md

const std::string kDocument = HW_SOURCE_DIR "/docs/bugs.md";
const std::string kBegin = "<!-- real processes: begin, written by e2e_tests -->\n";
const std::string kEnd = "<!-- real processes: end -->";
const std::string kHeader =
    "| id | name | scenario | seen as | its first sentence, in one run |\n|---|---|---|---|---|\n";

std::string fixed_columns(const Named& bug, const Case& expected) {
    return fmt::format("| {} | `{}` | `{}` | {} | ", bug.id, bug.name, expected.scenario, expected.kind);
}

/// The rows by id, without the newline.
std::map<std::string, std::string> rows_of(const std::string& document) {
    std::map<std::string, std::string> rows;
    const std::size_t begin = document.find(kBegin);
    const std::size_t end = document.find(kEnd);
    if (begin == std::string::npos || end == std::string::npos) return rows;
    for (const std::string& line : lines_of(document.substr(begin, end - begin))) {
        if (line.starts_with("| Z")) rows[line.substr(2, line.find(' ', 2) - 2)] = line;
    }
    return rows;
}

void write_row(const std::string& id, const std::string& row) {
    const std::string document = read_text(kDocument);
    std::map<std::string, std::string> rows = rows_of(document);
    rows[id] = row;
    const std::size_t begin = document.find(kBegin);
    const std::size_t end = document.find(kEnd);
    ASSERT_NE(begin, std::string::npos) << "docs/bugs.md has no line " << kBegin;
    ASSERT_NE(end, std::string::npos) << "docs/bugs.md has no line " << kEnd;
    std::string table = kHeader;
    for (const auto& [key, text] : rows) table += text + "\n";
    std::ofstream(kDocument) << document.substr(0, begin) << kBegin << table << document.substr(end);
}

// -- one bug

std::optional<std::string> first_sentence(const std::string& text, const std::string& kind) {
    for (const std::string& line : lines_of(text)) {
        if (line.starts_with("  " + kind + ": ")) return line.substr(kind.size() + 4);
    }
    return std::nullopt;
}

void expect_words(const std::string& sentence, const std::vector<std::string>& words) {
    std::size_t at = 0;
    for (const std::string& word : words) {
        at = sentence.find(word, at);
        ASSERT_NE(at, std::string::npos) << "no '" << word << "' (in this order) in: " << sentence;
        at += word.size();
    }
}

class Caught : public testing::TestWithParam<std::size_t> {};

TEST_P(Caught, IsInvalidWithinThreeRuns) {
    const Named& bug = kNamed.at(GetParam());
    const Case& expected = cases().at(GetParam());
    ASSERT_EQ(expected.id, bug.id);
    const TempDir dir;
    std::string said;
    for (int seed = 1; seed <= kRuns; ++seed) {
        const Ended run = highwater(dir, {"run", expected.scenario, "--seed", std::to_string(seed), "--bug",
                                          expected.id, "--out", dir.file("runs"), "--json"});
        const Json json = run.json();
        ASSERT_TRUE(json.is_object()) << run.err;
        said += run.err;
        if (json["verdict"] != "invalid" || !contains(json["violations"], expected.kind)) continue;
        EXPECT_EQ(run.exit_code, 1);
        const auto sentence = first_sentence(run.err, expected.kind);
        ASSERT_TRUE(sentence) << run.err;
        expect_words(*sentence, expected.words);
        if (std::getenv("HIGHWATER_REWRITE") != nullptr)
            write_row(expected.id, fixed_columns(bug, expected) + *sentence + " |");
        return;
    }
    FAIL() << expected.scenario << " never was invalid by " << expected.kind << ":\n" << said;
}

INSTANTIATE_TEST_SUITE_P(Bugs, Caught, testing::Range<std::size_t>(0, kNamed.size()),
                         [](const auto& of) { return std::string(kNamed.at(of.param).id); });

/// The directed scenarios that are there for these bugs say nothing of a correct node.
class Silent : public testing::TestWithParam<std::string> {};

TEST_P(Silent, IsValidWithoutABug) {
    const TempDir dir;
    const Ended run = run_scenario(dir, GetParam());
    const Json json = run.json();
    ASSERT_TRUE(json.is_object()) << run.err;
    EXPECT_EQ(json["verdict"], "valid") << run.err;
    EXPECT_TRUE(json["violations"].empty()) << run.err;
}

INSTANTIATE_TEST_SUITE_P(Directed, Silent,
                         testing::Values("demoted-with-waiting-produce", "shrink-request-held",
                                         "expand-answer-held", "rejoin-behind", "wiped-rejoin",
                                         "former-leader-asks", "elected-with-a-tail", "tail-is-no-copy",
                                         "returns-with-a-tail", "leader-flap", "epoch-without-records",
                                         "join-below-the-epoch-start"),
                         [](const auto& of) {
                             std::string name = of.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(CaughtTable, HasARowForEveryBug) {
    ASSERT_EQ(cases().size(), kNamed.size());
    const std::map<std::string, std::string> rows = rows_of(read_text(kDocument));
    EXPECT_EQ(rows.size(), kNamed.size());
    for (std::size_t i = 0; i < kNamed.size(); ++i) {
        const auto row = rows.find(std::string(kNamed.at(i).id));
        ASSERT_NE(row, rows.end()) << kNamed.at(i).id << ": HIGHWATER_REWRITE=1 writes docs/bugs.md";
        EXPECT_TRUE(row->second.starts_with(fixed_columns(kNamed.at(i), cases().at(i)))) << row->second;
    }
}

}  // namespace
}  // namespace highwater::test
