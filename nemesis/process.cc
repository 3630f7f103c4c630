#include "nemesis/process.h"

#include <dirent.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

namespace highwater::nemesis {
namespace {

/// Between two looks at /proc; nothing in the kernel tells us that another thread of a child has stopped.
constexpr long kLookIntervalNs = 200'000;
/// PIDFD_SIGNAL_PROCESS_GROUP of Linux 6.9, which our headers may not know.
constexpr unsigned kWholeGroup = 1U << 2U;

int pidfd_open(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)); }
int pidfd_send_signal(int pidfd, int signal, unsigned flags) {
    return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, flags));
}

struct ProcStat {
    char state = '?';
    pid_t group = 0;
};

/// "pid (any name) state parent group …"; nullopt if there is no such task any more.
std::optional<ProcStat> read_stat(const std::string& path) {
    std::ifstream file(path);
    std::string text;
    if (!std::getline(file, text)) return std::nullopt;
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream rest(text.substr(name_end + 1));
    ProcStat stat;
    pid_t parent = 0;
    if (!(rest >> stat.state >> parent >> stat.group)) return std::nullopt;
    return stat;
}

/// Names of the numeric entries of a directory of /proc.
std::vector<std::string> numbers_in(const std::string& directory) {
    std::vector<std::string> numbers;
    DIR* const dir = ::opendir(directory.c_str());
    if (dir == nullptr) return numbers;
    while (const dirent* entry = ::readdir(dir)) {
        const std::string name = entry->d_name;
        if (std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }))
            numbers.push_back(name);
    }
    ::closedir(dir);
    return numbers;
}

/// Whether every live thread of this process is (or is not) stopped.
bool threads_are(const std::string& pid, bool stopped) {
    const std::string tasks = fmt::format("/proc/{}/task", pid);
    for (const std::string& thread : numbers_in(tasks)) {
        const auto stat = read_stat(fmt::format("{}/{}/stat", tasks, thread));
        if (!stat || stat->state == 'Z' || stat->state == 'X') continue;
        if ((stat->state == 'T') != stopped) return false;
    }
    return true;
}

bool group_is(pid_t group, bool stopped) {
    // The leader first: looking through all of /proc is dear, and it is what we wait for most of the time.
    if (!threads_are(std::to_string(group), stopped)) return false;
    for (const std::string& pid : numbers_in("/proc")) {
        const auto stat = read_stat(fmt::format("/proc/{}/stat", pid));
        if (stat && stat->group == group && !threads_are(pid, stopped)) return false;
    }
    return true;
}

/// Whether nobody in the group lives any more; zombies do not.
bool group_is_gone(pid_t group) {
    for (const std::string& pid : numbers_in("/proc")) {
        const auto stat = read_stat(fmt::format("/proc/{}/stat", pid));
        if (stat && stat->group == group && stat->state != 'Z' && stat->state != 'X') return false;
    }
    return true;
}

/// Its file, whatever links lead there; "" if there is none.
std::string real_file(const std::string& path) {
    char* const resolved = ::realpath(path.c_str(), nullptr);
    if (resolved == nullptr) return "";
    std::string file = resolved;
    std::free(resolved);
    return file;
}

bool has_argument(const std::string& pid, const std::string& argument) {
    std::ifstream file(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
    for (std::string word; std::getline(file, word, '\0');) {
        if (word == argument) return true;
    }
    return false;
}

FaultEffect effect_at(Instant requested, bool ok, std::string detail) {
    return {requested, monotonic_now(), ok, std::move(detail)};
}

FaultEffect proven_at(Instant requested, std::string proof) {
    return {requested, monotonic_now(), true, "", std::move(proof)};
}

}  // namespace

Result<Process> Process::attach(pid_t pid) {
    const int pidfd = pidfd_open(pid);
    if (pidfd < 0) return failure(fmt::format("process {}: {}", pid, std::strerror(errno)));
    Process process(pid, pid, pidfd);
    if (::getpgid(pid) != pid) return failure(fmt::format("process {} does not lead a process group", pid));
    return process;
}

Result<Process> Process::attach_within(pid_t pid, pid_t group) {
    const int pidfd = pidfd_open(pid);
    if (pidfd < 0) return failure(fmt::format("process {}: {}", pid, std::strerror(errno)));
    Process process(pid, group, pidfd);
    // Asked when we hold the process: before, the number might have been given to somebody else.
    if (::getpgid(pid) != group || process.gone())
        return failure(fmt::format("process {} is not in process group {}", pid, group));
    return process;
}

std::optional<pid_t> Process::find_in_group(pid_t group, const std::string& program,
                                            const std::string& argument) {
    const std::string file = real_file(program);
    std::optional<pid_t> found;
    for (const std::string& pid : numbers_in("/proc")) {
        const auto stat = read_stat(fmt::format("/proc/{}/stat", pid));
        if (!stat || stat->group != group || stat->state == 'Z') continue;
        if (file.empty() || real_file(fmt::format("/proc/{}/exe", pid)) != file) continue;
        if (!has_argument(pid, argument)) continue;
        const pid_t number = static_cast<pid_t>(std::atol(pid.c_str()));
        found = std::max(found.value_or(number), number);
    }
    return found;
}

