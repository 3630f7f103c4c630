// The life of one record, told in order: who sent it, who had it, what was promised about it, who read it,
// which fault and which election or truncation took it, who has it at the end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/stored_run.h"

namespace highwater::harness {

/// Which record. An unset offset or value is found by the other.
struct StorySubject {
    std::int32_t partition = 0;
    std::optional<Offset> offset;
    std::optional<Value> value;
};

struct StoryLine {
    Instant at;
    std::string text;
};

struct Story {
    /// "offset 201 (p1-202) of partition 0".
    std::string record;
    /// In the order of time.
    std::vector<StoryLine> lines;
    /// Who has it at the end, and why it is gone, a sentence each.
    std::vector<std::string> end;
    /// The first operation of the history: times are told since then.
    Instant start;
};

/// What the first violation is about; nullopt if there is none that names a record.
std::optional<StorySubject> subject_of(const Verdict& verdict);
/// Errors: nobody sent, read or acknowledged such a record.
Result<Story> tell_story(const results::StoredRun& run, const StorySubject& subject);
/// "p3-977", or the number itself. Errors: neither.
Result<Value> parse_value(const std::string& text);

}  // namespace highwater::harness
