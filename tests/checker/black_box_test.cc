// Properties of client histories without a trace: for each a history that is flagged, and a change of it that
// is not.
#include <gtest/gtest.h>

#include "tests/checker/builder.h"

namespace highwater::checker {
namespace {

TEST(LostCommitted, an_acked_record_that_the_final_log_lacks) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    run.produce(10, 19, 2, 1);
    Poll& final = run.final({{0, 1}});
    const Verdict lost = run.judge();
    EXPECT_EQ(lost.kind, VerdictKind::Invalid);
    EXPECT_EQ(count(lost, "lost-committed"), 1);
    EXPECT_EQ(sentence(lost, "lost-committed"),
              "offset 1 (2) was acked with acks=all at 0.02 s; the final log ends at 1");

    final.records.push_back({1, 2});
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
}

TEST(LostCommitted, loss_is_allowed_only_with_an_unclean_election_seen_and_enabled) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    run.produce(10, 19, 2, 1);
    run.final({{0, 1}});
    run.history.meta.unclean = true;
    EXPECT_TRUE(violated(run.judge(), "lost-committed"));

    Observe observe;
    observe.leader = 3;
    observe.epoch = 4;
    observe.unclean = true;
    run.add<Observe>(100, 100, "observer", observe);
    const Verdict allowed = run.judge();
    EXPECT_EQ(allowed.kind, VerdictKind::Valid);
    EXPECT_EQ(count(allowed, "lost-committed"), 1);
    EXPECT_EQ(count(allowed, "unclean-election"), 1);
    EXPECT_TRUE(allowed.anomalies.front().allowed);

    run.history.meta.unclean = false;
    const Verdict forbidden = run.judge();
    EXPECT_TRUE(violated(forbidden, "lost-committed"));
    EXPECT_TRUE(violated(forbidden, "unclean-election"));
}

TEST(LostCommitted, what_a_follower_lacks_at_the_end_is_not_gone) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    run.produce(10, 19, 2, 1);
    run.poll(20, 29, {{0, 1}, {1, 2}});
    Poll& final = run.final({{0, 1}});
    final.from_follower = true;
    const Verdict verdict = run.judge();
    EXPECT_EQ(verdict.kind, VerdictKind::Unknown);
    EXPECT_EQ(verdict.reasons, std::vector<std::string>{"final-read-incomplete"});
    EXPECT_EQ(count(verdict, "lost-committed"), 0);
    EXPECT_EQ(count(verdict, "dirty-read"), 0);

    final.from_follower = false;
    EXPECT_TRUE(violated(run.judge(), "lost-committed"));
}

TEST(Phantom, not_where_the_history_was_cut_short) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    run.poll(20, 29, {{0, 1}, {1, 2}});
    EXPECT_TRUE(violated(run.judge(), "phantom"));

    run.history.cut_short = true;  // the append of 2 was under way
    const Verdict cut = run.judge();
    EXPECT_EQ(cut.kind, VerdictKind::Unknown);
    EXPECT_EQ(cut.reasons, std::vector<std::string>{"cut-short"});
    EXPECT_EQ(count(cut, "phantom"), 0);
}

TEST(LostCommitted, expired_records_and_unknown_offsets) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    run.produce(10, 19, 2, kUnknownOffset);
    Poll& final = run.final({{1, 2}});
    final.log_start = 1;
    final.from = 1;
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
    final.records = {{1, 3}};
    EXPECT_EQ(count(run.judge(), "lost-committed"), 1);
}

TEST(LostCommitted, without_a_complete_final_read_unseen_is_unknown) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    run.produce(10, 19, 2, 1);
    run.poll(20, 25, {{0, 1}});
    const Verdict verdict = run.judge();
    EXPECT_EQ(verdict.kind, VerdictKind::Unknown);
    EXPECT_EQ(verdict.reasons, std::vector<std::string>{"unseen"});
    // A later read that covers the offset and shows something else is proof.
    run.produce(30, 39, 3, kUnknownOffset, Outcome::Info);
    run.poll(40, 45, {{0, 1}, {1, 3}});
    EXPECT_EQ(count(run.judge(), "lost-committed"), 1);
}

TEST(LostCommitted, a_final_read_in_pieces_and_twice) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    run.produce(10, 19, 2, 1);
    for (const std::int64_t pass : {8000, 9000}) {
        Poll& first = run.final({{0, 1}}, pass);
        first.complete = false;
        first.high_watermark = 2;
        Poll& second = run.final({{1, 2}}, pass + 100);
        second.from = 1;
    }
    const Verdict verdict = run.judge();
    EXPECT_EQ(verdict.kind, VerdictKind::Valid) << sentence(verdict, "lost-committed");
}

