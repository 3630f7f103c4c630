// Runs something in a child process, so that a trap in it is an answer and not the end of the test.
#pragma once

#include <functional>
#include <string>

namespace highwater::sim {

/// What `work` returned, or "assertion failed" and how the child ended. The child's stderr is this process's.
std::string in_child(const std::function<std::string()>& work);

}  // namespace highwater::sim
