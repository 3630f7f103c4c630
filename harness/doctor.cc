// Probes of this machine. Whatever could harm the harness itself (namespaces, ptrace) is tried in a child.
#include "harness/doctor.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "harness/child.h"
#include "harness/kafka/distribution.h"
#include "harness/program_paths.h"
#include "nemesis/address_plan.h"

namespace highwater::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr Duration kPatience = seconds(10);
/// Exit code of a forked probe: 0 fine, else the errno.
constexpr int kNoErrno = 255;

std::string apt(const std::string& packages) { return "apt-get install -y " + packages; }

std::string first_line(const std::string& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

/// Runs `probe` in a child that ends with 0 or an errno; returns that. The child runs nothing but system
/// calls.
int in_child(const std::function<int()>& probe) {
    const pid_t child = ::fork();
    if (child < 0) return errno;
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::_exit(std::clamp(probe(), 0, kNoErrno));
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : kNoErrno;
}

std::string errno_text(int error) {
    return error == kNoErrno ? "the probe died" : std::string(std::strerror(error));
}

Capability answered(std::string name, std::string serves, bool needed, int error, const std::string& works,
                    std::string remedy = "") {
    return {std::move(name),
            std::move(serves),
            needed,
            error == 0,
            error == 0 ? works : errno_text(error),
            error == 0 ? "" : std::move(remedy)};
}

Capability cores() {
    const long count = ::sysconf(_SC_NPROCESSORS_ONLN);
    return {"cores",
            "every run",
            true,
            count >= 1,
            fmt::format("{}{}", count, count < 2 ? ": runs will be slow and may be timing-degraded" : ""),
            ""};
}

Capability memory() {
    std::ifstream in("/proc/meminfo");
    std::uint64_t available = 0;
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string key;
        words >> key;
        if (key == "MemAvailable:") words >> available;
    }
    available = available * 1024 / kMiB;
    constexpr std::uint64_t kEnough = 256;
    return {"memory",
            "every run",
            true,
            available >= kEnough,
            fmt::format("{} MiB available{}", available,
                        available < kEnough ? fmt::format(", {} MiB are needed", kEnough) : ""),
            ""};
}

Capability disk(const std::string& out) {
    fs::path place = fs::absolute(out);
    std::error_code error;
    while (!fs::exists(place, error) && place.has_relative_path()) place = place.parent_path();
    struct statvfs space{};
    if (::statvfs(place.c_str(), &space) != 0) return answered("disk", "run directories", true, errno, "");
    const std::uint64_t free = space.f_bavail * space.f_frsize / kMiB;
    constexpr std::uint64_t kEnough = 512;
    const bool writable = ::access(place.c_str(), W_OK) == 0;
    std::string found = fmt::format("{} MiB free at {}", free, place.string());
    if (!writable) found += ", which is not writable";
    const bool ok = writable && free >= kEnough;
    return {"disk", "run directories", true, ok, std::move(found), ok ? "" : "highwater run --out DIRECTORY"};
}

Capability open_files() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    constexpr rlim_t kEnough = 1024;
    const bool ok = limit.rlim_cur >= kEnough;
    return {"open files",
            "every run",
            true,
            ok,
            fmt::format("{} at once{}", limit.rlim_cur, ok ? "" : fmt::format(", {} are needed", kEnough)),
            ok ? "" : fmt::format("ulimit -n {}", kEnough)};
}

/// A slot claimed as a run does it: the port of the claim and the addresses 127.R.S.D are bound for a moment.
Capability addresses() {
    const auto slot = nemesis::SlotClaim::claim();
    if (!slot) return {"loopback addresses", "every run", true, false, slot.error().message, ""};
    return {"loopback addresses",
            "every run",
            true,
            true,
            "127.R.S.D can be bound, a slot for a run is free",
            ""};
}

/// A stopped process must be seen as stopped: that is the proof of a pause.
int pause_and_kill() {
    const pid_t child = ::fork();
    if (child < 0) return errno;
    if (child == 0) {
        while (true) ::pause();
    }
    int status = 0;
    int error = 0;
    if (::kill(child, SIGSTOP) != 0 || ::waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status)) {
        error = errno == 0 ? kNoErrno : errno;
    }
    const std::string stat = first_line(fmt::format("/proc/{}/stat", child));
    if (error == 0 && stat.find(") T ") == std::string::npos) error = ENOENT;  // no /proc, or another state
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return error;
}

int trace_a_child() {
    const pid_t child = ::fork();
    if (child < 0) return errno;
    if (child == 0) {
        if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(errno);
        ::raise(SIGSTOP);
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    ::ptrace(PTRACE_CONT, child, nullptr, nullptr);
    ::waitpid(child, &status, 0);
    return 0;
}

int unshare_all() {
    return ::unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWNS) == 0 ? 0 : errno;
}

int open_device(const char* path) {
    const int fd = ::open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return errno;
    ::close(fd);
    return 0;
}

Capability cgroups() {
    const bool second = fs::exists("/sys/fs/cgroup/cgroup.controllers");
    const bool writable = ::access("/sys/fs/cgroup", W_OK) == 0;
    return {"cgroups",
            "limits of CPU and IO (later faults)",
            false,
            second && writable,
            !second    ? "no cgroup v2 at /sys/fs/cgroup"
            : writable ? "v2, writable"
                       : "v2, but not writable by this user",
            ""};
}

Capability clock_source() {
    const std::string source = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    timespec resolution{};
    const bool fine = ::clock_getres(CLOCK_MONOTONIC, &resolution) == 0 && resolution.tv_sec == 0 &&
                      resolution.tv_nsec <= 1000;
    return {"clock",
            "every run",
            true,
            fine,
            fmt::format("CLOCK_MONOTONIC from {}, resolution {} ns",
                        source.empty() ? "an unknown source" : source, resolution.tv_nsec),
            ""};
}

