#include "tests/sim/forked.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/assert.h"

namespace highwater::sim {

std::string in_child(const std::function<std::string()>& work) {
    std::array<int, 2> ends{};
    HW_ASSERT(pipe(ends.data()) == 0);
    const pid_t child = fork();
    HW_ASSERT(child >= 0);
    if (child == 0) {
        const std::string answer = work();
        // Shorter than the pipe holds, so one write is all.
        const bool told = write(ends[1], answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
        _exit(told ? 0 : 1);
    }
    close(ends[1]);
    std::string answer;
    std::array<char, 4096> some{};
    for (ssize_t got = read(ends[0], some.data(), some.size()); got > 0;
         got = read(ends[0], some.data(), some.size()))
        answer.append(some.data(), static_cast<std::size_t>(got));
    close(ends[0]);
    int status = 0;
    HW_ASSERT(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return answer;
    return fmt::format("assertion failed: the child ended with status {}", status);
}

}  // namespace highwater::sim
