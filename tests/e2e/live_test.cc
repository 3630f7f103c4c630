// What a user sees on a terminal: lines, and below them one that tells what is going on; with --json no such
// line.
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "tests/e2e/program.h"

namespace highwater::test {
namespace {

/// Everything that `highwater arguments…` writes to a terminal of 200 columns; exit code in `code`.
std::string on_terminal(const std::vector<std::string>& arguments, int& code) {
    std::vector<std::string> words{std::string(HW_BIN_DIR) + "/highwater"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    winsize size{};
    size.ws_row = 24;
    size.ws_col = 200;
    int master = -1;
    const pid_t pid = ::forkpty(&master, nullptr, nullptr, &size);
    if (pid == 0) {
        ::execv(argv.front(), argv.data());
        ::_exit(127);
    }
    if (pid < 0) {
        code = -1;
        ADD_FAILURE() << "no terminal: " << std::strerror(errno) << " (is /dev/pts mounted?)";
        return "";
    }
    std::string seen;
    std::array<char, 4096> buffer{};
    // Reading fails when the other side is closed: by the end of the program.
    for (ssize_t got = 0; (got = ::read(master, buffer.data(), buffer.size())) > 0;)
        seen.append(buffer.data(), static_cast<std::size_t>(got));
    int status = 0;
    ::waitpid(pid, &status, 0);
    ::close(master);
    code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return seen;
}

const std::string kErase = "\r\x1b[K";

TEST(Live, ALineTellsWhatIsGoingOn) {
    const TempDir dir;
    int code = -1;
    const std::string seen = on_terminal({"run", "trap-min-isr-equals-rf", "--out", dir.file("runs")}, code);
    EXPECT_EQ(code, 0) << seen;
    std::vector<std::string> live;
    for (std::size_t at = seen.find(kErase); at != std::string::npos; at = seen.find(kErase, at + 1)) {
        const std::string line =
            seen.substr(at + kErase.size(), seen.find('\r', at + 1) - at - kErase.size());
        if (line.find(" acked ") != std::string::npos) live.push_back(line);
    }
    ASSERT_GT(live.size(), 10U) << seen;
    const auto told = [&live](const std::string& part) {
        return std::any_of(live.begin(), live.end(),
                           [&part](const std::string& line) { return line.find(part) != std::string::npos; });
    };
    for (const char* part : {"failed ", "unknown ", "read ", "HW ", "lag ", "ISR 1,2,3", "ISR 1,2  "})
        EXPECT_TRUE(told(part)) << part << "\n" << seen;
    EXPECT_TRUE(told("| leaves terminate 3")) << seen;
    // The last words stand for themselves.
    const std::size_t verdict = seen.find("valid");
    ASSERT_NE(verdict, std::string::npos) << seen;
    EXPECT_EQ(seen.find(kErase, verdict), std::string::npos) << seen;
}

TEST(Live, NoSuchLineWithJson) {
    const TempDir dir;
    int code = -1;
    const std::string seen =
        on_terminal({"run", "trap-min-isr-equals-rf", "--out", dir.file("runs"), "--json"}, code);
    EXPECT_EQ(code, 0) << seen;
    EXPECT_EQ(seen.find('\x1b'), std::string::npos) << seen;
}

}  // namespace
}  // namespace highwater::test
