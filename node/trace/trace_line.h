// One event of a server as one line of trace.jsonl (docs/run-format.md). Needs no file: tests and simulation
// use it too.
#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"
#include "base/time.h"
#include "node/server/server.h"

namespace highwater::node {

/// What every line of one process has in common, and the place of this one.
struct TracePosition {
    Instant at;
    BrokerId node = kNoBroker;
    /// How many times this node was started in this run, from 1.
    std::int32_t incarnation = 1;
    /// From 1 within the incarnation.
    std::int64_t sequence = 1;
};

/// Appends the line, with its newline.
void append_trace_line(std::string& out, const TracePosition& position, const Event& event);

}  // namespace highwater::node
