// Goal: each directed nemesis does its steps in its order, ends, and leaves nothing behind. Method: a small
// cluster that reacts as a real one would: who leads and stops loses the lead, who is silent is fenced, what
// is held waits.
#include "model/nemeses.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "nemesis/executor.h"
#include "nemesis/rule_set.h"
#include "nemesis/scenario_check.h"

namespace highwater::nemesis {
namespace {

class ReactingCluster final : public FaultTarget, public ClusterFacts {
public:
    FaultEffect pause(BrokerId id) override {
        paused.insert(id);
        leave(id);
        return did(fmt::format("pause {}", id));
    }
    FaultEffect resume(BrokerId id) override {
        paused.erase(id);
        return did(fmt::format("resume {}", id));
    }
    FaultEffect terminate(BrokerId id) override {
        down.insert(id);
        leave(id);
        return did(fmt::format("terminate {}", id));
    }
    FaultEffect kill(BrokerId id) override {
        down.insert(id);
        leave(id);
        return did(fmt::format("kill {}", id));
    }
    FaultEffect restart(BrokerId id) override {
        down.erase(id);
        return did(fmt::format("restart {}", id));
    }
    FaultEffect wipe(BrokerId id) override { return did(fmt::format("wipe {}", id)); }
    FaultEffect elect(bool) override { return did("elect"); }
    FaultEffect forge_fetch(BrokerId) override { return did("forge-fetch"); }
    bool running(BrokerId id) const override { return !down.contains(id); }
    FaultEffect add_rule(const PathRule& rule) override {
        rules[rule.id] = rule;
        const char* part = rule.part == FramePart::Request    ? " request"
                           : rule.part == FramePart::Response ? " response"
                                                              : "";
        return did(fmt::format("{} {}->{}{}{}{}", fault_kind_name(rule.kind), rule.source, rule.destination,
                               rule.api.empty() ? "" : " ", rule.api, part));
    }
    FaultEffect remove_rule(const std::string& id) override {
        const PathRule rule = rules.at(id);
        rules.erase(id);
        return did(fmt::format("release {}->{}{}{}", rule.source, rule.destination,
                               rule.api.empty() ? "" : " ", rule.api));
    }

    std::optional<std::vector<BrokerId>> isr() const override {
        std::vector<BrokerId> members{1, 2, 3};
        std::erase_if(members, [this](BrokerId id) { return paused.contains(id) || down.contains(id); });
        return members;
    }
    std::vector<BrokerId> replicas() const override { return {1, 2, 3}; }
    std::optional<BrokerId> leader() const override { return leads; }
    std::optional<LeaderEpoch> epoch() const override { return 0; }
    std::optional<Offset> high_watermark(BrokerId) const override { return 10; }
    std::optional<Offset> log_end_offset(BrokerId id) const override { return id == leads ? 20 : 10; }
    bool fenced(BrokerId id) const override {
        return std::any_of(rules.begin(), rules.end(), [id](const auto& entry) {
            return entry.second.api == "BrokerHeartbeat" && entry.second.source == id;
        });
    }
    std::int64_t acked() const override { return 0; }
    std::optional<std::vector<BrokerId>> targets_of(const std::string& id) const override {
        return executor->targets_of(id);
    }
    std::optional<std::int64_t> frames_passed(const FrameQuery&, Instant) const override { return 1; }
    std::optional<std::int64_t> frames_held(const FrameQuery& query) const override {
        return std::count_if(rules.begin(), rules.end(), [&](const auto& entry) {
            return entry.second.kind == FaultKind::Hold && entry.second.api == query.api &&
                   entry.second.part == query.part;
        });
    }
    std::vector<BrokerId> resolve(std::string_view role) const override {
        if (role == "leader")
            return leads == kNoBroker ? std::vector<BrokerId>{} : std::vector<BrokerId>{leads};
        if (role == "controller") return {100};
        if (role.starts_with("id:")) return {static_cast<BrokerId>(role.back() - '0')};
        if (role.ends_with(".target"))
            return targets_of(std::string(role.substr(0, role.size() - 7))).value_or(std::vector<BrokerId>{});
        std::vector<BrokerId> others{1, 2, 3};
        if (role.starts_with("follower")) std::erase(others, leads);
        return others;
    }

