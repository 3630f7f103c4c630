// One program started by the harness: its own process group, output in a file, and certain death with the
// harness. The only place that starts processes.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace highwater::harness {

struct ChildOptions {
    /// A path, or a name to be found in PATH.
    std::string program;
    std::vector<std::string> args;
    /// Added to the harness's own environment; wins over it.
    std::map<std::string, std::string> env;
    /// "": the harness's own.
    std::string working_directory;
    /// stdout and stderr are appended here; stdin is /dev/null.
    std::string output_file;
    /// The program may end before what it has started: its group is left alone then, and its number stays
    /// its own (it is not reaped) until kill or the destructor. What it started has no parent-death signal,
    /// so a guard kills the group should the harness die.
    bool wrapper = false;
};

struct ExitStatus {
    /// Exit code, or -1 if ended by a signal.
    int code = -1;
    /// 0 if it exited by itself.
    int signal = 0;
    /// When the harness saw it.
    Instant seen;
    /// "exit code 3", "signal 9 (Killed)".
    [[nodiscard]] std::string to_string() const;
};

/// Safe to use from several threads. Children are started by one thread that lives as long as the harness,
/// because Linux ties the parent-death signal to the starting thread, not to the process.
class Child {
public:
    /// Returns when the program runs. Errors: not found or not executable, output file not writable, no such
    /// directory.
    static Result<Child> launch(const ChildOptions& options);
    /// Kills the group (SIGKILL, works on stopped processes too) and reaps.
    ~Child();
    Child(Child&& other) noexcept;
    Child& operator=(Child&& other) noexcept;

    [[nodiscard]] pid_t pid() const;
    /// Readable when the child has ended; for asio, assign a dup() of it to a posix::stream_descriptor and
    /// wait for reading, then call poll_exit.
    [[nodiscard]] int pidfd() const;
    /// The status once it has ended, the same at every later call. What is left of its group is killed then,
    /// a wrapper's is not.
    std::optional<ExitStatus> poll_exit();
    /// As poll_exit, but waits until `deadline`; nullopt: still running.
    std::optional<ExitStatus> wait_exit(Instant deadline);
    /// SIGKILL to the group, and waits until it is reaped. nullopt: not gone within `deadline`. What a
    /// wrapper has started may take a moment longer.
    std::optional<ExitStatus> kill(Instant deadline);

private:
    struct State;
    explicit Child(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace highwater::harness
