// What this machine can do for highwater, and why not: each answer is tried, not guessed.
#pragma once

#include <string>
#include <vector>

namespace highwater::harness {

struct Capability {
    std::string name;
    /// What it is for: "every run", "--sut kafka", "the tests of report.html" …
    std::string serves;
    /// Without it no run of our own node is possible.
    bool needed = false;
    bool ok = false;
    /// What was found; if not ok, why.
    std::string found;
    /// The command that installs or repairs it; "" where no command can.
    std::string remedy;
};

/// Tries everything; takes about a second. Leaves no process, file or socket behind. `out`: the directory
/// that will hold run directories (its file system is measured).
std::vector<Capability> examine_machine(const std::string& out);

/// "17.0.2", "1.8.0_392" as printed by `java -version`: the feature release (17, 8); 0 if there is none.
int java_release(const std::string& version_output);

}  // namespace highwater::harness
