// What a run is doing, in one line at the bottom of a terminal; other lines are printed above it.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "model/fault.h"

namespace highwater::harness {

/// Thread-safe. Where `fd` is no terminal there is no such line, and print just prints.
class Progress {
public:
    /// `fd` stays the caller's. `wanted` false: no line even on a terminal.
    explicit Progress(int fd, bool wanted = true);
    /// Removes the line.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// From now on the line says what `line` returns, asked five times a second from a thread of its own.
    void show(std::function<std::string()> line);
    /// Removes the line for good; returns when `line` is not being asked any more.
    void stop();
    /// A whole line above it, by one write.
    void print(const std::string& text);
    [[nodiscard]] bool on_terminal() const { return terminal_; }

private:
    void redraw_until_stopped();
    /// Columns of the terminal that a line may fill without a wrap.
    [[nodiscard]] std::size_t width() const;

    const int fd_;
    const bool terminal_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::function<std::string()> line_;
    std::string shown_;
    bool stopping_ = false;
    std::thread thread_;
};

/// Which faults are in force, for that line. Thread-safe.
class ActiveFaults {
public:
    /// `ends_by_itself`: with a `for`, or an `await`: over when complete.
    void struck(const FaultRecord& record, const std::string& release_of, bool ends_by_itself);
    void completed(const std::string& id);
    /// Heal has undone them all.
    void clear();
    /// "lag pause 2,3; even await"; "" if there are none.
    [[nodiscard]] std::string text() const;

private:
    struct Active {
        FaultKind kind = FaultKind::Await;
        std::string text;
        std::vector<BrokerId> targets;
        bool ends_by_itself = false;
    };
    mutable std::mutex mutex_;
    std::map<std::string, Active> active_;
};

}  // namespace highwater::harness
