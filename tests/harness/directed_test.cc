// What a night searches with: whatever the seed draws can be run, on every system, and is drawn again.
#include "harness/directed.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "model/scenario.h"

namespace highwater::harness {
namespace {

constexpr std::uint64_t kSeeds = 500;

TEST(Directed, EverySeedDrawsAScenarioThatCanBeRun) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const auto scenario = parse_scenario(directed_scenario(seed), directed_name(seed), {});
        ASSERT_TRUE(scenario.has_value()) << scenario.error().message << "\n" << directed_scenario(seed);
        EXPECT_EQ(scenario->name, directed_name(seed));
        EXPECT_TRUE(scenario->runs_on("node").has_value());
        EXPECT_TRUE(scenario->runs_on("kafka").has_value());
        EXPECT_FALSE(scenario->faults.empty());
    }
}

TEST(Directed, ASeedDrawsTheSameAgainAndAnotherOneSomethingElse) {
    std::set<std::string> drawn;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        EXPECT_EQ(directed_scenario(seed), directed_scenario(seed));
        drawn.insert(directed_scenario(seed));
    }
    EXPECT_EQ(drawn.size(), kSeeds);
}

}  // namespace
}  // namespace highwater::harness
