// Boost.Process launches (without an io_context: with one, its waits lose races against timers), a pidfd
// tells the end, and only this file reaps. Between fork and exec only async-signal-safe calls are made.
#include "harness/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <future>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

namespace highwater::harness {
namespace {

namespace bp = boost::process;

/// Exit code of a child whose harness died before it could ask to die with it.
constexpr int kOrphanExit = 125;
/// Exit code of a child that could not be set up; its output file says why.
constexpr int kSetupExit = 126;
/// SIGKILL takes effect at once except for a process in the midst of a slow kernel call.
constexpr Duration kReapTime = seconds(10);

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int get() const { return fd_; }

private:
    int fd_;
};

/// The one thread that starts children. It never ends, so it outlives every child it started.
class Spawner {
public:
    /// After a fork without exec the thread of the parent is missing here: a new one is made.
    static Spawner& instance() {
        static std::mutex mutex;
        static Spawner* spawner = nullptr;
        static pid_t owner = 0;
        const std::lock_guard lock(mutex);
        if (owner != ::getpid()) {
            owner = ::getpid();
            spawner = new Spawner;  // for the life of the process: its thread uses it to the very end
        }
        return *spawner;
    }

    Result<pid_t> run(std::packaged_task<Result<pid_t>()> task) {
        auto result = task.get_future();
        {
            const std::lock_guard lock(mutex_);
            tasks_.push_back(std::move(task));
        }
        changed_.notify_one();
        return result.get();
    }

private:
    Spawner() {
        // Signals are for the main thread.
        sigset_t all;
        sigset_t before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        std::thread([this] { serve(); }).detach();
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

    [[noreturn]] void serve() {
        pthread_setname_np(pthread_self(), "spawner");
        while (true) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return !tasks_.empty(); });
            auto task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::packaged_task<Result<pid_t>()>> tasks_;
};

/// Runs in the child before exec. Never returns on failure.
void set_up_child(pid_t parent, int input, int output, const char* directory) {
    const auto fail = [](const char* what) {
        const ssize_t ignored = ::write(STDERR_FILENO, what, std::strlen(what));
        (void)ignored;
        ::_exit(kSetupExit);
    };
    if (::dup2(output, STDERR_FILENO) < 0 || ::dup2(output, STDOUT_FILENO) < 0 ||
        ::dup2(input, STDIN_FILENO) < 0) {
        ::_exit(kSetupExit);
    }
    if (::setpgid(0, 0) != 0) fail("highwater: setpgid failed\n");
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail("highwater: prctl failed\n");
    // The harness may have died before prctl.
    if (::getppid() != parent) ::_exit(kOrphanExit);
    if (directory != nullptr && ::chdir(directory) != 0) fail("highwater: chdir failed\n");
    // Whatever the harness has open, also through libraries that know nothing of CLOEXEC, ends at exec.
    constexpr unsigned kCloseOnExec = 1U << 2U;
    if (::syscall(SYS_close_range, 3U, ~0U, kCloseOnExec) != 0) fail("highwater: close_range failed\n");
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::signal(signal, SIG_DFL);
}

/// "" if no directory of PATH has it. (Boost's search needs its file system library.)
std::string search_path(const std::string& program) {
    const char* const variable = std::getenv("PATH");
    std::istringstream directories(variable == nullptr ? "/usr/bin:/bin" : variable);
    std::string directory;
    while (std::getline(directories, directory, ':')) {
        const std::string path = fmt::format("{}/{}", directory.empty() ? "." : directory, program);
        if (::access(path.c_str(), X_OK) == 0) return path;
    }
    return "";
}

Result<std::string> find_program(const std::string& program) {
    std::string path = program;
    if (program.find('/') == std::string::npos) path = search_path(program);
    if (path.empty()) return failure(fmt::format("program '{}' is not in PATH", program));
    if (::access(path.c_str(), X_OK) != 0)
        return failure(fmt::format("cannot run {}: {}", path, std::strerror(errno)));
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
        return failure(path + " is a directory");
    return path;
}

Status check_directory(const std::string& directory) {
    struct stat status{};
    if (directory.empty()) return {};
    if (::stat(directory.c_str(), &status) != 0)
        return failure(fmt::format("{}: {}", directory, std::strerror(errno)));
    if (!S_ISDIR(status.st_mode)) return failure(directory + " is no directory");
    return {};
}

Result<pid_t> spawn(const ChildOptions& options, const std::string& path, int input, int output) {
    bp::environment environment = boost::this_process::environment();
    for (const auto& [name, value] : options.env) environment[name] = value;
    const pid_t parent = ::getpid();
    const char* const directory =
        options.working_directory.empty() ? nullptr : options.working_directory.c_str();
    std::error_code error;
    bp::child child(bp::exe = path, bp::args = options.args, environment, error,
                    bp::extend::on_exec_setup([parent, input, output, directory](auto&) {
                        set_up_child(parent, input, output, directory);
                    }));
    if (error) return failure(fmt::format("cannot run {}: {}", path, error.message()));
    // From here on it is ours to reap.
    const pid_t pid = child.id();
    child.detach();
    return pid;
}

/// Kills a group when the harness is gone: a process of its own, which only waits for the other end of a
/// pipe.
class Guard {
public:
    /// Called by a thread of the harness; between fork and the end only async-signal-safe calls are made.
    explicit Guard(pid_t group) {
        int ends[2] = {-1, -1};
        if (::pipe2(ends, O_CLOEXEC) != 0) return;
        pid_ = ::fork();
        if (pid_ == 0) watch(ends[0], group);
        ::close(ends[0]);
        end_ = ends[1];
        if (pid_ < 0) ::close(std::exchange(end_, -1));
    }
    /// Dismisses it: the group has been ended otherwise.
    ~Guard() {
        if (end_ < 0) return;
        const char dismissed = 'd';
        const ssize_t ignored = ::write(end_, &dismissed, 1);
        (void)ignored;
        ::close(end_);
        ::waitpid(pid_, nullptr, 0);
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    [[nodiscard]] bool watches() const { return end_ >= 0; }

private:
    [[noreturn]] static void watch(int end, pid_t group) {
        ::setpgid(0, 0);
        sigset_t all;
        sigfillset(&all);
        ::sigprocmask(SIG_SETMASK, &all, nullptr);
        // Nothing of the harness may stay open through it, least of all its sockets.
        ::dup2(end, STDIN_FILENO);
        ::syscall(SYS_close_range, 1U, ~0U, 0U);
        char byte = 0;
        ssize_t got = 0;
        do {
            got = ::read(STDIN_FILENO, &byte, 1);
        } while (got < 0 && errno == EINTR);
        if (got == 0) ::kill(-group, SIGKILL);
        ::_exit(0);
    }

    pid_t pid_ = -1;
    int end_ = -1;
};

int poll_timeout(Duration left) {
    const auto rounded = std::chrono::ceil<milliseconds>(std::max(left, Duration::zero())).count();
    return static_cast<int>(std::min<std::int64_t>(rounded, 60'000));
}

}  // namespace

std::string ExitStatus::to_string() const {
    if (signal != 0) return fmt::format("signal {} ({})", signal, ::strsignal(signal));
    if (code >= 0) return fmt::format("exit code {}", code);
    return "ended, status unknown";
}

struct Child::State {
    State(pid_t p, int fd) : pid(p), pidfd(fd) {}

    const pid_t pid;
    const Descriptor pidfd;
    std::mutex mutex;
    std::optional<ExitStatus> status;
    /// A wrapper whose group has not been killed yet: it must not be reaped.
    bool keeps_group = false;
    std::unique_ptr<Guard> guard;
};

Child::Child(std::unique_ptr<State> state) : state_(std::move(state)) {}
Child::Child(Child&& other) noexcept = default;
Child& Child::operator=(Child&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
}

Result<Child> Child::launch(const ChildOptions& options) {
    const auto path = find_program(options.program);
    if (!path) return tl::make_unexpected(path.error());
    if (const Status directory = check_directory(options.working_directory); !directory) {
        return failure(fmt::format("working directory of {}", *path), directory.error());
    }
    const Descriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const Descriptor output(
        ::open(options.output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (output.get() < 0) return failure(fmt::format("{}: {}", options.output_file, std::strerror(errno)));
    if (input.get() < 0) return failure(fmt::format("/dev/null: {}", std::strerror(errno)));
    std::packaged_task<Result<pid_t>()> task(
        [&] { return spawn(options, *path, input.get(), output.get()); });
    const Result<pid_t> pid = Spawner::instance().run(std::move(task));
    if (!pid) return tl::make_unexpected(pid.error());
    const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0U));
    if (pidfd < 0) {
        const int error = errno;
        ::kill(-*pid, SIGKILL);
        ::waitpid(*pid, nullptr, 0);
        return failure(fmt::format("cannot watch process {}: {}", *pid, std::strerror(error)));
    }
    auto state = std::make_unique<State>(*pid, pidfd);
    if (options.wrapper) {
        state->keeps_group = true;
        state->guard = std::make_unique<Guard>(*pid);
    }
    const bool guarded = !options.wrapper || state->guard->watches();
    Child child(std::move(state));
    if (!guarded) return failure(fmt::format("no guard for process {}", *pid));
    return child;
}

Child::~Child() {
    if (state_) kill(monotonic_now() + kReapTime);
}

pid_t Child::pid() const { return state_->pid; }
int Child::pidfd() const { return state_->pidfd.get(); }

std::optional<ExitStatus> Child::poll_exit() {
    const std::lock_guard lock(state_->mutex);
    if (state_->status) return state_->status;
    const id_t id = static_cast<id_t>(state_->pid);
    siginfo_t info{};
    if (::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0) return std::nullopt;
    ExitStatus status;
    status.seen = monotonic_now();
    if (info.si_pid == state_->pid) {
        if (info.si_code == CLD_EXITED) status.code = info.si_status;
        if (info.si_code != CLD_EXITED) status.signal = info.si_status;
        if (state_->keeps_group) return status;
        // Not reaped yet, so the group's number is still its own.
        ::kill(-state_->pid, SIGKILL);
        ::waitid(P_PID, id, &info, WEXITED);
    }
    state_->status = status;
    return status;
}

std::optional<ExitStatus> Child::wait_exit(Instant deadline) {
    while (true) {
        if (const auto status = poll_exit()) return status;
        const Duration left = deadline - monotonic_now();
        if (left <= Duration::zero()) return std::nullopt;
        pollfd entry{pidfd(), POLLIN, 0};
        ::poll(&entry, 1, poll_timeout(left));
    }
}

std::optional<ExitStatus> Child::kill(Instant deadline) {
    {
        const std::lock_guard lock(state_->mutex);
        if (!state_->status) ::kill(-state_->pid, SIGKILL);
        state_->keeps_group = false;
    }
    return wait_exit(deadline);
}

}  // namespace highwater::harness
