// The small language of `until`: "isr == {leader}", "leader != death.target and isr.size >= 2", "leo(id:3) >
// 18".
//   condition := comparison { "and" comparison }
//   comparison := term [op term]      op: == != < <= > >=; a term alone means: at least 1
//   term := isr | isr.size | leader | epoch | hw | leo | hw(role) | leo(role) | acked | fenced(role)
//         | checkpoint(role) | answered(role) | passed(frames) | held(frames) | trace(line) | log(line)
//         | none | all | true | false | number | {term, term…} | id:N | <fault id>.target
//   frames := API [request | response] role->role      "AlterPartition request leader->controller"
//   line := kind [at role] {field=value}               "isr-committed at leader epoch=3"
//         | role ~ "text"                              of log: the text is part of the line
// isr, leader and epoch are those of the partition under test; hw, leo and checkpoint the leader's.
// answered(role) is whether every one of them answered, the four event terms are how often it happened; held
// is about now, the others about the time since the fault struck. A term that nobody can answer now makes its
// comparison false. docs/faults.md is the user's page.
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
#include "base/time.h"
#include "model/event_query.h"

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
    /// High watermark of the partition in the process's checkpoint file.
    [[nodiscard]] virtual std::optional<Offset> checkpoint(BrokerId) const { return std::nullopt; }
    /// Whether it answered a question asked at `since` or later.
    [[nodiscard]] virtual std::optional<bool> answered(BrokerId, Instant) const { return std::nullopt; }
    /// Events at `since` or later. A cluster that has no relays, traces or logs knows nothing of them. The
    /// first question of a (query, since) should come at `since`: a log line has no time of its own.
    [[nodiscard]] virtual std::optional<std::int64_t> frames_passed(const FrameQuery&, Instant) const {
        return std::nullopt;
    }
    [[nodiscard]] virtual std::optional<std::int64_t> trace_lines(const TraceQuery&, Instant) const {
        return std::nullopt;
    }
    [[nodiscard]] virtual std::optional<std::int64_t> log_lines(const LogQuery&, Instant) const {
        return std::nullopt;
    }
    /// Frames that wait in relays now.
    [[nodiscard]] virtual std::optional<std::int64_t> frames_held(const FrameQuery&) const {
        return std::nullopt;
    }
    /// Who holds a role now ("leader", "follower:any" …); empty if nobody.
    [[nodiscard]] virtual std::vector<BrokerId> resolve(std::string_view role) const = 0;
};

class Condition {
public:
    /// Errors name the position of what is not understood.
    static Result<Condition> parse(std::string_view text);
    /// Events count from `since` on.
    [[nodiscard]] bool holds(const ClusterFacts& facts, Instant since = {}) const;
    /// It speaks of events, which may be over before the next look at states.
    [[nodiscard]] bool has_events() const;
    /// APIs named in passed(…) and held(…), for validation by who knows them.
    [[nodiscard]] std::vector<std::string> apis() const;
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
            Checkpoint,
            Answered,
            Passed,
            Held,
            Traced,
            Logged,
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
        std::variant<std::monostate, FrameQuery, TraceQuery, LogQuery> event{};
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

    static TermValue value_of(const Term& term, const ClusterFacts& facts, Instant since);
    static TermValue value_of_role(const Term& term, const ClusterFacts& facts, Instant since);
    static TermValue value_of_event(const Term& term, const ClusterFacts& facts, Instant since);
    static TermValue value_of_set(const Term& term, const ClusterFacts& facts, Instant since);
    static bool compare(const TermValue& left, Operator op, const TermValue& right);
    static void collect_fault_ids(const Term& term, std::vector<std::string>& into);

    std::string text_;
    std::vector<Comparison> comparisons_;
};

}  // namespace highwater