bool Process::owns_socket(std::uint64_t inode) const {
    const std::string wanted = fmt::format("socket:[{}]", inode);
    const std::string directory = fmt::format("/proc/{}/fd", pid_);
    for (const std::string& number : numbers_in(directory)) {
        std::array<char, 64> target{};
        const ssize_t length = ::readlink((directory + "/" + number).c_str(), target.data(), target.size());
        if (length > 0 && std::string_view(target.data(), static_cast<std::size_t>(length)) == wanted)
            return true;
    }
    return false;
}

Process::~Process() {
    if (pidfd_ >= 0) ::close(pidfd_);
}
Process::Process(Process&& other) noexcept
    : pid_(other.pid_), group_(other.group_), pidfd_(std::exchange(other.pidfd_, -1)) {}
Process& Process::operator=(Process&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(group_, other.group_);
    std::swap(pidfd_, other.pidfd_);
    return *this;
}

bool Process::gone() const {
    pollfd entry{pidfd_, POLLIN, 0};
    return ::poll(&entry, 1, 0) > 0;
}

Status Process::send(int signal) const {
    if (gone()) return failure(fmt::format("process {} has ended", pid_));
    if (pid_ != group_) {
        if (pidfd_send_signal(pidfd_, signal, 0) == 0) return {};
        return failure(fmt::format("signal {} to process {}: {}", signal, pid_, std::strerror(errno)));
    }
    if (pidfd_send_signal(pidfd_, signal, kWholeGroup) == 0) return {};
    if (errno == EINVAL) {
        // Before Linux 6.9. The number is still ours: the leader was there a moment ago, and its parent reaps
        // it only after it has ended.
        if (::kill(-pid_, signal) == 0) return {};
    }
    return failure(fmt::format("signal {} to process group {}: {}", signal, pid_, std::strerror(errno)));
}

FaultEffect Process::signal_until_state(int signal, bool stopped, Instant deadline) {
    const Instant requested = monotonic_now();
    if (const Status sent = send(signal); !sent) return effect_at(requested, false, sent.error().message);
    while (true) {
        if (gone()) return effect_at(requested, false, fmt::format("process {} ended meanwhile", pid_));
        const bool there =
            pid_ == group_ ? group_is(pid_, stopped) : threads_are(std::to_string(pid_), stopped);
        if (there && !gone())
            return proven_at(requested, stopped ? "every thread is in state T" : "no thread is in state T");
        if (monotonic_now() >= deadline) {
            return effect_at(
                requested, false,
                fmt::format("process {} did not {} in time", pid_, stopped ? "stop" : "continue"));
        }
        const timespec interval{0, kLookIntervalNs};
        ::nanosleep(&interval, nullptr);
    }
}

FaultEffect Process::pause(Instant deadline) { return signal_until_state(SIGSTOP, true, deadline); }
FaultEffect Process::resume(Instant deadline) { return signal_until_state(SIGCONT, false, deadline); }

FaultEffect Process::terminate() {
    const Instant requested = monotonic_now();
    const bool stopped = threads_are(std::to_string(pid_), true);
    if (const Status sent = send(SIGTERM); !sent) return effect_at(requested, false, sent.error().message);
    FaultEffect effect = proven_at(requested, "SIGTERM was sent");
    if (stopped) effect.detail = "the process is stopped and takes SIGTERM only when resumed";
    return effect;
}

FaultEffect Process::kill_group(Instant deadline) {
    const Instant requested = monotonic_now();
    // Its leader is not reaped yet, so the number is still its own.
    if (::kill(-group_, SIGKILL) != 0 && errno != ESRCH) {
        return effect_at(requested, false,
                         fmt::format("SIGKILL to process group {}: {}", group_, std::strerror(errno)));
    }
    FaultEffect effect = wait_gone(deadline);
    effect.requested = requested;
    // A wrapper may have started another one meanwhile.
    while (effect.ok && !group_is_gone(group_)) {
        if (monotonic_now() >= deadline)
            return effect_at(requested, false, fmt::format("process group {} has not ended in time", group_));
        const timespec interval{0, kLookIntervalNs};
        ::nanosleep(&interval, nullptr);
    }
    effect.effective = monotonic_now();
    return effect;
}

FaultEffect Process::kill(Instant deadline) {
    if (pid_ != group_) return kill_group(deadline);
    const Instant requested = monotonic_now();
    if (const Status sent = send(SIGKILL); !sent) return effect_at(requested, false, sent.error().message);
    FaultEffect effect = wait_gone(deadline);
    effect.requested = requested;
    return effect;
}

FaultEffect Process::wait_gone(Instant deadline) const {
    const Instant requested = monotonic_now();
    while (true) {
        const Duration left = std::max(deadline - monotonic_now(), Duration::zero());
        pollfd entry{pidfd_, POLLIN, 0};
        const auto rounded = std::chrono::ceil<milliseconds>(left).count();
        const int ready = ::poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(rounded, 60'000)));
        if (ready > 0) return proven_at(requested, fmt::format("process {} is gone", pid_));
        if (ready < 0 && errno != EINTR) return effect_at(requested, false, std::strerror(errno));
        if (monotonic_now() >= deadline) {
            return effect_at(requested, false, fmt::format("process {} has not ended in time", pid_));
        }
    }
}

}  // namespace highwater::nemesis
