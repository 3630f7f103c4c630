// Signals to real processes, with the kernel's own word for their effect.
#include "nemesis/process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/nemesis/frame_peer.h"

namespace highwater::nemesis {
namespace {

Instant soon() { return monotonic_now() + kPatience; }

char state_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    if (!std::getline(file, line)) return '-';
    return line[line.rfind(')') + 2];
}

/// A shell, or a fork of the test, in a process group of its own; killed and reaped at the end.
class Group {
public:
    explicit Group(const std::string& script) {
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        posix_spawnattr_setpgroup(&attributes, 0);
        std::string shell = "sh", option = "-c", text = script;
        char* arguments[] = {shell.data(), option.data(), text.data(), nullptr};
        EXPECT_EQ(::posix_spawn(&pid_, "/bin/sh", nullptr, &attributes, arguments, environ), 0);
        posix_spawnattr_destroy(&attributes);
    }
    explicit Group(const std::function<void()>& body) : pid_(::fork()) {
        if (pid_ == 0) {
            ::setpgid(0, 0);
            body();
            ::_exit(0);
        }
        ::setpgid(pid_, pid_);
    }
    ~Group() { reap(); }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    void reap() {
        if (pid_ < 0) return;
        ::kill(-pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }
    [[nodiscard]] pid_t pid() const { return pid_; }

private:
    pid_t pid_ = -1;
};

/// Pids of a process's children, by the kernel.
std::vector<pid_t> children_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
    std::vector<pid_t> pids;
    for (pid_t child = 0; file >> child;) pids.push_back(child);
    return pids;
}

TEST(Process, PausesAndResumesTheWholeGroup) {
    const Group group("sleep 1000 & sleep 1000 & wait");
    ASSERT_TRUE(eventually([&] { return children_of(group.pid()).size() == 2; }));
    auto process = Process::attach(group.pid());
    ASSERT_TRUE(process) << process.error().message;
    for (int round = 0; round < 20; ++round) {
        const FaultEffect paused = process->pause(soon());
        ASSERT_TRUE(paused.ok) << paused.detail;
        EXPECT_LE(paused.requested, paused.effective);
        EXPECT_EQ(state_of(group.pid()), 'T');
        for (const pid_t child : children_of(group.pid())) EXPECT_EQ(state_of(child), 'T');
        const FaultEffect resumed = process->resume(soon());
        ASSERT_TRUE(resumed.ok) << resumed.detail;
        EXPECT_NE(state_of(group.pid()), 'T');
        for (const pid_t child : children_of(group.pid())) EXPECT_NE(state_of(child), 'T');
    }
}

TEST(Process, BehindAWrapperItIsStruckItself) {
    const Group group("sleep 1000 & sleep 2000 & wait");
    std::optional<pid_t> found;
    ASSERT_TRUE(eventually([&] {
        found = Process::find_in_group(group.pid(), "/bin/sleep", "1000");
        return found.has_value();
    }));
    EXPECT_FALSE(Process::find_in_group(group.pid(), "/bin/sleep", "3000"));
    EXPECT_FALSE(Process::find_in_group(group.pid(), "/bin/cat", "1000"));
    auto process = Process::attach_within(*found, group.pid());
    ASSERT_TRUE(process) << process.error().message;
    EXPECT_FALSE(Process::attach_within(::getpid(), group.pid())) << "not of that group";

    ASSERT_TRUE(process->pause(soon()).ok);
    EXPECT_EQ(state_of(*found), 'T');
    EXPECT_NE(state_of(group.pid()), 'T') << "the wrapper is not what was meant";
    ASSERT_TRUE(process->resume(soon()).ok);
    EXPECT_NE(state_of(*found), 'T');
    // Nobody may start it again: SIGKILL is for all of them.
    const std::vector<pid_t> children = children_of(group.pid());
    const FaultEffect killed = process->kill(soon());
    ASSERT_TRUE(killed.ok) << killed.detail;
    for (const pid_t child : children) EXPECT_TRUE(state_of(child) == 'Z' || state_of(child) == '-');
    EXPECT_FALSE(process->pause(soon()).ok) << "a number that is not ours any more";
}

/// States of all threads, one letter each.
std::string thread_states(pid_t pid) {
    std::string states;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
        states += state_of(static_cast<pid_t>(std::stol(task.path().filename())));
    }
    return states;
}

