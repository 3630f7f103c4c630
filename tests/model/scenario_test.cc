// Scenario files: every mistake is told with file, line and key; settings reach every key; what is written is
// read back.
#include "model/scenario.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace highwater {
namespace {

const std::string kHead = R"(name = "s"
[cluster]
brokers = 3
broker.session.timeout.ms = 3000
[topic]
assignment = [1, 2, 3]
[[workload]]
kind = "append"
)";

Result<Scenario> parse(const std::string& text, std::vector<Setting> settings = {}) {
    return parse_scenario(text, "f.toml", settings);
}
std::string error_of(const std::string& text, std::vector<Setting> settings = {}) {
    const auto scenario = parse(text, std::move(settings));
    return scenario ? "" : scenario.error().message;
}
std::string fault(const std::string& lines) { return kHead + "[[fault]]\n" + lines; }

struct Mistake {
    std::string text;
    std::string told;
};

TEST(ScenarioLoader, AVerdictIsExpectedOfEveryClusterOrOfOne) {
    EXPECT_EQ(parse(kHead)->expect.verdict_on("node"), "valid");
    EXPECT_EQ(parse(kHead + "[expect]\nverdict = \"unknown\"\n")->expect.verdict_on("kafka"), "unknown");
    const auto split = parse(kHead + "[expect.verdict]\nkafka = \"invalid\"\n");
    ASSERT_TRUE(split);
    EXPECT_EQ(split->expect.verdict_on("kafka"), "invalid");
    EXPECT_EQ(split->expect.verdict_on("node"), "valid");
    const auto again = parse(scenario_to_json(*split));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->expect.verdict, split->expect.verdict);
}

