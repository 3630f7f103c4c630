// What a run may leave behind: processes and listening sockets.
#pragma once

#include <string>
#include <vector>

namespace highwater::test {

/// Live processes (zombies are dead) whose command line contains both: "1234 java …".
std::vector<std::string> processes_of(const std::string& program, const std::string& word);

/// R of "listeners=INTERNAL://127.R.1.1:19091" in the first broker's properties; 0 while there is none.
int slot_of(const std::string& run_dir);

/// Listening sockets of the slot on our ports: "127.R.S.D:port".
std::vector<std::string> listeners_of(int slot);

std::string joined(const std::vector<std::string>& lines);

}  // namespace highwater::test
