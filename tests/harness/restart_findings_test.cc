// A restarted broker that had to wait for its old session is told, with the time; one that never came back
// too.
#include <gtest/gtest.h>

#include "harness/findings.h"

namespace highwater::harness {
namespace {

TEST(RestartFindings, TellHowLongARegistrationWaited) {
    FaultRecord restart;
    restart.id = "back";
    restart.kind = FaultKind::Restart;
    restart.targets = {1, 2, 3, 100};
    restart.requested = Instant{1'000'000'000};
    restart.effective = Instant{1'010'000'000};
    restart.ok = true;
    Trace trace;
    const auto registered = [&trace](BrokerId node, std::int64_t at) {
        TraceEvent event;
        event.kind = TraceKind::Registered;
        event.node = node;
        event.at = Instant{at};
        trace.events.push_back(event);
    };
    registered(1, 500'000'000);  // its first start
    registered(2, 1'020'000'000);
    registered(1, 3'510'000'000);
    EXPECT_EQ(
        restart_findings(trace, {restart}),
        (std::vector<std::string>{"broker 1 registered 2.50 s after 'back', when its old session was over",
                                  "broker 3 did not register after 'back'"}));
    restart.ok = false;
    EXPECT_TRUE(restart_findings(trace, {restart}).empty());
}

}  // namespace
}  // namespace highwater::harness
