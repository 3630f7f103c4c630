// Goal: each deliberate bug of the controller decides what its line in node/bugs.def says, tells the trace
// that it did, and the correct controller does not. Method: the same commands (bench.h) with the bug and
// without it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bench.h"

namespace highwater::node {
namespace {

std::string play(std::vector<std::string> script, std::string_view bug) {
    if (!bug.empty()) script.front() += fmt::format(" bugs={}", bug);
    ControllerBench bench;
    std::string output = bench.run(script);
    EXPECT_EQ(output.find("error: "), std::string::npos) << output;
    return output;
}

/// `wrong`: what only the broken controller says; `right`: what only the correct one says.
void expect_bug(Bug bug, const std::vector<std::string>& script, const std::string& wrong,
                const std::string& right) {
    const BugInfo& info = kBugs.at(static_cast<std::size_t>(bug));
    const std::string correct = play(script, "");
    EXPECT_EQ(correct.find(wrong), std::string::npos) << correct;
    EXPECT_NE(correct.find(right), std::string::npos) << correct;
    EXPECT_EQ(correct.find("bug "), std::string::npos) << correct;
    for (const std::string_view spelling : {info.name, info.id}) {
        const std::string broken = play(script, spelling);
        EXPECT_NE(broken.find(wrong), std::string::npos) << broken;
        EXPECT_EQ(broken.find(right), std::string::npos) << broken;
        EXPECT_NE(broken.find(fmt::format("bug {} acted (1)", info.name)), std::string::npos) << broken;
    }
}

// 1 was fenced, 2 leads; 1 does not know, and its request to drop 2 arrives with the epochs of its own time.
TEST(Bug, Z47ApNoValidate) {
    expect_bug(Bug::ApNoValidate,
               {"start", "brokers 1,2,3", "create-topic t assignment=1,2,3", "advance 11s heartbeats=2,3",
                "heartbeat 1", "alter-partition t-0 from=1 leader-epoch=0 partition-epoch=0 isr=1,3"},
               "unclean leader 1 @2", "FENCED_LEADER_EPOCH");
}

// The leader saw 3 catch up and asked; meanwhile 3 was wiped, and the new incarnation has nothing.
TEST(Bug, Z49ApNoBrokerEpoch) {
    expect_bug(Bug::ApNoBrokerEpoch,
               {"start", "brokers 1,2,3", "create-topic t assignment=1,2,3", "alter-partition t-0 isr=1,2",
                "advance 11s heartbeats=1,2", "register 3 incarnation=b", "heartbeat 3",
                "alter-partition t-0 isr=1,2,3 isr-epochs=3:6"},
               "isr 1,2,3 (alter-partition)", "INELIGIBLE_REPLICA");
}

// 3 is alive but left the ISR; 1 and 2 die.
TEST(Bug, Z52ElectAny) {
    expect_bug(Bug::ElectAny,
               {"start", "brokers 1,2,3", "create-topic t assignment=1,2,3", "alter-partition t-0 isr=1,2",
                "advance 11s heartbeats=2,3", "advance 11s heartbeats=3", "heartbeat 3"},
               "unclean leader 3", "leader none");
}

}  // namespace
}  // namespace highwater::node
