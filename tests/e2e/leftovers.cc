#include "tests/e2e/leftovers.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "nemesis/address_plan.h"
#include "nemesis/tcp_table.h"
#include "tests/e2e/program.h"

namespace highwater::test {

std::vector<std::string> processes_of(const std::string& program, const std::string& word) {
    std::vector<std::string> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const std::string pid = entry.path().filename().string();
        if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
        // A zombie's command line is empty.
        std::string command = read_text("/proc/" + pid + "/cmdline");
        if (command.find(word) == std::string::npos || command.find(program) == std::string::npos) continue;
        std::replace(command.begin(), command.end(), '\0', ' ');
        found.push_back(pid + " " + command);
    }
    return found;
}

int slot_of(const std::string& run_dir) {
    const std::string text = read_text(run_dir + "/nodes/1/server.properties");
    const std::string before = "listeners=INTERNAL://127.";
    const std::size_t at = text.find(before);
    int slot = 0;
    if (at != std::string::npos)
        std::from_chars(text.data() + at + before.size(), text.data() + text.size(), slot);
    return slot;
}

std::vector<std::string> listeners_of(int slot) {
    std::vector<std::string> found;
    const std::string ours = "127." + std::to_string(slot) + ".";
    const auto sockets = nemesis::read_tcp_table();
    if (!sockets) return {sockets.error().message};
    for (const nemesis::TcpSocket& socket : *sockets) {
        const std::string local = socket.local.to_string();
        if (socket.state != nemesis::TcpState::Listen || !local.starts_with(ours)) continue;
        if (socket.local.port < nemesis::kInternalPort || socket.local.port > nemesis::kControllerPort)
            continue;
        found.push_back(local);
    }
    return found;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

}  // namespace highwater::test