/// Path of a program in PATH; "" if there is none.
std::string in_path(const std::string& program) {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::string file = fmt::format("{}/{}", folder, program);
        if (::access(file.c_str(), X_OK) == 0 && !fs::is_directory(file)) return file;
    }
    return "";
}

/// What `program argument` prints; "" if it cannot be run.
std::string printed(const std::string& program, const std::string& argument) {
    std::string pattern = (fs::temp_directory_path() / "highwater-doctor-XXXXXX").string();
    const int fd = ::mkstemp(pattern.data());
    if (fd < 0) return "";
    ::close(fd);
    ChildOptions options;
    options.program = program;
    options.args = {argument};
    options.output_file = pattern;
    std::string text;
    if (auto child = Child::launch(options); child && child->wait_exit(monotonic_now() + kPatience)) {
        std::ifstream in(pattern);
        std::stringstream all;
        all << in.rdbuf();
        text = all.str();
    }
    ::unlink(pattern.c_str());
    return text;
}

Capability java() {
    const std::string program = find_java();
    Capability jdk{"Java 17",
                   "--sut kafka",
                   false,
                   false,
                   "no java in JAVA_HOME or PATH",
                   apt("openjdk-17-jdk-headless")};
    if (program.empty()) return jdk;
    const int release = java_release(printed(program, "-version"));
    constexpr int kOldest = 17;
    jdk.ok = release >= kOldest;
    jdk.found = fmt::format("release {} at {}{}", release, program,
                            jdk.ok ? "" : fmt::format(", {} is the oldest that will do", kOldest));
    if (jdk.ok) jdk.remedy.clear();
    return jdk;
}

Capability kafka() {
    const auto found = KafkaDistribution::find(kDefaultKafka);
    Capability jars{
        fmt::format("Apache Kafka {}", kDefaultKafka), "--sut kafka", false, found.has_value(), "", ""};
    if (!found) {
        jars.found = found.error().message;
        jars.remedy = fmt::format("scripts/dev kafka {}", kDefaultKafka);
        return jars;
    }
    jars.found =
        fmt::format("{} jars{}", found->jars.size(),
                    found->class_archive.empty() ? ", no archive of classes: starts take longer" : "");
    return jars;
}

Capability program(const std::string& name, const std::string& serves, const std::string& package) {
    const std::string found = in_path(name);
    return {name,
            serves,
            false,
            !found.empty(),
            found.empty() ? fmt::format("no {} in PATH", name) : found,
            found.empty() ? apt(package) : ""};
}

Capability librdkafka() {
    void* library = ::dlopen("librdkafka.so.1", RTLD_LAZY | RTLD_LOCAL);
    const auto version = library == nullptr
                             ? nullptr
                             : reinterpret_cast<const char* (*)()>(::dlsym(library, "rd_kafka_version_str"));
    const bool ok = version != nullptr;
    Capability capability{"librdkafka",
                          "workloads with client = \"rdkafka\": what an application sees",
                          false,
                          ok,
                          ok ? fmt::format("version {}", version()) : "librdkafka.so.1 cannot be loaded",
                          ok ? "" : apt("librdkafka1")};
    if (library != nullptr) ::dlclose(library);
    return capability;
}

Capability our_node() {
    const std::string file = node_program();
    const bool there = ::access(file.c_str(), X_OK) == 0;
    return {"highwater-node",
            "every run",
            true,
            there,
            there ? file : file + " is missing or not executable",
            there ? "" : "scripts/dev build"};
}

Capability scenarios() {
    const std::size_t count = bundled_scenarios().size();
    return {"scenarios",
            "every run by name",
            true,
            count > 0,
            fmt::format("{} beside the program", count),
            count > 0 ? "" : "scripts/dev build"};
}

}  // namespace

int java_release(const std::string& version_output) {
    const std::size_t quote = version_output.find('"');
    if (quote == std::string::npos) return 0;
    std::istringstream in(version_output.substr(quote + 1));
    int first = 0;
    int second = 0;
    char dot = 0;
    in >> first;
    // Until release 8 the version began with 1.
    if (first == 1 && in >> dot >> second) return second;
    return first;
}

std::vector<Capability> examine_machine(const std::string& out) {
    const std::string permit =
        "allow it (a container needs it from outside: user namespaces, CAP_SYS_PTRACE, devices)";
    return {cores(),
            memory(),
            disk(out),
            open_files(),
            our_node(),
            scenarios(),
            addresses(),
            answered("signals", "pause, resume, kill", true, in_child(pause_and_kill),
                     "a stopped process is seen as stopped"),
            clock_source(),
            answered("ptrace", "faults at system calls (later)", false, in_child(trace_a_child),
                     "a child can be traced", permit),
            answered("user namespaces", "isolated networks (later)", false, in_child(unshare_all),
                     "user, net, pid and mount can be unshared", permit),
            cgroups(),
            answered("/dev/net/tun", "packet faults (later)", false, open_device("/dev/net/tun"),
                     "can be opened", permit),
            answered("/dev/fuse", "disk faults through a file system (later)", false,
                     open_device("/dev/fuse"), "can be opened", permit),
            java(),
            kafka(),
            program("mvn", "--sut kafka: fetches Kafka's jars", "maven"),
            program("kcat", "workloads with client = \"kcat\", and a guest client for tests", "kcat"),
            librdkafka(),
            program("chromium", "the tests of report.html", "chromium")};
}

}  // namespace highwater::harness
