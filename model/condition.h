// The small language of `until`: "isr == {leader}", "leader != death.target and isr.size >= 2", "leo(id:3) >
// 18".
//   condition := comparison { "and" comparison }
//   comparison := term op term        op: == != < <= > >=
//   term := isr | isr.size | leader | epoch | hw | leo | hw(role) | leo(role) | acked | fenced(role)
//         | none | all | true | false | number | {term, term…} | id:N | <fault id>.target
// isr, leader and epoch are those of the partition under test; hw and leo the leader's. A term that nobody
// can answer now makes its comparison false. docs/scenarios.md is the user's page.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace highwater {

/// The cluster as seen now; nullopt where nobody knows.
class ClusterFacts {
public:
    virtual ~ClusterFacts() = default;
    [[nodiscard]] virtual std::optional<std::vector<BrokerId>> isr() const = 0;
    [[nodiscard]] virtual std::vector<BrokerId> replicas() const = 0;
    /// kNoBroker: known that there is none.
    [[nodiscard]] virtual std::optional<BrokerId> leader() const = 0;
    [[nodiscard]] virtual std::optional<LeaderEpoch> epoch() const = 0;
    [[nodiscard]] virtual std::optional<Offset> high_watermark(BrokerId broker) const = 0;
    [[nodiscard]] virtual std::optional<Offset> log_end_offset(BrokerId broker) const = 0;
    [[nodiscard]] virtual bool fenced(BrokerId broker) const = 0;
    /// Producer acknowledgements so far.
    [[nodiscard]] virtual std::int64_t acked() const = 0;
    /// Processes struck by the fault of this id; nullopt before it struck.
    [[nodiscard]] virtual std::optional<std::vector<BrokerId>> targets_of(
        const std::string& fault_id) const = 0;
    /// Who holds a role now ("leader", "follower:any" …); empty if nobody.
    [[nodiscard]] virtual std::vector<BrokerId> resolve(std::string_view role) const = 0;
};

class Condition {
public:
    /// Errors name the position of what is not understood.
    static Result<Condition> parse(std::string_view text);
    [[nodiscard]] bool holds(const ClusterFacts& facts) const;
    [[nodiscard]] const std::string& text() const { return text_; }
    /// Ids of faults it refers to, for validation.
    [[nodiscard]] std::vector<std::string> fault_ids() const;

private:
    struct Term {
        enum class Kind : std::uint8_t {
            Isr,
            IsrSize,
            Leader,
            Epoch,
            Hw,
            Leo,
            Acked,
            Fenced,
            None,
            All,
            True,
            False,
            Number,
            Set,
            Id,
            TargetOf
        };
        Kind kind = Kind::None;
        std::int64_t number = 0;
        std::string argument;
        std::vector<Term> members;
    };
    enum class Operator : std::uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };
    struct Comparison {
        Term left;
        Operator op = Operator::Equal;
        Term right;
    };
    using Set = std::set<BrokerId>;
    using TermValue = std::variant<std::monostate, std::int64_t, Set>;
    class Parser;

    static TermValue value_of(const Term& term, const ClusterFacts& facts);
    static bool compare(const TermValue& left, Operator op, const TermValue& right);
    static void collect_fault_ids(const Term& term, std::vector<std::string>& into);

    std::string text_;
    std::vector<Comparison> comparisons_;
};

}  // namespace highwater
