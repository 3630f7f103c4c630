// Where every client, observer and fault writes what happened: one history, in memory and, line by line, on
// disk.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/history.h"

namespace highwater::workloads {

/// So far.
struct Tally {
    /// Appends by their outcome, whatever their acks.
    std::int64_t acked = 0;
    std::int64_t failed = 0;
    std::int64_t unknown = 0;
    /// How far readers have come: the sum over the partitions of the furthest offset read, and one.
    std::int64_t read = 0;
};

/// Thread-safe. Lines are written at once with write(2): a killed harness loses no finished operation.
class Recorder {
public:
    ~Recorder();
    /// Creates history.jsonl and writes the meta line. Errors: the file cannot be created.
    Status open(const std::string& path, const HistoryMeta& meta);
    void record(std::string_view client, Operation operation);
    /// `listener` hears of every operation that is recorded from now on, in the recording thread; it must not
    /// call the recorder.
    void on_record(std::function<void(const Operation&)> listener);

    /// Acknowledged appends (acks 1 or all) so far.
    [[nodiscard]] std::int64_t acked() const;
    [[nodiscard]] Tally tally() const;
    /// Completion of the first acks=all acknowledgement whose call is at or after `since`; waits until
    /// `deadline`. Nullopt if there was none.
    [[nodiscard]] std::optional<Instant> wait_for_ack_all(Instant since, Instant deadline) const;
    /// Errors: a line could not be written (disk full …); the history is then incomplete.
    [[nodiscard]] Status status() const;
    /// The history so far; call when every client has stopped.
    [[nodiscard]] const History& history() const { return history_; }

private:
    void write_line(const std::string& line);
    void count(const Operation& operation);

    mutable std::mutex mutex_;
    mutable std::condition_variable acked_more_;
    History history_;
    int fd_ = -1;
    std::int64_t acked_ = 0;
    std::int64_t failed_ = 0;
    std::int64_t unknown_ = 0;
    /// Of each partition, the offset after the furthest one that was read.
    std::map<std::int32_t, Offset> read_;
    /// The latest acks=all acknowledgement by call time.
    std::optional<Instant> last_ack_all_called_;
    Instant last_ack_all_at_;
    std::string write_error_;
    std::function<void(const Operation&)> listener_;
};

}  // namespace highwater::workloads
