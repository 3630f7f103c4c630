// The harness that child_test starts and kills: it launches one child, writes the child's pid to its standard
// input (a pipe of the test's), and waits for its end.
#include <unistd.h>

#include "harness/child.h"

int main() {
    auto child =
        highwater::harness::Child::launch({.program = "sleep", .args = {"1000"}, .output_file = "/dev/null"});
    const pid_t pid = child ? child->pid() : -1;
    if (::write(STDIN_FILENO, &pid, sizeof(pid)) != static_cast<ssize_t>(sizeof(pid))) return 1;
    while (true) ::pause();
}