TEST(ScenarioLoader, NamesFileLineAndKey) {
    const std::vector<Mistake> mistakes{
        {kHead + "rat = 1\n", "f.toml:9: workload.rat is not a known key"},
        {kHead + "acks = \"most\"\n", "f.toml:9: workload.acks is 'most', not all, 1 or 0"},
        {kHead + "rate = \"fast\"\n",
         "f.toml:9: workload.rate is 'fast', not a rate like 200/s, nor \"closed\""},
        {kHead + "producers = 0\n", "f.toml:9: workload.producers is 0, not in 1..100"},
        {kHead + "producers = \"2\"\n", "f.toml:9: workload.producers is no whole number"},
        {kHead + "request_timeout = \"3\"\n",
         "f.toml:9: workload.request_timeout '3' is no duration (like 500ms, 3s, 1.5s, 2m)"},
        {kHead + "acks = [\"all\", \"2\"]\n", "f.toml:9: workload.acks is '2', not all, 1 or 0"},
        {kHead + "acks = []\n", "f.toml:9: workload.acks is empty"},
        {kHead + "size = [9, 3]\n", "f.toml:9: workload.size is [9, 3], not in 0..1048576 and rising"},
        {kHead + "read = \"all\"\n", "f.toml:9: workload.read is 'all', not follow, from-start or followers"},
        {kHead + "client = \"java\"\n", "f.toml:9: workload.client is 'java', not raw, rdkafka or kcat"},
        {kHead + "client = \"kcat\"\nidempotent = true\n",
         "f.toml:10: workload.idempotent is true, but client kcat is another producer for each append"},
        {kHead + "client = \"kcat\"\nretries = 1\n",
         "f.toml:10: workload.retries is more than 0, but client kcat has one attempt"},
        {kHead + "client = \"kcat\"\nin_flight = 2\n",
         "f.toml:10: workload.in_flight is more than 1: only client rdkafka has several appends under way"},
        {kHead + "in_flight = 2\n",
         "f.toml:9: workload.in_flight is more than 1: only client rdkafka has several appends under way"},
        {kHead + "client = \"rdkafka\"\nread = \"followers\"\n",
         "f.toml:10: workload.read is followers, but client rdkafka reads from leaders"},
        {kHead + "client = \"rdkafka\"\nidempotent = true\nretries = 0\n",
         "f.toml:11: workload.retries must be 1 or more: client rdkafka has no idempotent producer without"},
        {kHead + "client = \"rdkafka\"\nrequest_timeout = \"5s\"\ndelivery_timeout = \"4s\"\n",
         "f.toml:11: workload.delivery_timeout is shorter than request_timeout"},
        {kHead + "idempotent = true\nacks = \"1\"\n",
         "f.toml:10: workload.acks must be all: the producer is idempotent"},
        {kHead + "idempotent = true\n[[workload.phase]]\nacks = \"1\"\n",
         "f.toml:10: workload.phase has acks other than all: the producer is idempotent"},
        {kHead + "[expect]\nverdict = \"good\"\n",
         "f.toml:10: expect.verdict is not valid, invalid or unknown"},
        {kHead + "[expect.verdict]\nredpanda = \"valid\"\n",
         "f.toml:9: expect.verdict names 'redpanda', not node or kafka"},
        {fault("kind = \"await\"\n"), "f.toml:9: fault.until is missing: await is for nothing else"},
        {fault("kind = \"await\"\ntarget = \"leader\"\nuntil = \"acked == 1\"\n"),
         "f.toml:11: fault.target is for faults; await does nothing"},
        {kHead + "[[workload.phase]]\n[[workload.phase]]\nrecords = 3\n",
         "f.toml:11: workload.phase.records is missing in the phase before: only the last phase has no end"},
        {kHead + "[[workload.phase]]\nafter = \"nothing\"\n",
         "f.toml: workload.phase.after refers to 'nothing', which is no fault"},
        {fault("target = \"leader\"\n"), "f.toml:9: fault.kind is missing"},
        {fault("kind = \"pause\"\n"), "f.toml:9: fault.target is missing"},
        {fault("kind = \"pause\"\ntarget = \"id:9\"\n"),
         "f.toml: fault 'fault-1': target names id 9, but the cluster has brokers 1 to 3 and controller 100"},
        {fault("kind = \"pause\"\ntarget = \"follower\"\n"),
         "f.toml:11: fault.target unknown role 'follower'"},
        {fault("kind = \"pause\"\npath = \"leader->id:2\"\ntarget = \"leader\"\n"),
         "f.toml:11: fault.path is for delay, throttle, hold, cut, refuse and flaky"},
        {fault("kind = \"hold\"\npath = \"leader\"\n"), "f.toml:11: fault.path path 'leader' has no '->'"},
        {fault("kind = \"delay\"\npath = \"leader->id:2\"\n"), "f.toml:9: fault.delay is missing"},
        {fault("kind = \"kill\"\ntarget = \"leader\"\nuntil = \"isr = all\"\n"),
         "f.toml:12: fault.until condition 'isr = all'"},
        {fault("kind = \"kill\"\ntarget = \"leader\"\nat = \"1s\"\nafter = \"x\"\n"),
         "f.toml:13: fault.after and at are both given"},
        {fault("kind = \"kill\"\ntarget = \"leader\"\nafter = \"lag + 1s\"\n"),
         "f.toml: fault 'fault-1': after refers to 'lag', which is no earlier fault"},
        {fault("kind = \"release\"\ntarget = \"lag\"\n"),
         "f.toml: fault 'fault-1': target refers to 'lag', which is no earlier fault"},
        {fault("kind = \"resume\"\ntarget = \"lag.target\"\n"),
         "f.toml: fault 'fault-1': target refers to 'lag', which is no earlier fault"},
        {fault("kind = \"kill\"\ntarget = \"leader\"\nuntil = \"leader != lag.target\"\n"),
         "f.toml: fault 'fault-1': until refers to 'lag', which is no earlier fault"},
        {fault("id = \"a\"\nkind = \"kill\"\ntarget = \"leader\"\n") +
             "[[fault]]\nid = \"a\"\nkind = \"kill\"\ntarget = \"leader\"\n",
         "f.toml: fault.id 'a' is used twice"},
        {"name = \"s\"\n[cluster]\nbrokers = 3\nbroker.session.timeout = 3\n",
         "f.toml:4: cluster.broker.session.timeout is not a known key"},
        {"name = \"s\"\n[topic]\nmin.insync.replicas = 0\n",
         "f.toml:3: topic.min.insync.replicas is 0, must be at least 1"},
        {"name = \"s\"\n[topic]\nunclean.leader.election.enable = \"on\"\n",
         "f.toml:3: topic.unclean.leader.election.enable is 'on', not true or false"},
        {"name = \"s\"\n[cluster]\nbrokers = 2\n[topic]\nassignment = [1, 2, 3]\n",
         "f.toml: topic.assignment names id 3, but the cluster has brokers 1 to 2"},
        {"name = \"s\"\n[topic]\nassignment = [1, 1]\n", "f.toml: topic.assignment names broker 1 twice"},
        {"name = \"s\"\n[topic]\nassignment = [\"a\"]\n",
         "f.toml:3: topic.assignment is no array of broker ids"},
        {"name = \"s\"\n[topic]\nassignment = [4294967297]\n",
         "f.toml:3: topic.assignment is no array of broker ids (1 to 99)"},
        {"name = \"s\"\n[cluster]\nbroker.session.timeout.ms = \"long\"\n",
         "f.toml:3: cluster.broker.session.timeout.ms is 'long', no whole number"},
        {"name = \"s\"\n[cluster]\ncontrolled.shutdown.enable = 1\n",
         "f.toml:3: cluster.controlled.shutdown.enable is '1', not true or false"},
        {fault("kind = \"refuse\"\npath = \"leader->id:2\"\napi = \"Fetch\"\n"),
         "fault.api narrows nothing here: it is for faults of what travels on paths"},
        {"name = \"s\"\n[heal]\nrestart = \"some\"\n", "f.toml:3: heal.restart is 'some', not all or none"},
        {"name = \"s\"\n[expect]\nsometimes = \"isr-shrunk\"\n",
         "f.toml:3: expect.sometimes is no array of strings"},
        {"name = \"s\"\n[compare.expect]\n\"a=b\" = \"much\"\n", "\"a=b\": 'much' is no expectation"},
        {"name = \"s\"\nheal = 3\n", "f.toml:2: heal is no table"},
        {"name = \"s\"\nfault = 3\n", "f.toml:2: fault "},
        {"title = \"s\"\n", "name is missing"},
        {"name = \"s\"\n[fault\n", "f.toml:2:"},
        {"{\"name\": \"s\",\n", "f.toml: "},
        {"{\"name\": \"s\", \"nam\": 1}", "f.toml: nam is not a known key"},
    };
    for (const Mistake& mistake : mistakes) {
        EXPECT_NE(error_of(mistake.text).find(mistake.told), std::string::npos)
            << "told:     " << error_of(mistake.text) << "\nexpected: " << mistake.told;
    }
}

