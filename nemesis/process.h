// Signals to a process that leads a process group of its own, each with proof of its effect. A process is
// known by a pidfd, so a number that the kernel gave to somebody else is never struck.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "nemesis/fault_target.h"

namespace highwater::nemesis {

class Process {
public:
    /// `pid` must be a child that is not reaped yet (so that the number is certainly its own) and lead its
    /// group. Errors: no such process; it leads no group.
    static Result<Process> attach(pid_t pid);
    /// `pid` was started by a wrapper script, a child that is not reaped yet and leads the group of both. The
    /// process alone is signalled then, and only SIGKILL goes to the group. Errors: no such process, or it
    /// has left the group.
    static Result<Process> attach_within(pid_t pid, pid_t group);
    ~Process();
    Process(Process&& other) noexcept;
    Process& operator=(Process&& other) noexcept;

    [[nodiscard]] pid_t pid() const { return pid_; }
    /// The live process of the group that runs `program` with `argument` as one of its arguments; of several
    /// the one that was started last. Nullopt: none does (yet).
    static std::optional<pid_t> find_in_group(pid_t group, const std::string& program,
                                              const std::string& argument);

    /// Ended; a zombie has ended.
    [[nodiscard]] bool gone() const;

    /// It has this socket open; false also where its files cannot be looked at.
    [[nodiscard]] bool owns_socket(std::uint64_t inode) const;

    /// SIGSTOP to the group; effective when every thread of every process in it is in state T.
    FaultEffect pause(Instant deadline);
    /// SIGCONT to the group; effective when no thread in it is in state T.
    FaultEffect resume(Instant deadline);
    /// SIGTERM to the group; effective when sent. A stopped process takes it only when resumed: `detail` says
    /// so.
    FaultEffect terminate();
    /// SIGKILL to the group, also of stopped processes; effective when the process is gone.
    FaultEffect kill(Instant deadline);
    /// Waits for the end, whatever caused it; ok when gone.
    FaultEffect wait_gone(Instant deadline) const;

private:
    Process(pid_t pid, pid_t group, int pidfd) : pid_(pid), group_(group), pidfd_(pidfd) {}
    /// To the group, if the process leads it; else to the process alone.
    [[nodiscard]] Status send(int signal) const;
    FaultEffect kill_group(Instant deadline);
    FaultEffect signal_until_state(int signal, bool stopped, Instant deadline);

    pid_t pid_;
    pid_t group_;
    int pidfd_;
};

}  // namespace highwater::nemesis
