// Goal: what random faults found around unclean elections stays found. Method: the least directed run.
#include <gtest/gtest.h>

#include "tests/sim/script.h"

namespace highwater::sim {
namespace {

using wire::ApiKey;

/// Broker 2 has 7 committed records when 3, which has 2 of them, is elected. It cuts its log, copies what 3
/// and 1 have not committed, and is killed before the next checkpoint of high watermarks is due.
TEST(Unclean, ARestartedReplicaHasForgottenTheHighWatermarkThatItGaveUp) {
    ClusterOptions options;
    options.seed = 1;
    options.unclean = true;
    Script script(options);
    script.start();
    script.append(1, 2);
    script.pass(seconds(1));
    script.hold(3, 1, ApiKey::Fetch);
    script.until_held(3, 1, ApiKey::Fetch);
    script.append(1, 5, 1);
    script.until_isr({1, 2});
    script.pass(seconds(3));
    script.kill(1);
    script.release(3, 1);
    script.until_leader(2);
    script.kill(2);
    script.until_leader(3);
    script.launch(1);
    script.until_isr({1, 3});
    script.hold(1, 3, ApiKey::Fetch);
    script.until_held(1, 3, ApiKey::Fetch);
    script.append(3, 6, 1);
    script.launch(2);
    script.until_end(2, 8);
    script.kill(2);
    script.hold(2, 3, ApiKey::Fetch);
    script.launch(2);
    script.until("2 to open its log", [&] { return script.replica(2) != nullptr; });
    ASSERT_NE(script.replica(2), nullptr) << script.finish().detail;
    EXPECT_EQ(script.replica(2)->log().log_end_offset(), 8);
    EXPECT_LE(script.replica(2)->high_watermark(), 2);
    EXPECT_EQ(script.finish().broken, "");
}

}  // namespace
}  // namespace highwater::sim
