// The `until` language: what it understands, what it refuses with the place, and what it means.
#include "model/condition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace highwater {
namespace {

/// Three replicas; what nobody knows is absent.
class FakeFacts final : public ClusterFacts {
public:
    std::optional<std::vector<BrokerId>> isr_now = std::vector<BrokerId>{1, 2, 3};
    std::optional<BrokerId> leader_now = 1;
    std::optional<LeaderEpoch> epoch_now = 4;
    std::map<BrokerId, Offset> high_watermarks;
    std::map<BrokerId, Offset> log_end_offsets;
    std::vector<BrokerId> fenced_now;
    std::int64_t acked_now = 0;
    std::map<std::string, std::vector<BrokerId>> targets;
    /// What every event term counts; nullopt: nobody knows.
    std::optional<std::int64_t> events;
    std::map<BrokerId, bool> answers;
    mutable Instant asked_since;
    mutable std::vector<std::string> asked;

    std::optional<Offset> checkpoint(BrokerId broker) const override { return find(high_watermarks, broker); }
    std::optional<bool> answered(BrokerId broker, Instant since) const override {
        asked_since = since;
        return find(answers, broker);
    }
    std::optional<std::int64_t> frames_passed(const FrameQuery& query, Instant since) const override {
        asked_since = since;
        asked.push_back("passed " + text_of(query));
        return events;
    }
    std::optional<std::int64_t> frames_held(const FrameQuery& query) const override {
        asked.push_back("held " + text_of(query));
        return events;
    }
    std::optional<std::int64_t> trace_lines(const TraceQuery& query, Instant since) const override {
        asked_since = since;
        asked.push_back("trace " + query.kind + " " + query.at);
        for (const auto& [field, value] : query.fields) asked.back() += " " + field + ":" + value;
        return events;
    }
    std::optional<std::int64_t> log_lines(const LogQuery& query, Instant) const override {
        asked.push_back("log " + query.role + " <" + query.text + ">");
        return events;
    }
    static std::string text_of(const FrameQuery& query) {
        const char* const parts[] = {"both", "request", "response"};
        return query.api + " " + parts[static_cast<int>(query.part)] + " " + query.source + " to " +
               query.destination;
    }

