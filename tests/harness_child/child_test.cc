// Children die with the harness, leak nothing, and their end is never missed.
#include "harness/child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

namespace highwater::harness {
namespace {

constexpr Duration kPatience = seconds(20);

Instant soon() { return monotonic_now() + kPatience; }

bool eventually(const std::function<bool()>& condition) {
    const Instant deadline = soon();
    while (!condition()) {
        if (monotonic_now() > deadline) return false;
        std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
}

/// A zombie is dead: who reaps it is its parent's affair.
bool dead(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    if (!std::getline(file, line)) return true;
    const char state = line[line.rfind(')') + 2];
    return state == 'Z' || state == 'X';
}

class ChildTest : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "hw_child_XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    [[nodiscard]] std::string output_file() const { return directory_ + "/output"; }
    [[nodiscard]] std::string output() const {
        std::ostringstream text;
        text << std::ifstream(output_file()).rdbuf();
        return text.str();
    }
    [[nodiscard]] ChildOptions shell(const std::string& script) const {
        return {.program = "sh", .args = {"-c", script}, .output_file = output_file()};
    }
    /// The first line of output as a number, once it is there.
    pid_t printed_pid() const {
        EXPECT_TRUE(eventually([&] { return output().find('\n') != std::string::npos; }));
        return static_cast<pid_t>(std::stol(output()));
    }

    std::string directory_;
};

TEST_F(ChildTest, GivesArgumentsEnvironmentDirectoryAndTakesTheOutput) {
    ChildOptions options = shell("echo \"$HW_GREETING\" \"$0\" $(pwd); echo oops >&2; cat; exit 3");
    options.args.push_back("two words");
    options.env["HW_GREETING"] = "hello";
    options.working_directory = "/usr";
    auto child = Child::launch(options);
    ASSERT_TRUE(child) << child.error().message;
    const auto status = child->wait_exit(soon());
    ASSERT_TRUE(status);
    EXPECT_EQ(status->code, 3);
    EXPECT_EQ(status->signal, 0);
    EXPECT_EQ(status->to_string(), "exit code 3");
    EXPECT_EQ(output(), "hello two words /usr\noops\n");
    // The same at every later call, and a second run appends.
    EXPECT_EQ(child->poll_exit()->seen, status->seen);
    ASSERT_TRUE(Child::launch(shell("echo more"))->wait_exit(soon()));
    EXPECT_EQ(output(), "hello two words /usr\noops\nmore\n");
}

TEST_F(ChildTest, TellsTheSignalThatEndedIt) {
    auto child = Child::launch(shell("kill -TERM $$"));
    ASSERT_TRUE(child);
    const auto status = child->wait_exit(soon());
    ASSERT_TRUE(status);
    EXPECT_EQ(status->code, -1);
    EXPECT_EQ(status->signal, SIGTERM);
    EXPECT_EQ(status->to_string(), "signal 15 (Terminated)");
}

TEST_F(ChildTest, SaysWhatIsWrongWithTheLaunch) {
    const auto message = [](const ChildOptions& options) {
        const auto child = Child::launch(options);
        return child ? "launched" : child.error().message;
    };
    ChildOptions options = shell("true");
    options.program = "no-such-program-of-ours";
    EXPECT_EQ(message(options), "program 'no-such-program-of-ours' is not in PATH");
    options.program = "/no/such/program";
    EXPECT_EQ(message(options), "cannot run /no/such/program: No such file or directory");
    options.program = "/usr";
    EXPECT_EQ(message(options), "/usr is a directory");
    const std::string broken = directory_ + "/broken";
    std::ofstream(broken) << "#!/no/such/interpreter\n";
    std::filesystem::permissions(broken, std::filesystem::perms::owner_all);
    options.program = broken;
    EXPECT_EQ(message(options), "cannot run " + broken + ": No such file or directory");
    options = shell("true");
    options.working_directory = "/no/such/directory";
    EXPECT_NE(message(options).find("/no/such/directory: No such file"), std::string::npos)
        << message(options);
    options = shell("true");
    options.output_file = "/no/such/file";
    EXPECT_EQ(message(options), "/no/such/file: No such file or directory");
}

TEST_F(ChildTest, InheritsNoDescriptorsAndNoSignalSettings) {
    int leak[2];
    ASSERT_EQ(::pipe(leak), 0);  // without CLOEXEC, as a careless library would
    sigset_t blocked;
    sigset_t before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    const auto ignored = ::signal(SIGPIPE, SIG_IGN);
    // Programs that look at themselves: a shell blocks signals and opens pipes of its own now and then.
    auto descriptors =
        Child::launch({.program = "ls", .args = {"/proc/self/fd"}, .output_file = output_file()});
    ASSERT_TRUE(descriptors);
    ASSERT_TRUE(descriptors->wait_exit(soon()));
    auto signals = Child::launch({.program = "grep",
                                  .args = {"-E", "Sig(Blk|Ign)", "/proc/self/status"},
                                  .output_file = output_file()});
    ::signal(SIGPIPE, ignored);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ASSERT_TRUE(signals);
    ASSERT_TRUE(signals->wait_exit(soon()));
    // 3 is the directory that ls reads.
    EXPECT_EQ(output(), "0\n1\n2\n3\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    ::close(leak[0]);
    ::close(leak[1]);
}

TEST_F(ChildTest, LeadsAProcessGroupOfItsOwn) {
    auto child = Child::launch(shell("exec sleep 1000"));
    ASSERT_TRUE(child);
    EXPECT_EQ(::getpgid(child->pid()), child->pid());
    EXPECT_EQ(child->poll_exit(), std::nullopt);
    EXPECT_EQ(child->wait_exit(monotonic_now() + milliseconds(5)), std::nullopt);
    const auto status = child->kill(soon());
    ASSERT_TRUE(status);
    EXPECT_EQ(status->signal, SIGKILL);
    EXPECT_EQ(::kill(child->pid(), 0), -1) << "not reaped";
}

TEST_F(ChildTest, DestructionKillsTheGroupEvenIfStopped) {
    pid_t leader = 0;
    pid_t member = 0;
    {
        auto child = Child::launch(shell("sleep 1000 & echo $!; wait"));
        ASSERT_TRUE(child);
        leader = child->pid();
        member = printed_pid();
        ASSERT_EQ(::kill(-leader, SIGSTOP), 0);
    }
    EXPECT_EQ(::kill(leader, 0), -1) << "not reaped";
    EXPECT_TRUE(eventually([&] { return dead(member); }));
}

TEST_F(ChildTest, WhatIsLeftOfTheGroupEndsWithTheLeader) {
    auto child = Child::launch(shell("sleep 1000 & echo $!; exit 0"));
    ASSERT_TRUE(child);
    const auto status = child->wait_exit(soon());
    ASSERT_TRUE(status);
    EXPECT_EQ(status->code, 0);
    const pid_t member = printed_pid();
    EXPECT_TRUE(eventually([&] { return dead(member); }));
}

TEST_F(ChildTest, OutlivesTheThreadThatLaunchedIt) {
    std::optional<Child> child;
    std::thread([&] {
        auto launched = Child::launch(shell("exec sleep 1000"));
        if (launched) child.emplace(std::move(*launched));
    }).join();
    ASSERT_TRUE(child);
    // Had the signal come with the end of that thread, it would be here already: the next child is started
    // after it.
    ASSERT_TRUE(Child::launch(shell("true"))->wait_exit(soon()));
    EXPECT_EQ(child->poll_exit(), std::nullopt);
}

TEST_F(ChildTest, DiesWhenItsHarnessIsKilled) {
    for (const bool stopped : {false, true}) {
        int pipe[2];
        ASSERT_EQ(::pipe(pipe), 0);
        const pid_t harness = ::fork();
        ASSERT_GE(harness, 0);
        if (harness == 0) {
            ::dup2(pipe[1], STDIN_FILENO);
            ::execl(HW_BIN_DIR "/harness-to-be-killed", "harness-to-be-killed", nullptr);
            ::_exit(1);
        }
        ::close(pipe[1]);
        pid_t grandchild = -1;
        ASSERT_EQ(::read(pipe[0], &grandchild, sizeof(grandchild)), static_cast<ssize_t>(sizeof(grandchild)));
        ASSERT_GT(grandchild, 0);
        ASSERT_TRUE(!stopped || ::kill(grandchild, SIGSTOP) == 0);
        EXPECT_FALSE(dead(grandchild));
        ::kill(harness, SIGKILL);
        ::waitpid(harness, nullptr, 0);
        EXPECT_TRUE(eventually([&] { return dead(grandchild); })) << grandchild;
        ::close(pipe[0]);
    }
}

TEST_F(ChildTest, ManyThreadsMayAskAtOnce) {
    for (int round = 0; round < 20; ++round) {
        auto child = Child::launch(shell("exit 7"));
        ASSERT_TRUE(child);
        std::vector<std::thread> threads;
        std::atomic<int> seen{0};
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                const auto status = child->wait_exit(soon());
                if (status && status->code == 7) ++seen;
            });
        }
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(seen, 4);
    }
}

}  // namespace
}  // namespace highwater::harness
