// How often the same kind of line may go into the process log: a flood of hostile connections must not fill
// the disk with the lines about it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/time.h"

namespace highwater::node {

/// Lines that begin with WARN are limited per kind (the text before the first colon, numbers left out);
/// others always pass, they are written by events that cost their cause more than a line.
class LogLimit {
public:
    /// Lines of one kind that may come at once; after that one a second.
    static constexpr int kBurst = 20;
    /// Kinds that are told apart; further ones share one allowance.
    static constexpr std::size_t kKinds = 64;

    struct Verdict {
        bool write = true;
        /// To be written before the line: how many of its kind were left out since the last.
        std::optional<std::string> before;
    };
    Verdict admit(Instant now, const std::string& line);

private:
    struct Allowance {
        double left = kBurst;
        Instant at;
        std::uint64_t left_out = 0;
    };
    std::map<std::string, Allowance> kinds_;
};

}  // namespace highwater::node
