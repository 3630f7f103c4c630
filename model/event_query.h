// What a condition asks about things that happen rather than states that last: frames at a relay, lines of a
// trace or a log. Roles are kept as written; whoever answers resolves them at that moment.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace highwater {

enum class FramePart : std::uint8_t { Both, Request, Response };

/// passed(AlterPartition request leader->controller), held(…).
struct FrameQuery {
    /// Kafka's name of the API.
    std::string api;
    FramePart part = FramePart::Both;
    std::string source;
    std::string destination;
};

/// trace(isr-committed at leader partition_epoch=3).
struct TraceQuery {
    /// A kind of docs/run-format.md.
    std::string kind;
    /// Role of the process that wrote the line; "": any.
    std::string at;
    /// Field and value as JSON has it, without spaces: "epoch" "3", "isr" "[1,2]".
    std::vector<std::pair<std::string, std::string>> fields;
};

/// log(leader ~ "become-leader"): the text is part of the line.
struct LogQuery {
    std::string role;
    std::string text;
};

/// Each parses what stands between the parentheses. Errors: what is missing or not known.
Result<FrameQuery> parse_frame_query(std::string_view text);
Result<TraceQuery> parse_trace_query(std::string_view text);
Result<LogQuery> parse_log_query(std::string_view text);

}  // namespace highwater
