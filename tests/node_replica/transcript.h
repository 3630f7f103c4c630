// Interaction transcripts: a text file of commands and of the output they must give.
//   # comment
//   command arguments
//   ----
//   expected output, up to an empty line
// HIGHWATER_REWRITE=1 writes the actual output into the file instead of comparing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace highwater::node {

struct TranscriptBlock {
    int line = 0;       // of its first line, from 1
    std::string intro;  // comments and empty lines before the commands
    std::vector<std::string> commands;
    std::string expected;
};

struct Transcript {
    std::vector<TranscriptBlock> blocks;
    std::string outro;
};

/// Errors name the line: commands without "----", output without commands.
Result<Transcript> parse_transcript(const std::string& text);
std::string format_transcript(const Transcript& transcript);

using RunBlock = std::function<std::string(const std::vector<std::string>& commands)>;
/// Runs every block of the file; a difference is a test failure that names file, line and both texts.
void check_transcript(const std::string& path, const RunBlock& run);

/// The words of one command: bare ones in order, and key=value pairs. What nobody asked for is an error at
/// the end.
class CommandWords {
public:
    explicit CommandWords(const std::string& command);
    /// The next bare word, or `otherwise`.
    std::string next(const std::string& otherwise = "");
    /// True if this bare word is there.
    bool flag(const std::string& name);
    std::string get(const std::string& key, const std::string& otherwise = "");
    std::int64_t number(const std::string& key, std::int64_t otherwise);
    /// Words that no call asked for.
    [[nodiscard]] std::vector<std::string> left_over() const { return words_; }

private:
    std::vector<std::string> words_;
};

}  // namespace highwater::node
