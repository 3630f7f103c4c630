// Counts lines of traces and logs while processes write them, for conditions that wait for an event.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "model/event_query.h"

namespace highwater::harness {

/// One file that only grows. What stands after the last line end is not counted yet.
class LineCounter {
public:
    using Matches = std::function<bool(std::string_view line)>;
    /// From the beginning, or from what is there now on.
    static LineCounter from_start(std::string path) { return LineCounter(std::move(path), 0); }
    static LineCounter from_now(std::string path);

    /// Reads what is new. A file that is not there has no lines.
    std::int64_t count(const Matches& matches);

private:
    LineCounter(std::string path, std::uint64_t offset) : path_(std::move(path)), offset_(offset) {}

    std::string path_;
    std::uint64_t offset_ = 0;
    std::int64_t count_ = 0;
};

/// Whether a trace line is of the query's kind, has its fields and was written at `since` or later. `at` of
/// the query is not looked at.
bool trace_line_matches(const TraceQuery& query, Instant since, std::string_view line);

class EventWatch {
public:
    /// Files of one process; those of later incarnations appear when they are there.
    using Files = std::function<std::vector<std::string>(BrokerId)>;
    EventWatch(std::vector<BrokerId> processes, Files traces, Files logs)
        : processes_(std::move(processes)), traces_(std::move(traces)), logs_(std::move(logs)) {}

    /// Lines of these processes at `since` or later.
    std::int64_t trace_lines(const TraceQuery& query, const std::vector<BrokerId>& of, Instant since);
    /// Lines of these processes after the first question of this (query, since), whichever processes it was
    /// about.
    std::int64_t log_lines(const LogQuery& query, const std::vector<BrokerId>& of, Instant since);

private:
    using Counters = std::map<std::string, LineCounter>;

    std::vector<BrokerId> processes_;
    Files traces_;
    Files logs_;
    /// By query and its `since`.
    std::map<std::string, Counters> counters_;
};

}  // namespace highwater::harness
