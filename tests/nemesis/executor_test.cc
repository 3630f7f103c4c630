// Goal: faults strike in order and on whom their roles mean, and every doubt has its reason. Method: a
// cluster that only remembers what was done to it, and facts that the test sets.
#include "nemesis/executor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

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
    bool running(BrokerId id) const override { return !down.contains(id); }
    FaultEffect add_rule(const PathRule& rule) override { return did("add " + rule.id); }
    FaultEffect remove_rule(const std::string& id) override { return did("remove " + id); }

    std::vector<std::string> done;
    bool works = true;
    std::set<BrokerId> down;

private:
    FaultEffect did(std::string what) {
        done.push_back(std::move(what));
        return {monotonic_now(), monotonic_now(), works, works ? "" : "refused", works ? "proven" : ""};
    }
};

class SetFacts final : public ClusterFacts {
public:
    std::optional<std::vector<BrokerId>> isr() const override { return members; }
    std::vector<BrokerId> replicas() const override { return {1, 2, 3}; }
    std::optional<BrokerId> leader() const override { return leads; }
    std::optional<LeaderEpoch> epoch() const override { return 0; }
    std::optional<Offset> high_watermark(BrokerId) const override { return std::nullopt; }
    std::optional<Offset> log_end_offset(BrokerId) const override { return std::nullopt; }
    bool fenced(BrokerId) const override { return false; }
    std::int64_t acked() const override { return 0; }
    std::optional<std::vector<BrokerId>> targets_of(const std::string&) const override {
        return std::nullopt;
    }
    std::vector<BrokerId> resolve(std::string_view role) const override {
        if (role == "leader")
            return leads == kNoBroker ? std::vector<BrokerId>{} : std::vector<BrokerId>{leads};
        return {2, 3};
    }

    std::vector<BrokerId> members{1, 2, 3};
    BrokerId leads = 1;
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

TEST_F(ExecutorTest, ReleaseRemovesTheRulesOfItsFault) {
    play(
        "[[fault]]\nid = \"h\"\nkind = \"hold\"\npath = \"leader->follower:all\"\n"
        "[[fault]]\nafter = \"h\"\nkind = \"release\"\ntarget = \"h\"\n");
    EXPECT_EQ(target_.done,
              (std::vector<std::string>{"add h/1->2", "add h/1->3", "remove h/1->2", "remove h/1->3"}));
}

}  // namespace
}  // namespace highwater::nemesis