TEST(LostWeak, counted_and_allowed_unless_it_was_read) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0, Outcome::Ok, 1);
    run.produce(10, 19, 2, 1, Outcome::Ok, 1);
    run.final({{0, 1}});
    const Verdict weak = run.judge();
    EXPECT_EQ(weak.kind, VerdictKind::Valid);
    EXPECT_EQ(count(weak, "lost-weak"), 1);
    run.poll(20, 25, {{1, 2}});
    const Verdict dirty = run.judge();
    EXPECT_EQ(count(dirty, "lost-weak"), 0);
    EXPECT_TRUE(violated(dirty, "dirty-read"));
}

TEST(DirtyRead, a_timed_out_record_that_was_read_and_is_gone) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    run.produce(10, 19, 2, kUnknownOffset, Outcome::Info);
    run.poll(20, 25, {{0, 1}, {1, 2}});
    Poll& final = run.final({{0, 1}});
    const Verdict verdict = run.judge();
    EXPECT_TRUE(violated(verdict, "dirty-read"));
    EXPECT_EQ(evidence(verdict, "read_then_lost"), 1);
    final.records = {{0, 1}, {1, 2}};
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
}

TEST(InconsistentOffset, two_visible_values_at_one_offset) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    Produce& other = run.produce(10, 19, 2, 0);
    run.final({{0, 1}});
    EXPECT_TRUE(violated(run.judge(), "inconsistent-offset"));
    other.acks = 1;  // acknowledged by one replica and never read: not visible
    const Verdict verdict = run.judge();
    EXPECT_EQ(count(verdict, "inconsistent-offset"), 0);
    EXPECT_EQ(verdict.kind, VerdictKind::Valid);
}

TEST(Phantom, a_value_that_nobody_sent) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    run.final({{0, 1}, {1, 777}});
    EXPECT_TRUE(violated(run.judge(), "phantom"));
    run.history.meta.preexisting_values = {777};
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
}

TEST(AbortedRead, a_refused_value_that_was_read) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    run.produce(10, 19, 2, kUnknownOffset, Outcome::Fail).error = "NOT_ENOUGH_REPLICAS";
    run.final({{0, 1}, {1, 2}});
    const Verdict verdict = run.judge();
    EXPECT_TRUE(violated(verdict, "aborted-read"));
    EXPECT_EQ(evidence(verdict, "rejected"), 1);
    run.history.operations[1].as<Produce>()->status = Outcome::Info;
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
}

TEST(Duplicate, forbidden_without_retries_counted_with) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 1);
    run.final({{0, 1}, {1, 1}});
    EXPECT_TRUE(violated(run.judge(), "duplicate"));
    run.history.meta.retries = 5;
    const Verdict counted = run.judge();
    EXPECT_EQ(counted.kind, VerdictKind::Valid);
    EXPECT_EQ(count(counted, "duplicate"), 1);
    run.history.meta.idempotence = true;
    EXPECT_TRUE(violated(run.judge(), "duplicate"));
}

Observe view(std::vector<BrokerId> isr) {
    Observe observe;
    observe.isr = std::move(isr);
    observe.leader = 1;
    observe.replicas = std::vector<BrokerId>{1, 2, 3};
    return observe;
}

TEST(AckedBelowMinIsr, only_inside_an_exact_window) {
    HistoryBuilder run;
    run.add<Observe>(0, 0, "observer", view({1, 2, 3}));
    run.add<Observe>(20, 20, "observer", view({1}));
    run.produce(30, 39, 1, 0);
    run.final({{0, 1}});
    EXPECT_TRUE(violated(run.judge(), "acked-below-min-isr"));
    run.history.operations[1].as<Observe>()->sampled = true;  // proves nothing about the time after
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
    run.history.operations[1].as<Observe>()->sampled = false;
    run.add<Observe>(35, 35, "observer", view({1, 2}));
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
}

TEST(HwRegression, list_offsets_across_and_within_epochs) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    run.final({{0, 1}});
    const auto latest = [&](std::int64_t ms, Offset offset, LeaderEpoch epoch) {
        ListOffsets list;
        list.offset = offset;
        list.epoch = epoch;
        run.add<ListOffsets>(ms, ms + 1, "adm", list);
    };
    latest(20, 5, 4);
    latest(30, 5, 5);
    latest(31, 5, 5);  // calls that overlap or follow with the same answer are fine
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
    run.history.operations.pop_back();
    latest(40, 4, 5);
    EXPECT_EQ(count(run.judge(), "hw-regression"),
              2);  // below epoch 4's answer and below its own earlier one
    Observe unclean;
    unclean.leader = 2;
    unclean.epoch = 5;
    unclean.unclean = true;
    run.history.meta.unclean = true;
    run.add<Observe>(25, 25, "observer", unclean);
    const Verdict verdict = run.judge();
    EXPECT_TRUE(violated(verdict, "hw-regression"));  // within epoch 5 there is no excuse
}

