// The transcript file format and its runner.
#include "transcript.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace highwater::node {

Result<Transcript> parse_transcript(const std::string& text) {
    Transcript transcript;
    TranscriptBlock block;
    std::istringstream lines(text);
    std::string line;
    int number = 0;
    bool in_output = false;
    const auto close = [&] {
        transcript.blocks.push_back(block);
        block = {};
        in_output = false;
    };
    while (std::getline(lines, line)) {
        ++number;
        if (in_output) {
            if (line.empty()) {
                close();
            } else {
                block.expected += line + "\n";
            }
        } else if (line == "----") {
            if (block.commands.empty())
                return failure(fmt::format("line {}: ---- without a command", number));
            in_output = true;
        } else if (line.empty() || line.starts_with("#")) {
            if (!block.commands.empty()) return failure(fmt::format("line {}: ---- expected", number));
            block.intro += line + "\n";
        } else {
            if (block.commands.empty()) block.line = number;
            block.commands.push_back(line);
        }
    }
    if (in_output) close();
    if (!block.commands.empty()) return failure(fmt::format("line {}: ---- expected at the end", number));
    transcript.outro = block.intro;
    return transcript;
}

std::string format_transcript(const Transcript& transcript) {
    std::string text;
    for (const TranscriptBlock& block : transcript.blocks) {
        text += block.intro;
        for (const std::string& command : block.commands) text += command + "\n";
        text += "----\n" + block.expected + "\n";
    }
    return text + transcript.outro;
}

void check_transcript(const std::string& path, const RunBlock& run) {
    std::ifstream in(path);
    ASSERT_TRUE(in.good()) << path;
    std::stringstream content;
    content << in.rdbuf();
    Result<Transcript> transcript = parse_transcript(content.str());
    ASSERT_TRUE(transcript.has_value()) << path << ": " << transcript.error().message;
    ASSERT_FALSE(transcript->blocks.empty()) << path;
    const bool rewrite = std::getenv("HIGHWATER_REWRITE") != nullptr;
    for (TranscriptBlock& block : transcript->blocks) {
        const std::string actual = run(block.commands);
        if (rewrite) {
            block.expected = actual;
            continue;
        }
        EXPECT_EQ(block.expected, actual) << path << ":" << block.line << ": " << block.commands.front();
    }
    if (rewrite) std::ofstream(path) << format_transcript(*transcript);
}

CommandWords::CommandWords(const std::string& command) {
    std::istringstream words(command);
    for (std::string word; words >> word;) words_.push_back(word);
}

std::string CommandWords::next(const std::string& otherwise) {
    const auto found = std::find_if(words_.begin(), words_.end(), [](const std::string& word) {
        return word.find('=') == std::string::npos;
    });
    if (found == words_.end()) return otherwise;
    const std::string word = *found;
    words_.erase(found);
    return word;
}

bool CommandWords::flag(const std::string& name) { return std::erase(words_, name) > 0; }

std::string CommandWords::get(const std::string& key, const std::string& otherwise) {
    const auto found = std::find_if(words_.begin(), words_.end(),
                                    [&](const std::string& word) { return word.starts_with(key + "="); });
    if (found == words_.end()) return otherwise;
    const std::string value = found->substr(key.size() + 1);
    words_.erase(found);
    return value;
}

std::int64_t CommandWords::number(const std::string& key, std::int64_t otherwise) {
    const std::string value = get(key);
    return value.empty() ? otherwise : std::stoll(value);
}

}  // namespace highwater::node
