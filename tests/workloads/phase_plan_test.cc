// The phases of a workload: counts, order, what was refused, and phases that wait for a fault.
#include "workloads/phase_plan.h"

#include <gtest/gtest.h>

#include <set>

namespace highwater::workloads {
namespace {

WorkloadSpec sixteen_then_three() {
    WorkloadSpec spec;
    WorkloadPhase first;
    first.records = 2;
    WorkloadPhase second;
    second.records = 1;
    second.acks = {1};
    second.after = "frozen";
    spec.phases = {first, second};
    return spec;
}

TEST(PhasePlan, WithoutPhasesThereIsOneWithoutEnd) {
    WorkloadSpec spec;
    spec.acks = {1, 0};
    PhasePlan plan(spec, {});
    for (int i = 0; i < 100; ++i) {
        const auto slot = plan.take();
        ASSERT_TRUE(slot);
        EXPECT_EQ(*slot->acks, (std::vector<std::int16_t>{1, 0}));
        plan.give_back(*slot, false);
    }
    EXPECT_TRUE(plan.finished());
}

TEST(PhasePlan, TheNextPhaseWaitsForAnswersAndForItsFault) {
    std::set<std::string> complete;
    PhasePlan plan(sixteen_then_three(), [&](const std::string& id) { return complete.contains(id); });
    const auto a = plan.take();
    const auto b = plan.take();
    ASSERT_TRUE(a && b);
    EXPECT_FALSE(plan.take()) << "two are in flight, and no third is to be";
    plan.give_back(*a, false);
    EXPECT_FALSE(plan.take());
    plan.give_back(*b, false);
    EXPECT_FALSE(plan.take()) << "the fault is not complete";
    EXPECT_FALSE(plan.finished());
    complete.insert("frozen");
    const auto c = plan.take();
    ASSERT_TRUE(c);
    EXPECT_EQ(*c->acks, std::vector<std::int16_t>{1});
    EXPECT_FALSE(plan.finished()) << "its answer is not there";
    plan.give_back(*c, false);
    EXPECT_TRUE(plan.finished());
    EXPECT_FALSE(plan.take());
}

TEST(PhasePlan, ARefusedAppendDoesNotCount) {
    PhasePlan plan(sixteen_then_three(), [](const std::string&) { return true; });
    const auto a = plan.take();
    const auto b = plan.take();
    ASSERT_TRUE(a && b);
    plan.give_back(*a, true);
    const auto again = plan.take();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->phase, 0U);
    plan.give_back(*again, false);
    plan.give_back(*b, false);
    const auto c = plan.take();
    ASSERT_TRUE(c);
    EXPECT_EQ(c->phase, 1U);
}

}  // namespace
}  // namespace highwater::workloads