TEST(ScenarioLoader, TopicInheritsTheClustersDefaultsAndMayDiffer) {
    const std::string cluster = "name = \"s\"\n[cluster]\nmin.insync.replicas = 2\n";
    const auto inherits = parse_scenario(cluster, "f.toml", {});
    ASSERT_TRUE(inherits.has_value()) << inherits.error().message;
    EXPECT_EQ(inherits->topic.min_insync_replicas(), 2);
    const auto differs = parse_scenario(cluster + "[topic]\nmin.insync.replicas = 3\n", "f.toml", {});
    ASSERT_TRUE(differs.has_value()) << differs.error().message;
    EXPECT_EQ(differs->topic.min_insync_replicas(), 3);
}

TEST(ScenarioLoader, MissingFileIsNamed) {
    const auto scenario = load_scenario("nowhere/s.toml", {});
    ASSERT_FALSE(scenario.has_value());
    EXPECT_EQ(scenario.error().message, "nowhere/s.toml: no such scenario file");
}

TEST(ScenarioLoader, ReadsEveryPart) {
    const auto scenario = parse(kHead + R"(acks = 1
rate = "closed"
[[fault]]
id = "slow"
at = "250ms"
kind = "delay"
path = "leader -> isr:last"
api = "Fetch"
part = "response"
delay = "400ms"
jitter = "20ms"
for = "5s"
[[fault]]
id = "end"
after = "slow + 1.5s"
kind = "kill"
target = "slow.target"
until = "isr.size == 2"
deadline = "2m"
[heal]
restart = "none"
[compare.expect]
"min.insync.replicas=2" = "lost_committed == 0"
)");
    ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
    EXPECT_EQ(scenario->cluster.properties.at("broker.session.timeout.ms"), "3000");
    EXPECT_EQ(scenario->topic.assignment, (std::vector<std::vector<BrokerId>>{{1, 2, 3}}));
    EXPECT_EQ(scenario->topic.min_insync_replicas(), 1);
    EXPECT_EQ(scenario->workloads.at(0).acks, std::vector<std::int16_t>{1});
    EXPECT_FALSE(scenario->workloads.at(0).rate.has_value());
    const FaultSpec& slow = scenario->faults.at(0);
    EXPECT_EQ(slow.at, milliseconds(250));
    EXPECT_EQ(slow.path->to_string(), "leader->isr:last");
    EXPECT_EQ(slow.part, FramePart::Response);
    EXPECT_EQ(slow.lasts, seconds(5));
    const FaultSpec& end = scenario->faults.at(1);
    EXPECT_EQ(end.after, "slow");
    EXPECT_EQ(end.after_delay, milliseconds(1500));
    EXPECT_EQ(end.deadline, seconds(120));
    EXPECT_FALSE(scenario->heal.restart_all);
    ASSERT_EQ(scenario->compare_expect.size(), 1U);
    EXPECT_EQ(scenario->compare_expect[0].first, "min.insync.replicas=2");
}

