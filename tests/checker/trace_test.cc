// Properties that need the nodes' traces: for each a run that is flagged, and a change of it that is not.
#include <gtest/gtest.h>

#include "tests/checker/builder.h"

namespace highwater::checker {
namespace {

/// Broker 2 acked offsets 0 to 2 in epoch 5 as ISR {2}; broker 1, which has offset 0 only, is elected in
/// epoch 6.
struct UncleanRun {
    HistoryBuilder run;
    TraceBuilder trace;
    TraceEvent* election = nullptr;

    UncleanRun() {
        run.history.meta.min_isr = 1;
        run.history.meta.unclean = true;
        trace.elects(0, 2, 5, false, {1, 2});
        trace.leads(1, 2, 5, 0, {}, {1, 2});
        run.produce(10, 19, make_value(3, 1), 0).broker = 2;
        trace.acks(15, 2, 5, 0, 0, {1, 2});
        run.produce(20, 29, make_value(3, 2), 1).broker = 2;
        trace.elects(20, 2, 5, false, {2}).elected = false;
        trace.acks(24, 2, 5, 1, 1, {2});
        trace.moves(25, 2, 5, 1, 2, {2}, {{.id = 1, .log_end_offset = 1}});
        run.produce(30, 39, make_value(3, 3), 2, Outcome::Info).broker = 2;
        election = &trace.elects(1000, 1, 6, true, {1});
        trace.leads(1010, 1, 6, 1, {{.offset = 0, .epoch = 5}}, {1});
        TraceEvent& follows = trace.line(1990, 2, TraceKind::Role);
        follows.role = "follower";
        follows.leader = 1;
        follows.epoch = 6;
        follows.log_end_offset = 3;
        follows.table = {{.offset = 0, .epoch = 5}};
        trace.cuts(2000, 2, 6, 3, 1).leader = 1;
        run.produce(2010, 2020, make_value(3, 4), 1).broker = 1;
        trace.acks(2015, 1, 6, 1, 1, {1});
        run.final({{0, make_value(3, 1)}, {1, make_value(3, 4)}});
    }
};

TEST(UncleanAccounting, a_loss_in_an_allowed_unclean_election_is_counted) {
    const UncleanRun lossy;
    const Verdict verdict = lossy.run.judge(lossy.trace.trace);
    EXPECT_EQ(verdict.kind, VerdictKind::Valid) << ::testing::PrintToString(verdict.violations);
    EXPECT_EQ(count(verdict, "lost-committed"), 1);
    EXPECT_EQ(count(verdict, "inconsistent-offset"), 1);
    EXPECT_EQ(evidence(verdict, "unclean-election"), 1);
    EXPECT_EQ(evidence(verdict, "truncated"), 1);
    EXPECT_EQ(evidence(verdict, "leader-changed"), 1);
    EXPECT_EQ(sentence(verdict, "lost-committed"),
              "offset 1 (p3-2) was acked by broker 2 in epoch 5 at 0.01 s with ISR {2}; broker 1 was elected "
              "uncleanly in "
              "epoch 6 at 0.99 s with LEO 1; broker 2 truncated 3 -> 1 at 1.99 s");
}

TEST(UncleanAccounting, the_same_loss_is_a_violation_without_permission_or_without_that_election) {
    UncleanRun lossy;
    lossy.run.history.meta.unclean = false;
    EXPECT_TRUE(violated(lossy.run.judge(lossy.trace.trace), "lost-committed"));
    EXPECT_TRUE(violated(lossy.run.judge(lossy.trace.trace), "unclean-election"));

    UncleanRun clean;
    clean.election->unclean = false;
    // An unclean election of an earlier epoch explains nothing.
    clean.trace.elects(0, 2, 4, true, {2});
    const Verdict verdict = clean.run.judge(clean.trace.trace);
    EXPECT_TRUE(violated(verdict, "lost-committed"));
    EXPECT_NE(sentence(verdict, "lost-committed").find("without any unclean election"), std::string::npos);
}

TEST(UncleanAccounting, a_loss_after_the_last_election_is_never_explained) {
    UncleanRun lossy;
    lossy.run.history.operations.back().as<Poll>()->records = {{0, make_value(3, 1)}};
    const Verdict verdict = lossy.run.judge(lossy.trace.trace);  // now p3-4 of epoch 6 is missing too
    EXPECT_EQ(count(verdict, "lost-committed"), 2);
    EXPECT_TRUE(violated(verdict, "lost-committed"));
}

TEST(LostCommitted, below_a_traced_high_watermark_everything_is_committed) {
    UncleanRun lossy;
    lossy.trace.moves(40, 2, 5, 2, 3, {2}, {{.id = 1, .log_end_offset = 1}});
    EXPECT_EQ(count(lossy.run.judge(lossy.trace.trace), "lost-committed"),
              2);  // the timed-out record at offset 2 too
}

TEST(LostCommitted, events_after_the_history_are_the_end_of_the_cluster) {
    UncleanRun lossy;
    lossy.trace.elects(99000, 3, 7, true, {3});
    lossy.trace.leads(99001, 3, 7, 0, {}, {3});
    const Verdict verdict = lossy.run.judge(lossy.trace.trace);
    EXPECT_EQ(evidence(verdict, "unclean-election"), 1);
    EXPECT_EQ(count(verdict, "lost-committed"), 1);
}

/// One clean record, to hang trace lines on.
struct QuietRun {
    HistoryBuilder run;
    TraceBuilder trace;

