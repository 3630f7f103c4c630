// Goal: faults strike in order and on whom their roles mean, and every doubt has its reason. Method: a
// cluster that only remembers what was done to it, and facts that the test sets.
#include "nemesis/executor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/nemesis/set_facts.h"

namespace highwater::nemesis {
namespace {

class RememberingTarget final : public FaultTarget {
public:
    FaultEffect pause(BrokerId id) override { return did(fmt::format("pause {}", id)); }
    FaultEffect resume(BrokerId id) override { return did(fmt::format("resume {}", id)); }
    FaultEffect terminate(BrokerId id) override { return did(fmt::format("terminate {}", id)); }
    FaultEffect kill(BrokerId id) override {
        down.insert(id);
        return did(fmt::format("kill {}", id));
    }
    FaultEffect restart(BrokerId id) override {
        down.erase(id);
        return did(fmt::format("restart {}", id));
    }
    FaultEffect wipe(BrokerId id) override {
        down.insert(id);
        return did(fmt::format("wipe {}", id));
    }
    FaultEffect elect(bool unclean) override { return did(unclean ? "elect unclean" : "elect preferred"); }
    FaultEffect forge_fetch(BrokerId as) override { return did(fmt::format("forge-fetch {}", as)); }
    bool running(BrokerId id) const override { return !down.contains(id); }
    FaultEffect add_rule(const PathRule& rule) override { return did("add " + rule.id); }
    FaultEffect remove_rule(const std::string& id) override {
        FaultEffect effect = did("remove " + id);
        effect.ok = works && releases;
        return effect;
    }

    std::vector<std::string> done;
    bool works = true;
    /// Rules can be taken away again.
    bool releases = true;
    std::set<BrokerId> down;

private:
    FaultEffect did(std::string what) {
        done.push_back(std::move(what));
        return {monotonic_now(), monotonic_now(), works, works ? "" : "refused", works ? "proven" : ""};
    }
};

class ExecutorTest : public testing::Test {
protected:
    void play(const std::string& faults) {
        auto parsed = parse_scenario("name = \"s\"\n" + faults, "s.toml", {});
        ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
        scenario_ = std::move(*parsed);
        ExecutorHooks hooks;
        hooks.record = [](const FaultRecord&) {};
        hooks.wait = [](Instant) {};
        hooks.interrupted = [] { return false; };
        hooks.members = {{1, 2, 3}, {100}, {150}};
        executor_.emplace(scenario_, target_, facts_, Rng(1), std::move(hooks));
        executor_->run(monotonic_now());
    }
    [[nodiscard]] std::string doubt() const {
        return executor_->doubts().empty() ? "" : executor_->doubts().front().reason;
    }

