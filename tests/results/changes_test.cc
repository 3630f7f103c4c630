// What a run went through: changes of leader and ISR in order, and what clients were told.
#include "results/changes.h"

#include <gtest/gtest.h>

namespace highwater::results {
namespace {

Trace trace_of(const std::string& text) {
    auto trace = parse_trace(text, "trace");
    EXPECT_TRUE(trace.has_value()) << trace.error().message;
    return trace.value_or(Trace{});
}

std::string line(std::int64_t at, const std::string& members) {
    return R"({"t":)" + std::to_string(at) + R"(,"n":100,"i":1,"s":)" + std::to_string(at) +
           R"(,"e":"partition",)" + members + "}\n";
}

TEST(Changes, OneStepForEachThatChangesLeaderEpochOrIsr) {
    const Trace trace = trace_of(
        line(
            1,
            R"("p":"t-0","leader":1,"epoch":0,"partition_epoch":0,"isr":[1,3,2],"elected":true,"unclean":false,"cause":"created")") +
        line(
            2,
            R"("p":"t-0","leader":1,"epoch":0,"partition_epoch":1,"isr":[1,2,3],"elected":false,"unclean":false,"cause":"alter-partition")") +
        line(
            3,
            R"("p":"t-0","leader":1,"epoch":0,"partition_epoch":2,"isr":[1,2],"elected":false,"unclean":false,"cause":"fenced")") +
        line(
            4,
            R"("p":"t-0","leader":2,"epoch":1,"partition_epoch":3,"isr":[2],"elected":true,"unclean":false,"cause":"fenced")") +
        line(
            5,
            R"("p":"t-0","leader":-1,"epoch":2,"partition_epoch":4,"isr":[2],"elected":true,"unclean":false,"cause":"fenced")") +
        line(
            6,
            R"("p":"t-1","leader":2,"epoch":0,"partition_epoch":0,"isr":[],"elected":true,"unclean":false,"cause":"created")"));
    EXPECT_EQ(
        leadership_changes(trace),
        (std::vector<std::string>{"leader 1 epoch 0 ISR 1,2,3 (created)", "ISR 1,2 (fenced)",
                                  "leader 2 epoch 1 ISR 2 (fenced)", "no leader, epoch 2, ISR 2 (fenced)",
                                  "t-1: leader 2 epoch 0 ISR none (created)"}));
}

TEST(Changes, ErrorCodesAreCountedByRequest) {
    History history;
    Operation produce;
    produce.what = Produce{.error = "NOT_ENOUGH_REPLICAS"};
    Operation poll;
    poll.what = Poll{.error = "NOT_LEADER_OR_FOLLOWER"};
    Operation fine;
    fine.what = Produce{.status = Outcome::Ok};
    history.operations.push_back(std::move(produce));
    history.operations.push_back(std::move(poll));
    history.operations.push_back(std::move(fine));
    EXPECT_EQ(error_codes(history),
              (std::map<std::string, std::int64_t>{{"Fetch NOT_LEADER_OR_FOLLOWER", 1},
                                                   {"Produce NOT_ENOUGH_REPLICAS", 1}}));
}

}  // namespace
}  // namespace highwater::results
