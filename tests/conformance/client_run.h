// One of the real clients, run by scripts/conformance.sh, and what it told of each operation.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/conformance/system.h"

namespace highwater::test {

/// In the order of docs/conformance.md; names as scripts/conformance.sh has them.
const std::vector<std::string>& client_names();

struct OperationRun {
    std::string name;
    std::int64_t milliseconds = 0;
    /// "ok", or what was not as expected.
    std::string result;
};

struct ClientRun {
    int exit_code = -1;
    std::vector<OperationRun> operations;
    /// Both outputs, as they were printed.
    std::string output;
};

/// Runs a client to its end; with `operations` only these, separated by commas. Topics and groups begin with
/// `prefix`. `kill` is called when the client asks for the end of a topic's leader. Never fails the test.
ClientRun run_client(const std::string& client, const System& system, const std::string& prefix,
                     const std::string& operations = "",
                     const std::function<void(const std::string& topic)>& kill = {});

}  // namespace highwater::test