TEST(ScenarioSettings, ReachTheSameKeysAsTheFile) {
    const std::string text = fault("id = \"a\"\nkind = \"pause\"\ntarget = \"leader\"\nfor = \"1s\"\n");
    const auto scenario = parse(text, {{"workload.rate", "7/s"},
                                       {"workload.producers", "3"},
                                       {"min.insync.replicas", "2"},
                                       {"unclean.leader.election.enable", "true"},
                                       {"broker.session.timeout.ms", "1234"},
                                       {"cluster.replica.lag.time.max.ms", "777"},
                                       {"fault.a.for", "9s"},
                                       {"heal.progress_within", "8s"},
                                       {"linger", "5s"}});
    ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
    EXPECT_EQ(scenario->workloads.at(0).rate, 7.0);
    EXPECT_EQ(scenario->workloads.at(0).producers, 3);
    EXPECT_EQ(scenario->topic.min_insync_replicas(), 2);
    EXPECT_TRUE(scenario->topic.unclean_leader_election());
    EXPECT_EQ(scenario->cluster.properties.at("broker.session.timeout.ms"), "1234");
    EXPECT_EQ(scenario->cluster.properties.at("replica.lag.time.max.ms"), "777");
    EXPECT_EQ(scenario->faults.at(0).lasts, seconds(9));
    EXPECT_EQ(scenario->heal.progress_within, seconds(8));
    EXPECT_EQ(scenario->linger, seconds(5));
}

TEST(ScenarioSettings, MistakesAreTold) {
    EXPECT_EQ(error_of(kHead, {{"min.insync.replica", "2"}}),
              "--set min.insync.replica=2: no scenario key is called min.insync.replica");
    EXPECT_EQ(error_of(kHead, {{"fault.lag.for", "2s"}}),
              "--set fault.lag.for=2s: the scenario has no such fault");
    EXPECT_NE(error_of(kHead, {{"workload.rat", "2/s"}}).find("workload.rat is not a known key"),
              std::string::npos);
    EXPECT_NE(error_of(kHead, {{"workload.rate", "2"}}).find("workload.rate"), std::string::npos);
    EXPECT_NE(error_of(kHead, {{"min.insync.replicas", "two"}}).find("min.insync.replicas"),
              std::string::npos);
    EXPECT_NE(error_of(kHead, {{"broker.session.timeout.ms", ""}}), "");
    EXPECT_FALSE(parse_setting("rate").has_value());
    EXPECT_FALSE(parse_setting("=2").has_value());
    const auto setting = parse_setting("a=b=c");
    ASSERT_TRUE(setting.has_value());
    EXPECT_EQ(setting->key, "a");
    EXPECT_EQ(setting->value, "b=c");
}

TEST(ScenarioSut, NamesTheSystemsThatItIsFor) {
    const auto any = parse_scenario("name = 'a'\n[topic]\nassignment = [1]\n", "a.toml", {});
    ASSERT_TRUE(any.has_value()) << any.error().message;
    EXPECT_TRUE(any->runs_on("node").has_value());
    EXPECT_TRUE(any->runs_on("kafka").has_value());
    const auto one = parse_scenario("name = 'a'\nsut = ['kafka']\n", "a.toml", {});
    ASSERT_TRUE(one.has_value()) << one.error().message;
    EXPECT_TRUE(one->runs_on("kafka").has_value());
    ASSERT_FALSE(one->runs_on("node").has_value());
    EXPECT_EQ(one->runs_on("node").error().message,
              "scenario a is for kafka only (its key sut says so), not for node");
    const auto again = parse_scenario(scenario_to_json(*one), "a.json", {});
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(again->suts, one->suts);
    const auto misspelt = parse_scenario("name = 'a'\nsut = ['cafka']\n", "a.toml", {});
    ASSERT_FALSE(misspelt.has_value());
    EXPECT_NE(misspelt.error().message.find("has 'cafka', neither node nor kafka"), std::string::npos)
        << misspelt.error().message;
}

