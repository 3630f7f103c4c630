// The named deliberate bugs of node/bugs.def as a set, and what tells that one of them acted. An empty set is
// a correct node.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace highwater::node {

enum class Bug : std::uint8_t {
#define HW_BUG(enumerator, name, id, origin, mechanism) enumerator,
#include "node/bugs.def"
#undef HW_BUG
};

struct BugInfo {
    Bug bug;
    std::string_view name;
    std::string_view id;
    std::string_view origin;
    std::string_view mechanism;
};

inline constexpr std::array kBugs = {
#define HW_BUG(enumerator, name, id, origin, mechanism) BugInfo{Bug::enumerator, name, id, origin, mechanism},
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
    /// The names, comma separated: what parse() reads.
    [[nodiscard]] std::string to_string() const;

private:
    std::uint64_t bits_ = 0;
};

/// A bug made its holder do what a correct one would not have done, here for the `count`-th time since it was
/// opened (a partition, a controller).
struct BugActivated {
    std::string_view name;
    std::string_view id;
    std::uint64_t count = 0;
};

/// How often each bug acted in one holder.
class BugCounters {
public:
    BugActivated count(Bug bug) {
        const BugInfo& info = kBugs.at(static_cast<std::size_t>(bug));
        return {info.name, info.id, ++counts_.at(static_cast<std::size_t>(bug))};
    }

private:
    std::array<std::uint64_t, kBugs.size()> counts_{};
};

}  // namespace highwater::node
