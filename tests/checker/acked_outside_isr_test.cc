// acked-outside-isr from outside: the controller's log and what files showed, a run that breaks it, and for
// each doubt one that does not.
#include <gtest/gtest.h>

#include "tests/checker/builder.h"

namespace highwater::checker {
namespace {

constexpr Offset kEndOfThird = 1;

/// Leader 1 with ISR {1,2}; 3 joins at 1000 ms and has one record. A second one is written and acknowledged.
struct Watched {
    HistoryBuilder history;
    TraceBuilder trace;
    std::int64_t called = 2000;
    std::int64_t answered = 2010;
    BrokerId asked = 1;
    std::int16_t acks = -1;

    Watched() {
        decides(0, 1, 0, {1, 2});
        joined = &decides(1000, 1, 0, {1, 2, 3});
        log_end(1010, 3, kEndOfThird, 500);
    }
    TraceEvent& decides(std::int64_t ms, BrokerId leader, LeaderEpoch epoch, std::vector<BrokerId> isr) {
        TraceEvent& line = trace.elects(ms, leader, epoch, false, std::move(isr));
        line.partition_epoch = ++version_;
        return line;
    }
    /// The file of `node` ends at `end`; what it was before was seen until `until_ms`.
    TraceEvent& log_end(std::int64_t ms, BrokerId node, Offset end, std::int64_t until_ms) {
        TraceEvent& line = trace.line(ms, node, TraceKind::LogEnd);
        line.outside = true;
        line.log_end_offset = end;
        line.epoch = 0;
        line.until = HistoryBuilder::at(until_ms);
        return line;
    }
    [[nodiscard]] Verdict judge() {
        history.produce(10, 20, make_value(1, 1), 0).broker = 1;
        history.produce(called, answered, make_value(1, 2), 1, Outcome::Ok, acks).broker = asked;
        history.final({{0, make_value(1, 1)}, {1, make_value(1, 2)}});
        return history.judge(trace.trace);
    }
    [[nodiscard]] bool breaks() { return violated(judge(), "acked-outside-isr"); }

    TraceEvent* joined = nullptr;

private:
    PartitionEpoch version_ = 0;
};

TEST(AckedOutsideIsr, a_member_whose_file_still_ends_below) {
    Watched run;
    run.log_end(2100, 3, kEndOfThird, 2099);
    const Verdict verdict = run.judge();
    ASSERT_TRUE(violated(verdict, "acked-outside-isr"));
    EXPECT_EQ(verdict.counts.at("acked-outside-isr"), 1);
    ASSERT_FALSE(verdict.anomalies.empty());
    EXPECT_EQ(
        verdict.anomalies[0].sentence,
        "offset 1 (p1-2) was acked (acks=all) by broker 1, the leader of epoch 0, at 2.00 s; broker 3 "
        "had been in the controller's ISR {1,2,3} since 0.99 s, but its log still ended at 1 at 2.09 s");
}

TEST(AckedOutsideIsr, several_records_are_told_at_once) {
    Watched run;
    run.history.produce(2005, 2015, make_value(1, 3), 2).broker = 1;
    run.log_end(2100, 3, kEndOfThird, 2099);
    const Verdict verdict = run.judge();
    EXPECT_EQ(verdict.counts.at("acked-outside-isr"), 1);
    EXPECT_TRUE(std::any_of(verdict.anomalies.begin(), verdict.anomalies.end(), [](const Anomaly& anomaly) {
        return anomaly.sentence.find("; so it was with 1 more records") != std::string::npos;
    }));
}

TEST(AckedOutsideIsr, a_look_before_the_acknowledgement_proves_nothing) {
    Watched run;
    run.log_end(2100, 3, 2, 2009);
    EXPECT_FALSE(run.breaks());
}

TEST(AckedOutsideIsr, a_member_that_had_it) {
    Watched run;
    run.log_end(2008, 3, 2, 2006);
    run.log_end(2300, 3, 2, 2299);
    EXPECT_FALSE(run.breaks());
}

TEST(AckedOutsideIsr, acks_of_one_promise_nothing) {
    Watched run;
    run.acks = 1;
    run.log_end(2100, 3, kEndOfThird, 2099);
    EXPECT_FALSE(run.breaks());
}

TEST(AckedOutsideIsr, who_joins_within_the_clocks_error) {
    Watched run;
    run.joined->at = HistoryBuilder::at(1951);
    run.log_end(2100, 3, kEndOfThird, 2099);
    EXPECT_FALSE(run.breaks());
}

TEST(AckedOutsideIsr, who_leaves_within_the_clocks_error) {
    Watched run;
    run.decides(2060, 1, 0, {1, 2});
    run.log_end(2100, 3, kEndOfThird, 2099);
    EXPECT_FALSE(run.breaks());
    Watched later;
    later.decides(2061, 1, 0, {1, 2});
    later.log_end(2100, 3, kEndOfThird, 2099);
    EXPECT_TRUE(later.breaks());
}

TEST(AckedOutsideIsr, who_is_no_leader_to_the_controller) {
    Watched run;
    run.asked = 2;
    run.log_end(2100, 3, kEndOfThird, 2099);
    EXPECT_FALSE(run.breaks());
    Watched zombie;
    zombie.decides(1900, 2, 1, {2, 3});
    zombie.log_end(2100, 3, kEndOfThird, 2099);
    EXPECT_FALSE(zombie.breaks());
}

TEST(AckedOutsideIsr, a_log_that_the_next_leader_may_have_cut) {
    Watched run;
    run.decides(2080, 2, 1, {2, 3});
    run.log_end(2100, 3, kEndOfThird, 2099);
    EXPECT_FALSE(run.breaks());
}

TEST(AckedOutsideIsr, a_member_that_started_since) {
    Watched run;
    TraceEvent& start = run.trace.line(1500, 3, TraceKind::Start);
    start.partition = -1;
    start.outside = true;
    run.log_end(2100, 3, kEndOfThird, 2099);
    EXPECT_FALSE(run.breaks());
}

TEST(AckedOutsideIsr, a_member_whose_data_a_fault_took) {
    Watched run;
    FaultOp wipe;
    wipe.kind = "wipe";
    wipe.target = "3";
    wipe.status = "ok";
    run.history.add<FaultOp>(1900, 1950, "nemesis", wipe);
    run.log_end(2100, 3, 0, 2099);
    run.log_end(2200, 3, 0, 2199);
    EXPECT_FALSE(run.breaks());
}

}  // namespace
}  // namespace highwater::checker