    QuietRun() {
        trace.elects(0, 1, 5, false, {1, 2, 3});
        trace.leads(1, 1, 5, 0, {}, {1, 2, 3});
        run.produce(10, 19, make_value(1, 1), 0).broker = 1;
        run.poll(30, 39, {{0, make_value(1, 1)}}).broker = 1;
        run.final({{0, make_value(1, 1)}});
    }
    [[nodiscard]] Verdict judge() const { return run.judge(trace.trace); }
};

TEST(DirtyRead, served_at_or_above_the_high_watermark) {
    QuietRun quiet;
    TraceEvent& serve = quiet.trace.line(35, 1, TraceKind::Serve);
    serve.role = "leader";
    serve.epoch = 5;
    serve.from = 0;
    serve.to = 1;
    serve.high_watermark = 1;
    EXPECT_EQ(quiet.judge().kind, VerdictKind::Valid);
    serve.high_watermark = 0;
    EXPECT_TRUE(violated(quiet.judge(), "dirty-read"));
}

TEST(AckedNotVisible, a_later_high_watermark_of_the_same_office_below_the_ack) {
    QuietRun quiet;
    quiet.trace.acks(15, 1, 5, 0, 0, {1, 2});
    TraceEvent& serve = quiet.trace.line(35, 1, TraceKind::Serve);
    serve.role = "leader";
    serve.epoch = 5;
    serve.from = 0;
    serve.to = 0;
    serve.high_watermark = 0;
    EXPECT_TRUE(violated(quiet.judge(), "acked-not-visible"));
    serve.epoch = 6;  // another office may begin lower
    EXPECT_EQ(quiet.judge().kind, VerdictKind::Valid);
}

TEST(AckedBelowMinIsr, by_the_leaders_own_line) {
    QuietRun quiet;
    TraceEvent& ack = quiet.trace.acks(15, 1, 5, 0, 0, {1, 2});
    EXPECT_EQ(quiet.judge().kind, VerdictKind::Valid);
    ack.maximal_isr = {1};
    const Verdict verdict = quiet.judge();
    EXPECT_TRUE(violated(verdict, "acked-below-min-isr"));
    EXPECT_EQ(verdict.anomalies.front().value, make_value(1, 1));
    ack.error = 20;
    EXPECT_EQ(quiet.judge().kind, VerdictKind::Valid);
}

TEST(MinIsrNotRefused, an_append_written_below_min_isr) {
    QuietRun quiet;
    TraceEvent& append = quiet.trace.line(15, 1, TraceKind::Append);
    append.epoch = 5;
    append.first = 0;
    append.log_end_offset = 1;
    append.acks = 1;  // acks 0 and 1 are not checked
    append.isr = {1};
    EXPECT_EQ(quiet.judge().kind, VerdictKind::Valid);
    append.acks = -1;
    EXPECT_TRUE(violated(quiet.judge(), "min-isr-not-refused"));
    append.isr = {1, 3};
    EXPECT_EQ(quiet.judge().kind, VerdictKind::Valid);
}

TEST(VisibleUnderMinIsr, new_brokers_stand_still_old_ones_move) {
    QuietRun quiet;
    quiet.trace.moves(16, 1, 5, 0, 1, {1}, {{.id = 2, .log_end_offset = 0}});
    EXPECT_TRUE(violated(quiet.judge(), "visible-under-min-isr"));
    quiet.run.history.meta.broker = "kafka-2.8";
    const Verdict old = quiet.judge();
    EXPECT_EQ(old.kind, VerdictKind::Valid);
    EXPECT_EQ(count(old, "visible-under-min-isr"), 1);
    quiet.run.history.meta.broker = "kafka-3.7+";
    EXPECT_TRUE(violated(quiet.judge(), "visible-under-min-isr"));
}

TEST(HwAboveIsr, each_member_and_the_joining_one_hold_it_back) {
    QuietRun quiet;
    quiet.trace.trace.events.front().isr = {1, 2};
    TraceEvent& move = quiet.trace.moves(16, 1, 5, 0, 1, {1, 2},
                                         {{.id = 2, .log_end_offset = 1}, {.id = 3, .log_end_offset = 0}});
    EXPECT_EQ(quiet.judge().kind, VerdictKind::Valid);
    move.pending_add = 3;
    EXPECT_TRUE(violated(quiet.judge(), "hw-above-isr"));
    move.pending_add.reset();
    move.replicas[0].log_end_offset = kUnknownOffset;
    EXPECT_TRUE(violated(quiet.judge(), "hw-above-isr"));
    move.replicas[0].log_end_offset = 1;
    move.log_end_offset = 0;
    EXPECT_TRUE(violated(quiet.judge(), "hw-above-isr"));
}

TEST(HwRegression, of_a_leader_within_its_epoch) {
    QuietRun quiet;
    const std::vector<TraceReplica> replicas{{.id = 2, .log_end_offset = 9}, {.id = 3, .log_end_offset = 9}};
    quiet.trace.moves(16, 1, 5, 0, 1, {1, 2, 3}, replicas);
    TraceEvent& fall = quiet.trace.moves(17, 1, 5, 1, 0, {1, 2, 3}, replicas);
    EXPECT_TRUE(violated(quiet.judge(), "hw-regression"));
    fall.role = "follower";  // may fall
    EXPECT_EQ(quiet.judge().kind, VerdictKind::Valid);
    fall.role = "leader";
    fall.epoch = 6;
    fall.from = 0;  // a new leadership may begin lower
    EXPECT_EQ(quiet.judge().kind, VerdictKind::Valid);
}

TEST(Evidence, of_a_high_watermark_that_stands_still) {
    QuietRun quiet;
    quiet.run.poll(390, 400, {{0, make_value(1, 1)}}).broker = 1;
    const std::vector<TraceReplica> replicas{{.id = 2, .log_end_offset = 9}, {.id = 3, .log_end_offset = 9}};
    std::vector<TraceEvent>& events = quiet.trace.trace.events;
    quiet.trace.line(16, 1, TraceKind::Append).acks = 1;
    const std::size_t append = events.size() - 1;
    quiet.trace.moves(215, 1, 5, 0, 1, {1, 2, 3}, replicas);
    EXPECT_EQ(evidence(quiet.judge(), "hw-behind-leo"), 0) << "199 ms";
    events.back().at = events.back().at + milliseconds(1);
    EXPECT_EQ(evidence(quiet.judge(), "hw-behind-leo"), 1);
    events[append].acks.reset();  // a follower's
    EXPECT_EQ(evidence(quiet.judge(), "hw-behind-leo"), 0);
}

TEST(Evidence, of_a_follower_that_was_told_where_logs_part) {
    QuietRun quiet;
    TraceEvent& cut = quiet.trace.line(20, 2, TraceKind::Truncate);
    cut.from = cut.to = 0;
    cut.table = {{.offset = 0, .epoch = 4}};
    EXPECT_EQ(evidence(quiet.judge(), "diverging-fetch"), 1);
    EXPECT_EQ(evidence(quiet.judge(), "truncated"), 0) << "only its table was cut";
    cut.table.front().epoch = kNoEpoch;  // to its high watermark, by itself
    EXPECT_EQ(evidence(quiet.judge(), "diverging-fetch"), 0);
}

TEST(Evidence, of_the_controllers_lines) {
    QuietRun quiet;
    const auto fence = [&](std::int64_t ms, BrokerId broker, const char* reason) {
        TraceEvent& line = quiet.trace.line(ms, 100, TraceKind::Fence);
        line.partition = -1;
        line.broker = broker;
        line.text = reason;
    };
    fence(20, 2, "registered");
    TraceEvent& proposed = quiet.trace.line(40, 1, TraceKind::IsrProposed);
    proposed.isr_from = {1, 2, 3};
    proposed.isr = {1, 2};
    quiet.trace.line(41, 100, TraceKind::Partition).isr = {1, 2};
    quiet.trace.trace.events.back().leader = 1;
    fence(50, 1, "session-timeout");
    quiet.trace.elects(51, 2, 6, false, {2});
    quiet.trace.line(60, 1, TraceKind::Start).incarnation = 2;
    const Verdict verdict = quiet.judge();
    EXPECT_EQ(evidence(verdict, "lag-shrink"), 1);
    EXPECT_EQ(evidence(verdict, "isr-shrunk"), 2);
    EXPECT_EQ(evidence(verdict, "fenced"), 1);
    EXPECT_EQ(evidence(verdict, "session-timeout"), 1);
    EXPECT_EQ(evidence(verdict, "leader-changed"), 1);
    EXPECT_EQ(evidence(verdict, "leader-lost"), 1);
    EXPECT_EQ(evidence(verdict, "restarted"), 1);
}

}  // namespace
}  // namespace highwater::checker
