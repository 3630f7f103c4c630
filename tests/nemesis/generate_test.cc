// Goal: a mix is a function of its seed, keeps its cap, and is an ordinary schedule. Method: many seeds.
#include "nemesis/generate.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace highwater::nemesis {
namespace {

Scenario with_mix(const std::string& lines) {
    auto scenario = parse_scenario("name = \"s\"\n[cluster]\nbrokers = 5\n[[mix]]\n" + lines, "s.toml", {});
    EXPECT_TRUE(scenario.has_value()) << scenario.error().message;
    return scenario ? *scenario : Scenario{};
}

const std::string kEverything =
    "at = \"1s\"\nfor = \"60s\"\nevery = \"500ms\"\nmost = 2\nsettle = \"1s\"\n"
    "weights = { pause = 3, kill = 2, terminate = 1, wipe = 1, elect = 1, delay = 1, throttle = 1, hold = 2, "
    "cut = 2,"
    " refuse = 2, partition = 1, isolate = 1, ring = 1, bridge = 1, flaky = 1 }\n";

TEST(Generate, TheSameSeedGivesTheSameSchedule) {
    const Scenario scenario = with_mix(kEverything);
    const std::string one = scenario_to_json(with_mixes_drawn(scenario, Rng(7)));
    EXPECT_EQ(one, scenario_to_json(with_mixes_drawn(scenario, Rng(7))));
    EXPECT_NE(one, scenario_to_json(with_mixes_drawn(scenario, Rng(8))));
}

TEST(Generate, WhatIsWrittenIsAScenario) {
    const Scenario drawn = with_mixes_drawn(with_mix(kEverything), Rng(3));
    EXPECT_TRUE(drawn.mixes.empty());
    ASSERT_GT(drawn.faults.size(), 10U);
    const auto again = parse_scenario(scenario_to_json(drawn), "schedule.json", {});
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(scenario_to_json(*again), scenario_to_json(drawn));
    // Drawing again changes nothing: there is nothing left to draw.
    EXPECT_EQ(scenario_to_json(with_mixes_drawn(*again, Rng(4))), scenario_to_json(drawn));
}

/// The node a fault counts as; kNoBroker for those that touch everybody.
BrokerId node_of(const FaultSpec& fault) {
    if (fault.kind == FaultKind::Ring || fault.kind == FaultKind::Bridge || fault.kind == FaultKind::Flaky)
        return kNoBroker;
    if (fault.target) return fault.target->id;
    if (fault.between) return fault.between->first.id;
    const bool to_controller = fault.path->destination.kind == Role::Kind::Controller;
    return to_controller ? fault.path->source.id : fault.path->destination.id;
}

TEST(Generate, NeverMoreNodesThanAsked) {
    const Scenario scenario = with_mix(kEverything);
    std::map<FaultKind, int> seen;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const std::vector<FaultSpec> faults = generate(scenario.mixes[0], scenario, Rng(seed));
        for (const FaultSpec& fault : faults) {
            ++seen[fault.kind];
            EXPECT_TRUE(fault.optional);
            EXPECT_GE(fault.at, seconds(1));
            EXPECT_LT(fault.at, seconds(61));
            if (fault.kind == FaultKind::Elect) continue;
            EXPECT_GE(*fault.lasts, milliseconds(500));
            EXPECT_LE(*fault.lasts, seconds(3));
            std::multiset<BrokerId> struck;
            for (const FaultSpec& other : faults) {
                const bool in_force = other.kind != FaultKind::Elect && other.at <= fault.at &&
                                      other.at + *other.lasts + seconds(1) > fault.at;
                if (in_force) struck.insert(node_of(other));
            }
            EXPECT_LE(struck.size(), struck.contains(kNoBroker) ? 1U : 2U) << fault.id << ", seed " << seed;
            for (const BrokerId node : struck) EXPECT_EQ(struck.count(node), 1U);
        }
    }
    EXPECT_EQ(seen.size(), 15U) << "every kind comes";
    EXPECT_GT(seen[FaultKind::Pause], seen[FaultKind::Terminate]);
}

TEST(Generate, MistakesAreTold) {
    const auto error = [](const std::string& lines) {
        const auto scenario = parse_scenario("name = \"s\"\n[[mix]]\n" + lines, "f.toml", {});
        return scenario ? "" : scenario.error().message;
    };
    EXPECT_NE(error("").find("mix.weights gives no kind a weight"), std::string::npos);
    EXPECT_NE(error("weights = { pawn = 1 }\n").find("unknown fault kind 'pawn'"), std::string::npos);
    EXPECT_NE(error("weights = { resume = 1 }\n").find("a mix does that by itself"), std::string::npos);
    EXPECT_NE(error("weights = { pause = 1 }\nshortest = \"5s\"\n").find("mix.longest is below shortest"),
              std::string::npos);
    EXPECT_NE(error("weights = { pause = 1 }\nmost = 0\n").find("mix.most is 0"), std::string::npos);
}

}  // namespace
}  // namespace highwater::nemesis