    Scenario scenario_;
    RememberingTarget target_;
    SetFacts facts_;
    std::optional<Executor> executor_;
};

TEST_F(ExecutorTest, StrikesInOrderAndUndoesWhatLasts) {
    play(
        "[[fault]]\nid = \"a\"\nkind = \"pause\"\ntarget = \"follower:all\"\nfor = \"1ms\"\n"
        "[[fault]]\nafter = \"a\"\nkind = \"kill\"\ntarget = \"leader\"\n");
    EXPECT_EQ(target_.done,
              (std::vector<std::string>{"pause 2", "pause 3", "resume 2", "resume 3", "kill 1"}));
    EXPECT_EQ(doubt(), "");
}

TEST_F(ExecutorTest, RoleThatNobodyHoldsStopsTheSchedule) {
    facts_.leads = kNoBroker;
    play(
        "[[fault]]\nid = \"a\"\nkind = \"kill\"\ntarget = \"leader\"\n"
        "[[fault]]\nafter = \"a\"\nkind = \"pause\"\ntarget = \"follower:all\"\n");
    EXPECT_TRUE(target_.done.empty());
    EXPECT_EQ(doubt(), "target-unresolved");
}

TEST_F(ExecutorTest, FaultThatDoesNotTakeEffectIsADoubt) {
    target_.works = false;
    play("[[fault]]\nkind = \"kill\"\ntarget = \"leader\"\n");
    EXPECT_EQ(doubt(), "fault-not-effective");
}

TEST_F(ExecutorTest, UntilThatNeverHoldsIsADoubtAtItsDeadline) {
    play("[[fault]]\nkind = \"kill\"\ntarget = \"leader\"\nuntil = \"isr.size == 1\"\ndeadline = \"1ms\"\n");
    EXPECT_EQ(doubt(), "fault-not-effective");
}

TEST_F(ExecutorTest, UntilThatNeverHeldWhileTheFaultLastedIsADoubt) {
    const std::string fault =
        "[[fault]]\nkind = \"pause\"\ntarget = \"leader\"\nfor = \"1ms\"\nuntil = \"isr.size == 1\"\n";
    play(fault);
    EXPECT_EQ(doubt(), "fault-not-effective");
    facts_.members = {1};
    play(fault);
    EXPECT_EQ(doubt(), "");
}

TEST_F(ExecutorTest, ARuleThatStaysIsADoubtAlsoOfWhatWasLeftOut) {
    target_.releases = false;
    play(
        "[[fault]]\nid = \"h\"\nkind = \"hold\"\npath = \"leader->id:2\"\noptional = true\n"
        "until = \"isr.size == 1\"\ndeadline = \"1ms\"\n");
    EXPECT_EQ(target_.done, (std::vector<std::string>{"add h/1->2", "remove h/1->2"}));
    EXPECT_EQ(doubt(), "fault-not-effective");
}

TEST_F(ExecutorTest, AwaitDoesNothingAndHoldsUpWhatComesAfterIt) {
    const std::string faults =
        "[[fault]]\nid = \"even\"\nkind = \"await\"\nuntil = \"isr.size == 1\"\ndeadline = \"1ms\"\n"
        "[[fault]]\nafter = \"even\"\nkind = \"kill\"\ntarget = \"leader\"\n";
    play(faults);
    EXPECT_TRUE(target_.done.empty()) << "the condition never held";
    EXPECT_EQ(doubt(), "fault-not-effective");
    facts_.members = {1};
    play(faults);
    EXPECT_EQ(target_.done, std::vector<std::string>{"kill 1"});
    EXPECT_EQ(doubt(), "");
}

TEST_F(ExecutorTest, ReleaseRemovesTheRulesOfItsFault) {
    play(
        "[[fault]]\nid = \"h\"\nkind = \"hold\"\npath = \"leader->follower:all\"\n"
        "[[fault]]\nafter = \"h\"\nkind = \"release\"\ntarget = \"h\"\n");
    EXPECT_EQ(target_.done,
              (std::vector<std::string>{"add h/1->2", "add h/1->3", "remove h/1->2", "remove h/1->3"}));
}

TEST_F(ExecutorTest, EndedProcessesStartAgainWhenTheTimeIsOver) {
    play("[[fault]]\nkind = \"wipe\"\ntarget = \"id:2\"\nfor = \"1ms\"\n");
    EXPECT_EQ(target_.done, (std::vector<std::string>{"wipe 2", "restart 2"}));
    EXPECT_EQ(executor_->records().front().proof, "2: proven; 2: proven");
    EXPECT_TRUE(executor_->records().front().undone.has_value());
}

TEST_F(ExecutorTest, TerminateIsFollowedBySigkillAfterItsDeadline) {
    const std::string fault = "[[fault]]\nkind = \"terminate\"\ntarget = \"id:2\"\nkill_after = \"5ms\"\n";
    play(fault);
    EXPECT_EQ(target_.done, (std::vector<std::string>{"terminate 2", "kill 2"}));
    EXPECT_NE(executor_->records().front().proof.find("SIGKILL"), std::string::npos);
    // Who ends by itself is not killed.
    target_.done.clear();
    target_.down = {2};
    play(fault);
    EXPECT_EQ(target_.done, (std::vector<std::string>{"terminate 2"}));
    EXPECT_NE(executor_->records().front().proof.find("gone after"), std::string::npos);
}

TEST_F(ExecutorTest, PartitionsAreRulesOnPaths) {
    play(
        "[[fault]]\nid = \"p\"\nkind = \"partition\"\nbetween = [\"leader\", \"controller\"]\nfor = "
        "\"1ms\"\n");
    EXPECT_EQ(target_.done, (std::vector<std::string>{"add p/1->100", "add p/100->1", "remove p/1->100",
                                                      "remove p/100->1"}));
    const FaultRecord& record = executor_->records().front();
    EXPECT_EQ(record.targets, (std::vector<BrokerId>{1}));
    EXPECT_EQ(record.struck(), "1->100,100->1");
}

TEST_F(ExecutorTest, RefuseOnlyStrikesWhatIsOpened) {
    play(
        "[[fault]]\nid = \"p\"\nkind = \"isolate\"\ntarget = \"leader\"\nby = \"refuse\"\nplane = "
        "\"controller+client\"\n");
    EXPECT_EQ(target_.done, (std::vector<std::string>{"add p/1->100", "add p/150->1"}))
        << "a controller opens nothing to a broker, nor a broker to a client";
}

TEST_F(ExecutorTest, FlakyStopsEveryPathAndRestoresThemAll) {
    play("[[fault]]\nid = \"f\"\nkind = \"flaky\"\npath = \"brokers->brokers\"\nstep = \"1ms\"\n");
    ASSERT_EQ(target_.done.size(), 12U);
    std::vector<std::string> stopped;
    std::vector<std::string> restored;
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(target_.done[i].substr(0, 4), "add ");
        stopped.push_back(target_.done[i].substr(4));
        EXPECT_EQ(target_.done[i + 6].substr(0, 7), "remove ");
        restored.push_back(target_.done[i + 6].substr(7));
    }
    EXPECT_NE(stopped, restored) << "in another order, by this seed";
    EXPECT_EQ(std::set<std::string>(stopped.begin(), stopped.end()),
              std::set<std::string>(restored.begin(), restored.end()));
    EXPECT_EQ(doubt(), "");
}

TEST_F(ExecutorTest, ElectionsGoToTheCluster) {
    play("[[fault]]\nkind = \"elect\"\n[[fault]]\nkind = \"elect\"\nelection = \"unclean\"\n");
    EXPECT_EQ(target_.done, (std::vector<std::string>{"elect preferred", "elect unclean"}));
    EXPECT_EQ(doubt(), "");
}

TEST_F(ExecutorTest, AForgedFetchIsSentInTheNameOfEachTarget) {
    play("[[fault]]\nkind = \"forge-fetch\"\ntarget = \"follower:all\"\n");
    EXPECT_EQ(target_.done, (std::vector<std::string>{"forge-fetch 2", "forge-fetch 3"}));
    EXPECT_EQ(doubt(), "");
}

TEST_F(ExecutorTest, AnOptionalFaultThatFailsIsLeftOut) {
    facts_.leads = kNoBroker;
    play(
        "[[fault]]\nid = \"a\"\nkind = \"kill\"\ntarget = \"leader\"\noptional = true\n"
        "[[fault]]\nafter = \"a\"\nkind = \"pause\"\ntarget = \"id:3\"\n");
    EXPECT_EQ(target_.done, (std::vector<std::string>{"pause 3"}));
    EXPECT_EQ(doubt(), "");
    EXPECT_FALSE(executor_->records().front().ok);
    EXPECT_NE(executor_->records().front().detail.find("left out"), std::string::npos);
}

TEST_F(ExecutorTest, EventsCountFromTheStrikeOn) {
    const std::string fault =
        "[[fault]]\nkind = \"pause\"\ntarget = \"leader\"\ndeadline = \"5ms\"\n"
        "until = \"passed(Fetch leader->id:2)\"\n";
    facts_.passed = {monotonic_now()};
    play(fault);
    EXPECT_EQ(doubt(), "fault-not-effective") << "that one was before";
    facts_.passed = {monotonic_now() + seconds(1)};
    play(fault);
    EXPECT_EQ(doubt(), "");
}

TEST_F(ExecutorTest, ReleaseBeforeTheStrikeReleasesNothing) {
    play(
        "[[fault]]\nid = \"h\"\nat = \"60s\"\nkind = \"hold\"\npath = \"leader->follower:all\"\n"
        "[[fault]]\nkind = \"release\"\ntarget = \"h\"\n");
    EXPECT_EQ(doubt(), "fault-not-effective");
}

}  // namespace
}  // namespace highwater::nemesis
