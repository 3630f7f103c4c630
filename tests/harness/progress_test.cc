// The line at the bottom of a terminal, seen through a pseudo terminal: redrawn, never torn by other lines,
// gone at the end; and no such line anywhere else.
#include "harness/progress.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"

namespace highwater::harness {
namespace {

constexpr Duration kPatience = seconds(20);

class Terminal {
public:
    explicit Terminal(unsigned short columns) {
        winsize size{};
        size.ws_row = 24;
        size.ws_col = columns;
        EXPECT_EQ(::openpty(&master_, &slave_, nullptr, nullptr, &size), 0);
    }
    ~Terminal() {
        ::close(master_);
        ::close(slave_);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    [[nodiscard]] int fd() const { return slave_; }

    /// Reads until `seen` holds of everything read so far.
    bool read_until(const std::function<bool(const std::string&)>& seen) {
        const Instant deadline = monotonic_now() + kPatience;
        while (!seen(bytes_)) {
            if (monotonic_now() > deadline) return false;
            pollfd entry{master_, POLLIN, 0};
            if (::poll(&entry, 1, 100) <= 0) continue;
            std::array<char, 4096> buffer{};
            const ssize_t got = ::read(master_, buffer.data(), buffer.size());
            if (got > 0) bytes_.append(buffer.data(), static_cast<std::size_t>(got));
        }
        return true;
    }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }
    /// What stands on the screen: complete lines, then the last one. "\r" goes back, ESC[K erases the rest.
    [[nodiscard]] std::vector<std::string> screen() const {
        std::vector<std::string> lines(1);
        std::size_t column = 0;
        for (std::size_t i = 0; i < bytes_.size(); ++i) {
            if (bytes_[i] == '\n') {
                lines.emplace_back();
                column = 0;
            } else if (bytes_[i] == '\r') {
                column = 0;
            } else if (bytes_.compare(i, 3, "\x1b[K") == 0) {
                lines.back().resize(column);
                i += 2;
            } else {
                lines.back().resize(std::max(lines.back().size(), column + 1), ' ');
                lines.back()[column++] = bytes_[i];
            }
        }
        return lines;
    }

private:
    int master_ = -1;
    int slave_ = -1;
    std::string bytes_;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Progress, IsRedrawnBelowWholeLinesAndGoneAtTheEnd) {
    Terminal terminal(60);
    std::atomic<int> asked{0};
    Progress progress(terminal.fd());
    ASSERT_TRUE(progress.on_terminal());
    progress.show([&asked] { return "acked " + std::to_string(++asked) + " of many"; });
    ASSERT_TRUE(terminal.read_until([](const std::string& seen) { return has(seen, "acked 2 of"); }));
    EXPECT_TRUE(terminal.screen().back().starts_with("acked "));

    constexpr int kLines = 200;
    const auto print = [&progress](const std::string& who) {
        for (int i = 0; i < kLines; ++i) progress.print(who + " says " + std::to_string(i));
    };
    std::thread one(print, "one");
    std::thread two(print, "two");
    EXPECT_TRUE(terminal.read_until([](const std::string& seen) {
        return has(seen, "one says 199\r\n") && has(seen, "two says 199\r\n");
    }));
    one.join();
    two.join();
    const int before = asked;
    EXPECT_TRUE(terminal.read_until(
        [before](const std::string& seen) { return has(seen, "acked " + std::to_string(before + 1)); }));
    progress.stop();
    progress.print("the end");
    ASSERT_TRUE(terminal.read_until([](const std::string& seen) { return has(seen, "the end\r\n"); }));

    std::vector<std::string> lines = terminal.screen();
    EXPECT_EQ(lines.back(), "") << "the line is gone";
    lines.pop_back();
    EXPECT_EQ(lines.back(), "the end");
    EXPECT_EQ(lines.size(), 2U * kLines + 1) << "nothing but what was printed stays";
    for (const std::string& line : lines)
        EXPECT_TRUE(line.starts_with("one says ") || line.starts_with("two says ") || line == "the end")
            << line;
}

TEST(Progress, NeverWraps) {
    Terminal terminal(20);
    Progress progress(terminal.fd());
    progress.show([] { return std::string(100, 'x') + "end"; });
    ASSERT_TRUE(terminal.read_until([](const std::string& seen) { return has(seen, "xxx"); }));
    progress.stop();
    ASSERT_TRUE(terminal.read_until([](const std::string& seen) { return seen.ends_with("\x1b[K"); }));
    EXPECT_TRUE(has(terminal.bytes(), std::string(19, 'x')));
    EXPECT_FALSE(has(terminal.bytes(), std::string(20, 'x')));
}

TEST(Progress, PrintsAndNothingElseWhereThereIsNoTerminal) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    std::atomic<bool> asked{false};
    {
        Progress progress(ends[1]);
        EXPECT_FALSE(progress.on_terminal());
        progress.show([&asked] {
            asked = true;
            return std::string("line");
        });
        progress.print("text");
    }
    ::close(ends[1]);
    std::array<char, 100> buffer{};
    const ssize_t got = ::read(ends[0], buffer.data(), buffer.size());
    EXPECT_EQ(std::string(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))), "text\n");
    EXPECT_FALSE(asked);
    ::close(ends[0]);
    Terminal terminal(80);
    EXPECT_FALSE(Progress(terminal.fd(), false).on_terminal()) << "--json";
}

FaultRecord fault(const std::string& id, FaultKind kind, std::vector<BrokerId> targets) {
    FaultRecord record;
    record.id = id;
    record.kind = kind;
    record.targets = std::move(targets);
    record.ok = true;
    return record;
}

TEST(ActiveFaults, AreThoseInForce) {
    ActiveFaults active;
    active.struck(fault("even", FaultKind::Await, {}), "", true);
    EXPECT_EQ(active.text(), "even await");
    active.completed("even");
    EXPECT_EQ(active.text(), "");
    active.struck(fault("lag", FaultKind::Pause, {2, 3}), "", false);
    active.completed("lag");  // its `until` holds; it stays in force
    active.struck(fault("death", FaultKind::Kill, {1}), "", false);
    EXPECT_EQ(active.text(), "death kill 1; lag pause 2,3");
    active.struck(fault("half", FaultKind::Resume, {2}), "", false);
    EXPECT_EQ(active.text(), "death kill 1; lag pause 2,3") << "3 is still paused";
    active.struck(fault("thaw", FaultKind::Resume, {2, 3}), "", false);
    EXPECT_EQ(active.text(), "death kill 1");
    active.struck(fault("back", FaultKind::Restart, {1}), "", false);
    EXPECT_EQ(active.text(), "");
    FaultRecord held = fault("starved", FaultKind::Hold, {2});
    held.paths = {{1, 2}};
    active.struck(held, "", false);
    EXPECT_EQ(active.text(), "starved hold 1->2");
    active.struck(fault("fed", FaultKind::Release, {2}), "starved", false);
    EXPECT_EQ(active.text(), "");
    FaultRecord failed = fault("none", FaultKind::Pause, {});
    failed.ok = false;
    active.struck(failed, "", false);
    EXPECT_EQ(active.text(), "");
    active.struck(fault("lag2", FaultKind::Pause, {2}), "", false);
    active.clear();
    EXPECT_EQ(active.text(), "");
}

}  // namespace
}  // namespace highwater::harness
