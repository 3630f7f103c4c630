// The named deliberate bugs of node/bugs.def as a set. An empty set is a correct node.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace highwater::node {

enum class Bug : std::uint8_t {
#define HW_BUG(enumerator, name, id, mechanism) enumerator,
#include "node/bugs.def"
#undef HW_BUG
};

struct BugInfo {
    Bug bug;
    std::string_view name;
    std::string_view id;
    std::string_view mechanism;
};

inline constexpr std::array kBugs = {
#define HW_BUG(enumerator, name, id, mechanism) BugInfo{Bug::enumerator, name, id, mechanism},
#include "node/bugs.def"
#undef HW_BUG
};

class Bugs {
public:
    [[nodiscard]] bool has(Bug bug) const { return (bits_ >> static_cast<unsigned>(bug) & 1U) != 0; }
    [[nodiscard]] bool empty() const { return bits_ == 0; }
    void add(Bug bug) { bits_ |= std::uint64_t{1} << static_cast<unsigned>(bug); }
    /// "serve_above_hw" or "Z06", comma separated; "" is the empty set. Errors: an unknown name, with those
    /// that exist.
    static Result<Bugs> parse(std::string_view list);
    [[nodiscard]] std::vector<BugInfo> list() const;

private:
    std::uint64_t bits_ = 0;
};

}  // namespace highwater::node
