// The words of faults: what each kind takes, what it refuses, and that everything is written as it is read.
#include <gtest/gtest.h>

#include "model/scenario.h"

namespace highwater {
namespace {

Result<Scenario> parse(const std::string& fault) {
    return parse_scenario("name = \"s\"\n[[fault]]\n" + fault, "f.toml", {});
}
std::string error_of(const std::string& fault) {
    const auto scenario = parse(fault);
    return scenario ? "" : scenario.error().message;
}
FaultSpec read(const std::string& fault) {
    const auto scenario = parse(fault);
    if (!scenario) {
        ADD_FAILURE() << scenario.error().message;
        return {};
    }
    const std::string json = scenario_to_json(*scenario);
    const auto again = parse_scenario(json, "again.json", {});
    EXPECT_TRUE(again.has_value()) << again.error().message;
    if (again) {
        EXPECT_EQ(scenario_to_json(*again), json);
    }
    return scenario->faults.at(0);
}

TEST(Faults, EveryKindHasItsKeys) {
    EXPECT_EQ(read("kind = \"throttle\"\npath = \"leader->id:2\"\nrate = \"64KB/s\"\n").rate, 64'000);
    EXPECT_EQ(read("kind = \"terminate\"\ntarget = \"leader\"\nkill_after = \"5s\"\n").kill_after,
              seconds(5));
    EXPECT_TRUE(read("kind = \"elect\"\nelection = \"unclean\"\n").unclean);
    EXPECT_FALSE(read("kind = \"elect\"\n").unclean);
    EXPECT_EQ(read("kind = \"forge-fetch\"\ntarget = \"follower:all\"\n").target->to_string(),
              "follower:all");
    EXPECT_TRUE(is_momentary(FaultKind::ForgeFetch)) << "what was told cannot be taken back";
    EXPECT_TRUE(
        read("kind = \"hold\"\npath = \"leader->id:2\"\nif_closed = \"discard\"\n").discard_if_closed);
    EXPECT_TRUE(read("kind = \"wipe\"\ntarget = \"id:2\"\noptional = true\nfor = \"1s\"\n").optional);
    const FaultSpec split = read(
        "kind = \"partition\"\nbetween = [\"leader+follower:any\", \"controller\"]\nway = \"out\"\nby = "
        "\"cut\"\n");
    EXPECT_EQ(split.between->first.to_string(), "leader+follower:any");
    EXPECT_EQ(split.between->second.to_string(), "controller");
    EXPECT_EQ(split.way, Way::Out);
    EXPECT_EQ(split.by, FaultKind::Cut);
    EXPECT_FALSE(split.planes.client) << "clients are struck when they are named";
    EXPECT_TRUE(read("kind = \"isolate\"\ntarget = \"leader\"\nplane = \"data+client\"\n").planes.client);
    EXPECT_EQ(read("kind = \"ring\"\n").by, FaultKind::Hold);
    EXPECT_TRUE(read("kind = \"bridge\"\ntarget = \"id:2\"\n").target.has_value());
    const FaultSpec flaky =
        read("kind = \"flaky\"\npath = \"brokers->brokers\"\nstep = \"50ms\"\nby = \"refuse\"\n");
    EXPECT_EQ(flaky.step, milliseconds(50));
    EXPECT_EQ(flaky.by, FaultKind::Refuse);
}

TEST(Faults, AKeyThatMeansNothingToTheKindIsRefused) {
    const std::pair<const char*, const char*> mistakes[] = {
        {"kind = \"pause\"\ntarget = \"leader\"\nrate = \"1KB/s\"\n", "fault.rate is for throttle"},
        {"kind = \"pause\"\ntarget = \"leader\"\napi = \"Fetch\"\n", "fault.api narrows nothing here"},
        {"kind = \"kill\"\ntarget = \"leader\"\nkill_after = \"1s\"\n", "fault.kill_after is for terminate"},
        {"kind = \"throttle\"\npath = \"leader->id:2\"\n", "fault.rate is missing"},
        {"kind = \"throttle\"\npath = \"leader->id:2\"\nrate = \"fast\"\n", "'fast' is no bandwidth"},
        {"kind = \"throttle\"\npath = \"leader->id:2\"\nrate = \"0B/s\"\n", "'0B/s' is no bandwidth"},
        {"kind = \"elect\"\ntarget = \"leader\"\n", "elect has none"},
        {"kind = \"elect\"\nelection = \"dirty\"\n", "is 'dirty', not one of: preferred, unclean"},
        {"kind = \"forge-fetch\"\n", "fault.target is missing"},
        {"kind = \"partition\"\n", "fault.between is missing"},
        {"kind = \"partition\"\nbetween = [\"leader\"]\n", "fault.between does not name two sides"},
        {"kind = \"partition\"\nbetween = [\"leader\", \"nobody\"]\n", "unknown role 'nobody'"},
        {"kind = \"ring\"\ntarget = \"leader\"\n", "fault.target is for isolate and bridge"},
        {"kind = \"isolate\"\n", "fault.target is missing"},
        {"kind = \"isolate\"\ntarget = \"leader\"\nplane = \"air\"\n", "'air' is no plane"},
        {"kind = \"isolate\"\ntarget = \"leader\"\nway = \"up\"\n", "'up' is no way"},
        {"kind = \"isolate\"\ntarget = \"leader\"\nby = \"delay\"\n",
         "is 'delay', not one of: hold, cut, refuse"},
        {"kind = \"isolate\"\ntarget = \"leader\"\nby = \"refuse\"\napi = \"Fetch\"\n", "cannot be narrowed"},
        {"kind = \"isolate\"\ntarget = \"id:9\"\n", "target names id 9"},
        {"kind = \"isolate\"\ntarget = \"leader+id:9\"\n", "target names id 9"},
        {"kind = \"flaky\"\n", "fault.path is missing"},
        {"kind = \"hold\"\npath = \"leader->id:2\"\nif_closed = \"keep\"\n", "not one of: deliver, discard"},
        {"kind = \"restart\"\ntarget = \"id:2\"\nfor = \"1s\"\n", "for would have nothing to undo"},
        {"kind = \"pause\"\ntarget = \"leader\"\noptional = \"yes\"\n",
         "fault.optional is not true or false"},
        {"kind = \"pause\"\ntarget = \"leader+\"\n", "unknown role ''"},
    };
    for (const auto& [fault, told] : mistakes) {
        EXPECT_NE(error_of(fault).find(told), std::string::npos)
            << "told:     " << error_of(fault) << "\nexpected: " << told;
    }
}

TEST(Faults, RatesBothWays) {
    EXPECT_EQ(parse_byte_rate("500B/s"), 500);
    EXPECT_EQ(parse_byte_rate("2MB/s"), 2'000'000);
    for (const std::int64_t rate : {1L, 999L, 64'000L, 1'500'000L, 3'000'000L}) {
        EXPECT_EQ(parse_byte_rate(format_byte_rate(rate)), rate);
    }
    for (const char* text : {"", "5", "KB/s", "-1KB/s", "1.5MB/s", "9999999MB/s"}) {
        EXPECT_FALSE(parse_byte_rate(text).has_value()) << text;
    }
}

TEST(Faults, AWrittenScheduleIsAScenario) {
    const auto scenario = parse_scenario(
        R"({"name": "s", "scenario": "s", "seed": 7, "faults": [{"id": "a"}],
            "fault": [{"id": "a", "at": "1s", "kind": "pause", "target": "id:2", "for": "2s", "optional": true}]})",
        "schedule.json", {});
    ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
    ASSERT_EQ(scenario->faults.size(), 1U);
    EXPECT_TRUE(scenario->faults[0].optional);
}

TEST(Faults, SettingsReachMixes) {
    const auto scenario = parse_scenario("name = \"s\"\n[[mix]]\nweights = { pause = 1 }\n", "f.toml",
                                         {{"mix.most", "3"}, {"mix.every", "100ms"}});
    ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
    EXPECT_EQ(scenario->mixes.at(0).most, 3);
    EXPECT_EQ(scenario->mixes.at(0).every, milliseconds(100));
    EXPECT_EQ(scenario->mixes.at(0).weights.at("pause"), 1);
}

}  // namespace
}  // namespace highwater