TEST(PollOrder, going_back_and_skipping) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    run.produce(10, 19, 2, 1);
    run.produce(20, 29, 3, 2);
    run.poll(30, 35, {{0, 1}, {1, 2}});
    Poll& next = run.poll(40, 45, {{2, 3}});
    next.from = kUnknownOffset;
    run.final({{0, 1}, {1, 2}, {2, 3}});
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
    auto& changed = *run.history.operations[4].as<Poll>();
    changed.records = {{1, 2}, {2, 3}};
    EXPECT_TRUE(violated(run.judge(), "nonmonotonic-poll"));
    run.history.operations[3].as<Poll>()->records = {{0, 1}};
    changed.records = {{2, 3}};
    EXPECT_TRUE(violated(run.judge(), "poll-skip"));
    OtherOp seek;
    seek.op = "seek";
    seek.json = R"("partition":0,"offset":2)";
    run.add<OtherOp>(36, 36, "c1", seek);
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
}

TEST(AppendOrder, an_ack_that_returned_before_a_lower_record_was_sent) {
    HistoryBuilder run;
    Produce& first = run.produce(10, 19, 1, 0);
    run.produce(0, 9, 2, 1);
    run.final({{0, 1}, {1, 2}});
    const Verdict verdict = run.judge();
    EXPECT_TRUE(violated(verdict, "out-of-order-ack"));
    EXPECT_EQ(sentence(verdict, "out-of-order-ack"),
              "offset 1 (2) was acked at 0.01 s, but offset 0 (1) below it was only sent at 0.01 s");
    run.history.operations[0].invoked =
        HistoryBuilder::at(9);  // closed intervals: equal stamps are concurrent
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
    run.history.operations[0].invoked = HistoryBuilder::at(10);
    run.history.operations[1].as<Produce>()->status = Outcome::Info;  // may land at any later time
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
    run.history.operations[1].as<Produce>()->status = Outcome::Ok;
    run.history.meta.retries = 3;  // the acknowledged attempt may be a later one
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
    first.status = Outcome::Info;
    run.history.meta.retries = 0;
    EXPECT_TRUE(violated(run.judge(), "out-of-order-ack"));
}

TEST(AppendOrder, a_read_before_its_append_was_sent) {
    HistoryBuilder run;
    run.produce(10, 19, 1, 0);
    run.poll(0, 5, {{0, 1}});
    run.final({{0, 1}});
    EXPECT_TRUE(violated(run.judge(), "read-from-future"));
    run.history.operations[1].completed = HistoryBuilder::at(12);
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
}

TEST(AppendOrder, stale_reads_are_judged_on_request_only) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    run.produce(10, 19, 2, 1);
    run.poll(30, 35, {{0, 1}}).high_watermark = 1;
    run.final({{0, 1}, {1, 2}});
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
    run.history.meta.reads = "linearizable";
    EXPECT_TRUE(violated(run.judge(), "stale-read"));
    run.history.operations[2].as<Poll>()->high_watermark = 2;  // cut short by its size
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
}

TEST(AppendOrder, numbered_records_keep_their_order_with_idempotence) {
    HistoryBuilder run;
    run.produce(0, 90, 1, 1).sequence = 0;
    run.produce(1, 90, 2, 0).sequence = 1;
    run.final({{0, 2}, {1, 1}});
    run.history.meta.max_in_flight = 5;
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
    EXPECT_EQ(count(run.judge(), "out-of-order-ack"), 1);
    run.history.meta.idempotence = true;
    EXPECT_TRUE(violated(run.judge(), "out-of-order-ack"));
}

TEST(Stuck, only_after_a_proven_heal) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    run.final({{0, 1}});
    Probe probe;
    probe.detail = "progress";
    run.add<Probe>(8000, 8000, "runner", probe);
    EXPECT_TRUE(violated(run.judge(), "stuck"));
    const Verdict unhealed = check({.history = run.history, .run_reasons = {"not-healed"}});
    EXPECT_EQ(unhealed.kind, VerdictKind::Unknown);
    run.history.operations.back().as<Probe>()->ok = true;
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
}

