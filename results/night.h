// A night of runs as it is handed on: one sentence, a page of Markdown, JUnit's XML, JSON. Never judges a
// run: it compares the verdicts that runs gave with those that were expected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace highwater::results {

/// How one run, comparison or canary ended.
struct NightRun {
    enum class Kind : std::uint8_t { Run, Compare, Canary };
    Kind kind = Kind::Run;
    std::string scenario;
    std::uint64_t seed = 0;
    /// "valid", "invalid", "unknown", or "harness-fault": the program itself failed.
    std::string verdict;
    /// "valid" unless the scenario expects another; "invalid" of a canary.
    std::string expected = "valid";
    double seconds = 0;
    std::vector<std::string> violations;
    std::vector<std::string> reasons;
    /// What it showed, in one sentence.
    std::string sentence;
    /// The command that makes it again.
    std::string reproduce;
    /// Where its files are; "" if they were removed because it was as expected.
    std::string kept;

    [[nodiscard]] bool as_expected() const { return verdict == expected; }
};

struct Night {
    std::string command;
    std::uint64_t seed = 0;
    double budget_seconds = 0;
    double elapsed_seconds = 0;
    /// Of every run but the canary.
    std::string bugs;
    /// The bug that must be found; "none": nobody proved that this night can fail.
    std::string canary;
    bool interrupted = false;
    std::vector<NightRun> runs;
};

/// 0 good; 1 a run that is not as its scenario expects; 2 a run proved too little or the canary was not found
/// (or there was none); 130 interrupted. The worst counts: 130, then 1, then 2.
int night_exit_code(const Night& night);
/// The verdict of the night; if it failed: scenario, kind and the command that shows it again.
std::string night_sentence(const Night& night);
/// summary.md: the sentence is its first line.
std::string night_to_markdown(const Night& night);
/// A test case for each run.
std::string night_to_junit(const Night& night);
std::string night_to_json(const Night& night);

std::string_view night_kind_name(NightRun::Kind kind);

}  // namespace highwater::results
