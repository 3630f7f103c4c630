// SIGKILL of the harness in the middle of a run leaves no process and no listening port.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "nemesis/address_plan.h"
#include "tests/e2e/program.h"

namespace highwater::test {
namespace {

/// Live processes (zombies are dead) whose command line contains `word`, other than the test and its harness.
std::vector<std::string> nodes_of(const std::string& word) {
    std::vector<std::string> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const std::string pid = entry.path().filename().string();
        if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
        // A zombie's command line is empty.
        std::string command = read_text("/proc/" + pid + "/cmdline");
        if (command.find(word) == std::string::npos || command.find("highwater-node") == std::string::npos)
            continue;
        std::replace(command.begin(), command.end(), '\0', ' ');
        found.push_back(pid + " " + command);
    }
    return found;
}

/// R of "listeners=INTERNAL://127.R.1.1:19091" in the first node's properties; 0 while there is none.
int slot_of(const std::string& run_dir) {
    const std::string text = read_text(run_dir + "/nodes/1/server.properties");
    const std::string before = "listeners=INTERNAL://127.";
    const std::size_t at = text.find(before);
    int slot = 0;
    if (at != std::string::npos)
        std::from_chars(text.data() + at + before.size(), text.data() + text.size(), slot);
    return slot;
}

/// Listening sockets of the slot on our ports, "127.R.S.D:port".
std::vector<std::string> listeners_of(int slot) {
    std::vector<std::string> found;
    std::istringstream table(read_text("/proc/net/tcp"));
    std::string line;
    std::getline(table, line);  // the heading
    while (std::getline(table, line)) {
        unsigned address = 0;
        unsigned port = 0;
        unsigned state = 0;
        constexpr unsigned kListen = 0x0A;
        if (std::sscanf(line.c_str(), " %*d: %8X:%4X %*8X:%*4X %2X", &address, &port, &state) != 3) continue;
        // The kernel prints the address's bytes as one little-endian number.
        const bool ours = (address & 0xFF) == 127 && ((address >> 8) & 0xFF) == static_cast<unsigned>(slot);
        if (state != kListen || !ours || port < nemesis::kInternalPort || port > nemesis::kControllerPort)
            continue;
        found.push_back(std::to_string((address >> 16) & 0xFF) + "." + std::to_string(address >> 24) + ":" +
                        std::to_string(port));
    }
    return found;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

TEST(KilledHarness, LeavesNoProcessAndNoListener) {
    const TempDir dir;
    Program program(dir, {"run", "unclean-election", "--seed", "7", "--out", dir.file("runs"), "--json"});
    const std::string run_dir = dir.file("runs/latest");
    // In the middle of the run: appends are being acknowledged and the followers are paused.
    ASSERT_TRUE(eventually(seconds(60), [&] {
        const std::string history = read_text(run_dir + "/history.jsonl");
        return history.find("\"pause\"") != std::string::npos;
    })) << read_text(dir.file("stderr.txt"));
    ASSERT_EQ(nodes_of(dir.path()).size(), 4U) << joined(nodes_of(dir.path()));
    const int slot = slot_of(run_dir);
    ASSERT_GT(slot, 0);
    ASSERT_GE(listeners_of(slot).size(), 10U) << joined(listeners_of(slot));

    program.kill_now();

    EXPECT_TRUE(eventually(seconds(2), [&] { return nodes_of(dir.path()).empty(); }))
        << joined(nodes_of(dir.path()));
    EXPECT_TRUE(eventually(seconds(2), [&] { return listeners_of(slot).empty(); }))
        << joined(listeners_of(slot));
}

TEST(InterruptedHarness, LeavesNothingAndSaysSo) {
    const TempDir dir;
    Program program(dir, {"run", "unclean-election", "--seed", "7", "--out", dir.file("runs"), "--json"});
    ASSERT_TRUE(eventually(seconds(60), [&] { return nodes_of(dir.path()).size() == 4; }));
    program.interrupt();
    const Ended ended = program.wait(seconds(60));
    EXPECT_EQ(ended.exit_code, 130) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_TRUE(nodes_of(dir.path()).empty()) << joined(nodes_of(dir.path()));
}

}  // namespace
}  // namespace highwater::test