TEST(Process, APausedProcessMakesNoProgress) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const Group group([&pipe] {
        // Every thread writes; a reader that sees nothing has seen all of them stopped.
        for (int i = 0; i < 8; ++i) {
            std::thread([out = pipe[1]] {
                while (::write(out, "x", 1) == 1) std::this_thread::yield();
            }).detach();
        }
        ::pause();
    });
    const pid_t pid = group.pid();
    ::close(pipe[1]);
    char buffer[65536];
    ASSERT_GT(::read(pipe[0], buffer, sizeof(buffer)), 0);
    ASSERT_TRUE(eventually([&] { return thread_states(pid).size() > 8; }));
    auto process = Process::attach(pid);
    ASSERT_TRUE(process) << process.error().message;
    for (int round = 0; round < 50; ++round) {
        const FaultEffect paused = process->pause(soon());
        ASSERT_TRUE(paused.ok) << paused.detail;
        const std::string states = thread_states(pid);
        ASSERT_EQ(states, std::string(states.size(), 'T'));
        if (round == 49) break;
        ASSERT_TRUE(process->resume(soon()).ok);
        // It runs again, so that the next signal meets it at work.
        ASSERT_GT(::read(pipe[0], buffer, sizeof(buffer)), 0);
    }
    // What was written before is in the pipe; once it is drained, it stays empty.
    int empty_looks = 0;
    ASSERT_TRUE(eventually([&] {
        pollfd entry{pipe[0], POLLIN, 0};
        if (::poll(&entry, 1, 0) == 0) return ++empty_looks == 5;
        EXPECT_EQ(empty_looks, 0) << "written while paused";
        return ::read(pipe[0], buffer, sizeof(buffer)) <= 0;
    }));
    ASSERT_TRUE(process->resume(soon()).ok);
    EXPECT_GT(::read(pipe[0], buffer, sizeof(buffer)), 0);
    EXPECT_TRUE(process->kill(soon()).ok);
    ::close(pipe[0]);
}

TEST(Process, KillsAStoppedProcess) {
    Group group("exec sleep 1000");
    auto process = Process::attach(group.pid());
    ASSERT_TRUE(process);
    ASSERT_TRUE(process->pause(soon()).ok);
    EXPECT_FALSE(process->gone());
    const FaultEffect killed = process->kill(soon());
    EXPECT_TRUE(killed.ok) << killed.detail;
    EXPECT_TRUE(process->gone());
    EXPECT_EQ(state_of(group.pid()), 'Z');
}

TEST(Process, AStoppedProcessTakesTermWhenResumed) {
    const Group group("exec sleep 1000");
    auto process = Process::attach(group.pid());
    ASSERT_TRUE(process);
    ASSERT_TRUE(process->pause(soon()).ok);
    const FaultEffect terminated = process->terminate();
    EXPECT_TRUE(terminated.ok);
    EXPECT_NE(terminated.detail, "");
    EXPECT_FALSE(process->wait_gone(monotonic_now() + milliseconds(20)).ok);
    (void)process->resume(soon());
    EXPECT_TRUE(process->wait_gone(soon()).ok);
}

TEST(Process, StrikesNobodyAfterTheEnd) {
    Group group("exit 3");
    auto process = Process::attach(group.pid());
    ASSERT_TRUE(process);
    ASSERT_TRUE(process->wait_gone(soon()).ok);
    for (int reaped = 0; reaped < 2; ++reaped) {
        for (const FaultEffect& effect :
             {process->pause(soon()), process->resume(soon()), process->terminate(), process->kill(soon())}) {
            EXPECT_FALSE(effect.ok);
            EXPECT_NE(effect.detail.find("has ended"), std::string::npos) << effect.detail;
        }
        group.reap();
    }
}

TEST(Process, AttachesOnlyToLeadersOfGroups) {
    EXPECT_FALSE(Process::attach(0x3FFFFFFF));
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::pause();
        ::_exit(0);
    }
    EXPECT_FALSE(Process::attach(pid));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
}

}  // namespace
}  // namespace highwater::nemesis