TEST(ScenarioJson, WhatIsWrittenIsReadBackTheSame) {
    std::size_t count = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(HW_SOURCE_DIR) + "/harness/scenarios")) {
        const auto scenario =
            load_scenario(entry.path(), {{"workload.rate", count % 2 == 0 ? "0.5/s" : "closed"}});
        ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
        const std::string json = scenario_to_json(*scenario);
        const auto again = parse_scenario(json, "again.json", {});
        ASSERT_TRUE(again.has_value()) << again.error().message << "\n" << json;
        EXPECT_EQ(scenario_to_json(*again), json);
        EXPECT_EQ(again->name, scenario->name);
        EXPECT_EQ(again->cluster.properties, scenario->cluster.properties);
        EXPECT_EQ(again->topic.configs, scenario->topic.configs);
        EXPECT_EQ(again->workloads.at(0).rate, scenario->workloads.at(0).rate);
        EXPECT_EQ(again->faults.size(), scenario->faults.size());
        EXPECT_EQ(again->expect.sometimes, scenario->expect.sometimes);
        EXPECT_EQ(again->compare_expect.size(), scenario->compare_expect.size());
        ++count;
    }
    EXPECT_GE(count, 6U);
}

TEST(ScenarioJson, KeepsTheCommand) {
    const std::string text =
        "name = \"x\"\n[cluster]\ncommand = [\"sh\", \"a b.sh\"]\n[[workload]]\nkind = \"append\"\n";
    const auto scenario = parse_scenario(text, "s.toml", {});
    ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
    const std::vector<std::string> command{"sh", "a b.sh"};
    EXPECT_EQ(scenario->cluster.command, command);
    const auto again = parse_scenario(scenario_to_json(*scenario), "s.json", {});
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(again->cluster.command, command);
}

TEST(ScenarioJson, KeepsSeveralPartitionsAndNarrowFaults) {
    const auto scenario = parse(R"(name = "s"
title = "quotes \" and ü"
[topic]
assignment = [[1, 2, 3], [2, 3, 1]]
[[fault]]
id = "slow"
kind = "delay"
path = "client->leader"
api = "Produce"
part = "request"
delay = "1500us"
)");
    ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
    const auto again = parse_scenario(scenario_to_json(*scenario), "again.json", {});
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(again->title, scenario->title);
    EXPECT_EQ(again->topic.assignment, (std::vector<std::vector<BrokerId>>{{1, 2, 3}, {2, 3, 1}}));
    EXPECT_EQ(again->faults.at(0).delay, Duration{1'500'000});
    EXPECT_EQ(again->faults.at(0).part, FramePart::Request);
    EXPECT_EQ(again->faults.at(0).api, "Produce");
}

TEST(Durations, BothWays) {
    EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
    EXPECT_EQ(parse_duration("1.5s"), milliseconds(1500));
    EXPECT_EQ(parse_duration("2m"), seconds(120));
    EXPECT_EQ(parse_duration("0s"), Duration{0});
    EXPECT_EQ(parse_duration("7us"), Duration{7000});
    for (const char* text :
         {"", "5", "s", "-1s", "1 s", "1h", "nans", "infs", "1e300s", "99999999999999999999s", "1s2"}) {
        EXPECT_FALSE(parse_duration(text).has_value()) << text;
    }
    for (const Duration duration : std::vector<Duration>{Duration{0}, Duration{1}, Duration{1500},
                                                         milliseconds(20), milliseconds(1500), seconds(90)}) {
        EXPECT_EQ(parse_duration(format_duration(duration)), duration) << format_duration(duration);
    }
    EXPECT_EQ(format_duration(milliseconds(1500)), "1500ms");
    EXPECT_EQ(format_duration(seconds(3)), "3s");
}

TEST(Expectations, ParseAndJudge) {
    const auto at_least = parse_expectation("lost_committed >= 1");
    ASSERT_TRUE(at_least.has_value());
    EXPECT_EQ(at_least->counter, "lost_committed");
    EXPECT_TRUE(at_least->met(1));
    EXPECT_FALSE(at_least->met(0));
    EXPECT_TRUE(parse_expectation("a==0")->met(0));
    EXPECT_TRUE(parse_expectation("a != 0")->met(-1));
    EXPECT_FALSE(parse_expectation("a < 3")->met(3));
    EXPECT_TRUE(parse_expectation("a <= 3")->met(3));
    EXPECT_FALSE(parse_expectation("a > 3")->met(3));
    for (const char* text : {"", "lost", "lost >= ", ">= 1", "lost = 1", "lost >= 1 or", "lost >= one"}) {
        EXPECT_FALSE(parse_expectation(text).has_value()) << text;
    }
}

}  // namespace
}  // namespace highwater