    std::vector<std::string> done;
    std::map<std::string, PathRule> rules;
    std::set<BrokerId> paused;
    std::set<BrokerId> down;
    BrokerId leads = 1;
    const Executor* executor = nullptr;

private:
    void leave(BrokerId id) {
        if (id != leads) return;
        leads = kNoBroker;
        for (const BrokerId other : {1, 2, 3}) {
            if (leads == kNoBroker && !paused.contains(other) && !down.contains(other)) leads = other;
        }
    }
    FaultEffect did(std::string what) {
        done.push_back(std::move(what));
        return {monotonic_now(), monotonic_now(), true, "", ""};
    }
};

using Steps = std::vector<std::string>;

/// Plays it alone, with broker 3 as target where a follower is one.
Steps play(const std::string& name, const std::string& more = "") {
    const std::string text = fmt::format(
        "name = \"s\"\n[[fault]]\nid = \"x\"\nnemesis = \"{}\"\nfor = \"1ms\"\ndeadline = \"2s\"\n{}", name,
        more);
    auto scenario = parse_scenario(text, "s.toml", {});
    if (!scenario) {
        ADD_FAILURE() << scenario.error().message;
        return {};
    }
    // What a run writes down is read back.
    EXPECT_TRUE(parse_scenario(scenario_to_json(*scenario), "again.json", {}).has_value());
    ReactingCluster cluster;
    ExecutorHooks hooks;
    hooks.record = [](const FaultRecord&) {};
    hooks.wait = [](Instant) {};
    hooks.interrupted = [] { return false; };
    hooks.members = {{1, 2, 3}, {100}, {150}};
    Executor executor(*scenario, cluster, cluster, Rng(1), std::move(hooks));
    cluster.executor = &executor;
    executor.run(monotonic_now());
    for (const Doubt& doubt : executor.doubts()) ADD_FAILURE() << name << ": " << doubt.detail;
    EXPECT_EQ(executor.records().back().id, "x") << "the last step bears the nemesis's id";
    EXPECT_TRUE(cluster.rules.empty()) << name << " leaves a rule behind";
    EXPECT_TRUE(cluster.paused.empty()) << name << " leaves somebody paused";
    EXPECT_TRUE(cluster.down.empty()) << name << " leaves somebody down";
    return cluster.done;
}

const std::string kThird = "target = \"id:3\"\n";

TEST(Nemeses, N1HoldFetchResponse) {
    EXPECT_EQ(play("N1", kThird),
              (Steps{"hold 1->3 Fetch response", "pause 1", "release 1->3 Fetch", "resume 1"}));
    EXPECT_EQ(play("hold-fetch-response", kThird), play("N1", kThird));
}

TEST(Nemeses, N2HoldMetadata) {
    EXPECT_EQ(play("N2"), (Steps{"hold 100->1 Fetch response", "release 100->1 Fetch"}));
}

TEST(Nemeses, N3HoldAlterPartitionRequest) {
    EXPECT_EQ(play("N3", kThird), (Steps{"hold 1->100 AlterPartition request", "hold 1->3 Fetch response",
                                         "release 1->3 Fetch", "release 1->100 AlterPartition"}));
}

TEST(Nemeses, N4HoldAlterPartitionResponse) {
    EXPECT_EQ(play("N4", kThird), (Steps{"hold 100->1 AlterPartition response", "hold 1->3 Fetch response",
                                         "release 1->3 Fetch", "release 100->1 AlterPartition"}));
}

TEST(Nemeses, N5HoldMetadataAfterResponse) {
    EXPECT_EQ(play("N5", kThird), (Steps{"hold 100->1 Fetch response", "hold 1->3 Fetch response",
                                         "release 1->3 Fetch", "release 100->1 Fetch"}));
}

TEST(Nemeses, N6LeaderFlap) {
    EXPECT_EQ(play("N6"),
              (Steps{"hold 150->1 Produce request", "hold 150->2 Produce request",
                     "hold 150->3 Produce request", "pause 1", "resume 1", "pause 2", "resume 2",
                     "release 150->1 Produce", "release 150->2 Produce", "release 150->3 Produce"}));
}

TEST(Nemeses, N7LagThenKillLeader) {
    EXPECT_EQ(play("N7", kThird),
              (Steps{"hold 1->3 Fetch response", "kill 1", "release 1->3 Fetch", "restart 1"}));
}

TEST(Nemeses, N8IsolateFromController) {
    EXPECT_EQ(play("N8", "target = \"leader+id:3\"\n"),
              (Steps{"hold 1->100", "hold 3->100", "hold 100->1", "hold 100->3", "release 1->100",
                     "release 3->100", "release 100->1", "release 100->3"}));
}

TEST(Nemeses, N9HoldHeartbeats) {
    EXPECT_EQ(play("N9"), (Steps{"hold 1->100 BrokerHeartbeat request", "release 1->100 BrokerHeartbeat"}));
}

TEST(Nemeses, N11ThrottleReplicaLink) {
    EXPECT_EQ(play("N11", kThird + "rate = \"32KB/s\"\n"), (Steps{"throttle 1->3", "release 1->3"}));
}

TEST(Nemeses, N12TerminateUnderLoad) { EXPECT_EQ(play("N12"), (Steps{"terminate 1", "restart 1"})); }

TEST(Nemeses, N13KillAllRestartInOrder) {
    EXPECT_EQ(play("N13", "target = \"id:2+id:3+id:1\"\n"),
              (Steps{"kill 2", "kill 3", "kill 1", "restart 2", "restart 3", "restart 1"}));
}

TEST(Nemeses, EveryOneIsTestedAndNamesRealApis) {
    EXPECT_EQ(nemeses().size(), 12U);
    for (const Nemesis& nemesis : nemeses()) {
        const auto steps = expand_nemesis(
            {.name = std::string(nemesis.name), .id = "x", .target = {}, .lasts = {}, .rate = {}});
        ASSERT_TRUE(steps.has_value()) << steps.error().message;
        for (const FaultSpec& step : *steps) {
            EXPECT_TRUE(parse_api(step.api).has_value()) << nemesis.name << ": " << step.api;
            if (!step.until) continue;
            for (const std::string& api : step.until->apis()) EXPECT_TRUE(parse_api(api).has_value()) << api;
        }
    }
}

TEST(ScenarioCheck, NamesApisThatNobodyKnows) {
    const auto error = [](const std::string& lines) {
        const auto scenario = parse_scenario(
            "name = \"s\"\n[[fault]]\nkind = \"hold\"\npath = \"leader->id:2\"\n" + lines, "s.toml", {});
        EXPECT_TRUE(scenario.has_value());
        const Status checked = check_apis(*scenario);
        return checked ? "" : checked.error().message;
    };
    EXPECT_EQ(error("api = \"Fetch\"\nuntil = \"held(67 leader->id:2)\"\n"), "");
    EXPECT_NE(error("api = \"Fetsch\"\n").find("fault 'fault-1': no API is called 'Fetsch'"),
              std::string::npos);
    EXPECT_NE(error("until = \"held(Fetsch leader->id:2)\"\n").find("'Fetsch'"), std::string::npos);
}

TEST(Nemeses, RefusesWhatItDoesNotKnow) {
    const auto error = [](const std::string& lines) {
        const auto scenario = parse_scenario("name = \"s\"\n[[fault]]\n" + lines, "s.toml", {});
        return scenario ? "" : scenario.error().message;
    };
    EXPECT_NE(error("nemesis = \"N99\"\n").find("fault.nemesis is 'N99', known: hold-fetch-response, "),
              std::string::npos);
    EXPECT_NE(error("nemesis = \"N3\"\nrate = \"1KB/s\"\n").find("uses no rate"), std::string::npos);
    EXPECT_NE(error("nemesis = \"N3\"\napi = \"Fetch\"\n").find("fault.api is not a known key"),
              std::string::npos);
}

}  // namespace
}  // namespace highwater::nemesis
