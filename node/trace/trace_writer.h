// Writes a process's trace.jsonl with write(2) on an O_APPEND file: what was written survives SIGKILL.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "node/server/server.h"

namespace highwater::node {

class TraceWriter {
public:
    /// Opens or creates the file. The incarnation is one more than that of the last line (1 in a new file),
    /// or `at_least` if that is higher; a last line that a kill cut short is removed. Errors name the path
    /// and the system's reason.
    static Result<TraceWriter> open(const std::string& path, BrokerId node, std::int32_t at_least = 1);
    ~TraceWriter();
    TraceWriter(TraceWriter&& other) noexcept;
    TraceWriter& operator=(TraceWriter&& other) noexcept;

    /// Writes the events of one step with one write(2). Errors: the file cannot take them; evidence is lost
    /// then, and the process must not send what it could not record.
    Status write(Instant at, const std::vector<Event>& events);
    [[nodiscard]] std::int32_t incarnation() const { return incarnation_; }

private:
    TraceWriter(int fd, std::string path, BrokerId node, std::int32_t incarnation)
        : fd_(fd), path_(std::move(path)), node_(node), incarnation_(incarnation) {}

    int fd_ = -1;
    std::string path_;
    BrokerId node_ = kNoBroker;
    std::int32_t incarnation_ = 1;
    std::int64_t sequence_ = 0;
    std::string buffer_;
};

}  // namespace highwater::node
