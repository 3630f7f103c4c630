// Which properties this run could not break, because what they compare was not to be seen: the verdict says
// so instead of passing them in silence.
#include "checker/properties.h"

namespace highwater::checker {
namespace {

constexpr const char* kNoTrace = "there is no trace of what brokers and controller did";
constexpr const char* kNoOrder = "seen from outside, what several brokers did has no exact order";
constexpr const char* kNoMoves =
    "a leader's high watermark is seen by probes, not when it moves, and not what it knew then";
constexpr const char* kNoServe =
    "what a broker served, and its high watermark then, is not seen from outside";
constexpr const char* kNoAppend = "which ISR a leader knew when it appended is not seen from outside";

/// nullptr: it is checked there.
struct Property {
    const char* name;
    const char* from_outside;
};
/// All that need a trace. Those that clients' histories decide alone are always checked.
constexpr Property kTraced[] = {
    // The controller's own lines are in order, wherever they come from.
    {"EpochMonotone", nullptr},
    {"LeaderInIsr", nullptr},
    {"FencedNotInIsr", nullptr},
    {"FencedLeader", nullptr},
    {"acked-outside-isr", nullptr},
    {"HwLeLeo", kNoOrder},
    {"CommitUnique", kNoOrder},
    {"LogMatching", kNoOrder},
    {"WeakIsr", kNoOrder},
    {"StrongIsr", kNoOrder},
    {"CandidateCompleteness", kNoOrder},
    {"LeaderCompleteness", kNoOrder},
    {"ConsistentRead", kNoOrder},
    {"OneLeaderPerEpoch", kNoOrder},
    {"EpochsInLogNondecreasing", kNoOrder},
    {"MaximalIsrSuperset", kNoOrder},
    {"AckQuorum", kNoOrder},
    {"unexplained-truncation", kNoOrder},
    {"follower-hw-above-leader", kNoOrder},
    {"hw-above-isr", kNoMoves},
    {"hw-regression (of a leader's own moves)", kNoMoves},
    {"visible-under-min-isr", kNoMoves},
    {"dirty-read (served above the high watermark)", kNoServe},
    {"acked-not-visible", kNoServe},
    {"min-isr-not-refused", kNoAppend},
};

}  // namespace

void list_unchecked(const Context& context, Findings& findings) {
    bool outside = false;
    if (context.traced) {
        for (const TraceEvent& line : context.input.trace->events) outside = outside || line.outside;
        if (!outside) return;
    }
    for (const Property& property : kTraced) {
        const char* const why = context.traced ? property.from_outside : kNoTrace;
        if (why != nullptr) findings.unchecked(property.name, why);
    }
}

}  // namespace highwater::checker