    std::optional<std::vector<BrokerId>> isr() const override { return isr_now; }
    std::vector<BrokerId> replicas() const override { return {1, 2, 3}; }
    std::optional<BrokerId> leader() const override { return leader_now; }
    std::optional<LeaderEpoch> epoch() const override { return epoch_now; }
    std::optional<Offset> high_watermark(BrokerId broker) const override {
        return find(high_watermarks, broker);
    }
    std::optional<Offset> log_end_offset(BrokerId broker) const override {
        return find(log_end_offsets, broker);
    }
    bool fenced(BrokerId broker) const override {
        return std::find(fenced_now.begin(), fenced_now.end(), broker) != fenced_now.end();
    }
    std::int64_t acked() const override { return acked_now; }
    std::optional<std::vector<BrokerId>> targets_of(const std::string& fault_id) const override {
        return find(targets, fault_id);
    }
    std::vector<BrokerId> resolve(std::string_view role) const override {
        if (role == "leader")
            return leader_now.value_or(kNoBroker) == kNoBroker ? std::vector<BrokerId>{}
                                                               : std::vector{*leader_now};
        if (role.starts_with("id:")) return {static_cast<BrokerId>(role.back() - '0')};
        return {};
    }

private:
    template <class Map>
    static std::optional<typename Map::mapped_type> find(const Map& map, const typename Map::key_type& key) {
        const auto found = map.find(key);
        return found == map.end() ? std::nullopt : std::optional(found->second);
    }
};

bool holds(const std::string& text, const FakeFacts& facts) {
    const auto condition = Condition::parse(text);
    if (!condition) {
        ADD_FAILURE() << condition.error().message;
        return false;
    }
    EXPECT_EQ(condition->text(), text);
    return condition->holds(facts);
}

std::string error_of(const std::string& text) {
    const auto condition = Condition::parse(text);
    return condition ? "" : condition.error().message;
}

TEST(Condition, SetsCompareAsSets) {
    FakeFacts facts;
    facts.isr_now = std::vector<BrokerId>{3, 1};
    EXPECT_TRUE(holds("isr == {1, 3}", facts));
    EXPECT_TRUE(holds("isr=={id:3,leader}", facts));
    EXPECT_FALSE(holds("isr == {1}", facts));
    EXPECT_TRUE(holds("isr != {1}", facts));
    EXPECT_FALSE(holds("isr == all", facts));
    facts.isr_now = std::vector<BrokerId>{1, 2, 3};
    EXPECT_TRUE(holds("isr == all", facts));
    EXPECT_TRUE(holds("isr != {}", facts));
    // Sets have no order.
    EXPECT_FALSE(holds("isr >= {1}", facts));
}

TEST(Condition, NumbersHaveEveryOperator) {
    FakeFacts facts;
    facts.isr_now = std::vector<BrokerId>{1, 2};
    for (const char* text : {"isr.size == 2", "isr.size != 3", "isr.size < 3", "isr.size <= 2",
                             "isr.size > 1", "isr.size >= 2", "epoch == 4", "acked == 0"}) {
        EXPECT_TRUE(holds(text, facts)) << text;
    }
    for (const char* text : {"isr.size == 3", "isr.size != 2", "isr.size < 2", "isr.size <= 1",
                             "isr.size > 2", "isr.size >= 3", "epoch > 4", "acked >= 1"}) {
        EXPECT_FALSE(holds(text, facts)) << text;
    }
}

TEST(Condition, LeaderNoneAndTargets) {
    FakeFacts facts;
    // Before the fault struck nobody can say: neither equal nor unequal.
    EXPECT_FALSE(holds("leader != death.target", facts));
    EXPECT_FALSE(holds("leader == death.target", facts));
    facts.targets["death"] = {1};
    EXPECT_TRUE(holds("leader == death.target", facts));
    facts.leader_now = 2;
    EXPECT_TRUE(holds("leader != death.target and leader != none", facts));
    facts.leader_now = kNoBroker;
    EXPECT_TRUE(holds("leader == none", facts));
    EXPECT_FALSE(holds("leader != death.target and leader != none", facts));
    facts.targets["lag"] = {2, 3};
    facts.isr_now = std::vector<BrokerId>{2, 3};
    EXPECT_TRUE(holds("isr == lag.target", facts));
}

TEST(Condition, WhatNobodyKnowsIsNeverTrue) {
    FakeFacts facts;
    facts.isr_now.reset();
    facts.leader_now.reset();
    facts.epoch_now.reset();
    for (const char* text : {"isr == all", "isr != all", "isr.size >= 0", "leader == none", "leader != none",
                             "epoch >= 0", "hw >= 0", "hw != 1", "leo(id:2) >= 0", "isr == {leader}"}) {
        EXPECT_FALSE(holds(text, facts)) << text;
    }
    facts.isr_now = std::vector<BrokerId>{};
    facts.leader_now = kNoBroker;
    EXPECT_FALSE(holds("isr == {leader}", facts)) << "an empty ISR is not a leader that there is not";
}

TEST(Condition, OffsetsAndFences) {
    FakeFacts facts;
    facts.high_watermarks = {{1, 18}, {3, 11}};
    facts.log_end_offsets = {{1, 20}};
    facts.fenced_now = {3};
    EXPECT_TRUE(holds("hw == 18 and leo == 20 and leo > hw", facts));
    EXPECT_TRUE(holds("hw(leader) == 18 && hw(id:3) == 11", facts));
    EXPECT_FALSE(holds("leo(id:3) >= 0", facts));
    EXPECT_TRUE(holds("fenced(id:3) == true and fenced == false", facts));
    EXPECT_FALSE(holds("hw == 18 and leo == 21", facts)) << "both must hold";
}

TEST(Condition, EventsAskForWhatTheySay) {
    FakeFacts facts;
    const std::pair<const char*, const char*> terms[] = {
        {"passed(AlterPartition request leader->controller)",
         "passed AlterPartition request leader to controller"},
        {"passed(Fetch leader -> id:3)", "passed Fetch both leader to id:3"},
        {"held(Fetch response controller->leader+id:2)", "held Fetch response controller to leader+id:2"},
        {"trace(isr-committed at leader epoch=3 isr=[1,2])", "trace isr-committed leader epoch:3 isr:[1,2]"},
        {"trace(fence)", "trace fence "},
        {"log(leader ~ \"it's (so)\")", "log leader <it's (so)>"},
        {"log(a-1.target ~ 'x \" y')", "log a-1.target <x \" y>"},
    };
    for (const auto& [text, asked] : terms) {
        facts.asked.clear();
        facts.events.reset();
        EXPECT_FALSE(holds(text, facts)) << text << ": nobody knows";
        facts.events = 0;
        EXPECT_FALSE(holds(text, facts)) << text;
        facts.events = 1;
        EXPECT_TRUE(holds(text, facts)) << text;
        EXPECT_TRUE(holds(std::string(text) + " == 1 and isr == all", facts)) << text;
        EXPECT_FALSE(holds(std::string(text) + " >= 2", facts)) << text;
        EXPECT_EQ(facts.asked.front(), asked);
    }
}

TEST(Condition, EventsCountFromAMoment) {
    FakeFacts facts;
    const auto condition = Condition::parse("isr == {1} and passed(Fetch request leader->id:3)");
    ASSERT_TRUE(condition.has_value()) << condition.error().message;
    EXPECT_TRUE(condition->has_events());
    EXPECT_EQ(condition->apis(), (std::vector<std::string>{"Fetch"}));
    (void)condition->holds(facts, Instant{42});
    EXPECT_EQ(facts.asked_since, Instant{42}) << "asked although the first comparison is false";
    EXPECT_FALSE(Condition::parse("isr == all")->has_events());
}

TEST(Condition, AnsweredAndCheckpoint) {
    FakeFacts facts;
    EXPECT_FALSE(holds("answered(id:2)", facts));
    facts.answers = {{1, true}, {2, false}};
    EXPECT_FALSE(holds("answered(id:2)", facts));
    EXPECT_TRUE(holds("answered(id:2) == false and answered", facts));
    facts.high_watermarks = {{1, 7}};
    EXPECT_TRUE(holds("checkpoint == 7 and checkpoint(leader) >= 7", facts));
    EXPECT_FALSE(holds("checkpoint(id:2) >= 0", facts));
    facts.fenced_now = {2};
    EXPECT_TRUE(holds("fenced(id:2) and isr == all", facts));
}

TEST(Condition, EventsAreRefusedWithTheReason) {
    EXPECT_NE(error_of("passed(Fetch)").find("has no '->'"), std::string::npos) << error_of("passed(Fetch)");
    EXPECT_NE(error_of("passed()").find("expected an API"), std::string::npos);
    EXPECT_NE(error_of("passed(Fetch leader->nobody)").find("unknown role 'nobody'"), std::string::npos);
    EXPECT_NE(error_of("trace(isr-comitted)").find("no trace line has the kind 'isr-comitted'"),
              std::string::npos);
    EXPECT_NE(error_of("trace(fence broker)").find("'broker' is not field=value"), std::string::npos);
    EXPECT_NE(error_of("log(leader)").find("expected a role, '~' and a text in quotes"), std::string::npos);
    EXPECT_NE(error_of("log(leader ~ text)").find("expected a text in quotes"), std::string::npos);
    EXPECT_NE(error_of("log(leader ~ \"text)").find("expected ')'"), std::string::npos);
    EXPECT_NE(error_of("passed"), "");
    EXPECT_NE(error_of("leo"), "") << "a number alone is no condition";
}

TEST(Condition, NamesTheFaultsItRefersTo) {
    const auto condition = Condition::parse("leader != death.target and isr == {lag-2.target, 1}");
    ASSERT_TRUE(condition.has_value()) << condition.error().message;
    EXPECT_EQ(condition->fault_ids(), (std::vector<std::string>{"death", "lag-2"}));
    const auto within =
        Condition::parse("leo > leo(a.target) and held(Fetch b.target->leader) and trace(fence at c.target)");
    ASSERT_TRUE(within.has_value()) << within.error().message;
    EXPECT_EQ(within->fault_ids(), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Condition, RefusesWithThePlace) {
    EXPECT_EQ(error_of("isr == "), "condition 'isr == ': expected a term at character 8");
    EXPECT_EQ(error_of("ist == 1"), "condition 'ist == 1': 'ist' is not known here at character 1");
    EXPECT_NE(error_of("isr 1").find("expected ==, !=, <, <=, > or >= at character 5"), std::string::npos)
        << error_of("isr 1");
    EXPECT_NE(error_of("isr == 1 or isr == 2").find("expected 'and' or the end at character 10"),
              std::string::npos);
    EXPECT_NE(error_of("isr == {1, 2").find("expected ',' or '}'"), std::string::npos);
    EXPECT_NE(error_of("hw(").find("expected a role"), std::string::npos);
    EXPECT_NE(error_of("hw(leader == 1").find("expected ')'"), std::string::npos);
    for (const char* text : {"", "and", "isr == all and", "isr", ".target == 1", "== 1",
                             "isr == 99999999999999999999", "{ == {"}) {
        EXPECT_NE(error_of(text), "") << text;
    }
}

TEST(Condition, WordsAreWholeWords) {
    EXPECT_NE(error_of("isr == all andleader == 1"), "") << "'and' without a space is no word of its own";
    FakeFacts facts;
    facts.targets["android"] = {1};
    EXPECT_TRUE(holds("isr == all and android.target == 1", facts));
}

TEST(Condition, DeepSetsAreRefusedRatherThanExhaustTheStack) {
    EXPECT_NE(error_of("isr == " + std::string(100'000, '{')), "");
}

}  // namespace
}  // namespace highwater