TEST(Stuck, tells_who_is_outside_which_isr) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    run.final({{0, 1}});
    TraceBuilder trace;
    trace.leads(2, 1, 5, 0, {{0, 5}}, {1, 2});
    trace.elects(3, 1, 5, false, {1, 2});
    TraceEvent& other = trace.line(4, 3, TraceKind::Role);
    other.role = "follower";
    other.epoch = 5;
    other.log_end_offset = 7;
    other.table = {{.offset = 0, .epoch = 4}};
    trace.line(5, 1, TraceKind::Append).log_end_offset = 2;
    trace.trace.events.back().epoch = 5;
    trace.trace.events.back().first = 0;
    trace.trace.events.back().acks = -1;
    Probe probe;
    probe.detail = "isr-full: not within 6s";
    run.add<Probe>(8000, 8000, "runner", probe);
    const Verdict verdict = run.judge(trace.trace);
    EXPECT_TRUE(violated(verdict, "stuck"));
    EXPECT_TRUE(verdict.reasons.empty());
    const std::string told = sentence(verdict, "stuck");
    EXPECT_NE(told.find("the ISR of leader 1 (epoch 5) is {1,2}"), std::string::npos) << told;
    EXPECT_NE(told.find("broker 3 is outside with LEO 7, in epoch 5, offset 0 of epoch 4 there, of epoch 5"), std::string::npos) << told;
}

TEST(Premises, each_reason_makes_the_run_unknown) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    Poll& final = run.final({{0, 1}});
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
    EXPECT_EQ(check({.history = run.history, .run_reasons = {"target-unresolved"}}).kind,
              VerdictKind::Unknown);
    final.complete = false;
    EXPECT_EQ(run.judge().reasons, std::vector<std::string>{"final-read-incomplete"});
    final.complete = true;
    final.records.clear();
    final.high_watermark = 0;
    EXPECT_EQ(run.judge().kind, VerdictKind::Invalid);  // invalid beats unknown: the record is lost
    EXPECT_EQ(run.judge().reasons, std::vector<std::string>{"vacuous"});
    Observe observe;
    observe.replicas = std::vector<BrokerId>{1};
    run.add<Observe>(1, 1, "observer", observe);
    const Verdict mismatch = run.judge();
    EXPECT_EQ(mismatch.kind, VerdictKind::Unknown);  // a failed premise voids even a violation
    EXPECT_TRUE(mismatch.violations.empty());
    EXPECT_EQ(count(mismatch, "lost-committed"), 1);
    EXPECT_EQ(HistoryBuilder().judge().kind, VerdictKind::Unknown);
}

TEST(Premises, a_path_that_answers_while_it_is_cut) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    run.final({{0, 1}});
    FaultOp cut;
    cut.kind = "cut";
    cut.status = "ok";
    cut.paths = {{1, 2}};
    run.add<FaultOp>(20, 21, "nemesis", cut);
    Probe probe;
    probe.ok = true;
    probe.source = 2;
    probe.destination = 1;
    run.add<Probe>(30, 31, "nemesis", probe);  // the other direction
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
    probe.source = 1;
    probe.destination = 2;
    run.add<Probe>(32, 33, "nemesis", probe);
    EXPECT_EQ(run.judge().reasons, std::vector<std::string>{"fault-not-effective"});
}

TEST(Evidence, counts_and_expectations) {
    HistoryBuilder run;
    FaultOp slow;
    slow.kind = "delay";
    slow.id = "slow";
    slow.status = "ok";
    run.add<FaultOp>(5, 700, "nemesis", slow);
    run.add<Observe>(0, 0, "observer", view({1, 2, 3}));
    run.add<Observe>(600, 600, "observer", view({1, 2}));
    run.add<Observe>(800, 800, "observer", view({1, 2, 3}));
    run.produce(10, 400, 1, 0);
    run.produce(410, 420, 2, kUnknownOffset, Outcome::Info);
    run.final({{0, 1}});
    Verdict verdict = run.judge();
    EXPECT_EQ(evidence(verdict, "acked"), 1);
    EXPECT_EQ(evidence(verdict, "unknown_outcomes"), 1);
    EXPECT_EQ(evidence(verdict, "slow-ack@slow"), 1);
    EXPECT_EQ(evidence(verdict, "isr-shrunk"), 1);
    EXPECT_EQ(evidence(verdict, "isr-shrunk@slow"), 1);
    EXPECT_EQ(evidence(verdict, "isr-expanded"), 1);
    EXPECT_EQ(evidence(verdict, "isr-expanded@slow"), 0);
    expect_evidence(verdict, {"isr-shrunk", "slow-ack@slow"}, {"session-timeout"});
    EXPECT_EQ(verdict.kind, VerdictKind::Valid);
    expect_evidence(verdict, {}, {"isr-shrunk@slow"});
    EXPECT_EQ(verdict.kind, VerdictKind::Unknown);
    EXPECT_EQ(verdict.reasons, std::vector<std::string>{"expectation-not-met"});
}

}  // namespace
}  // namespace highwater::checker
