// The invariants over the merged trace: a small cluster that keeps all of them, and for each one change that
// breaks it and one that just does not.
#include <gtest/gtest.h>

#include "tests/checker/builder.h"

namespace highwater::checker {
namespace {

/// Leader 1 and followers 2, 3 in epoch 5; three records replicated to all and committed, the third acked.
struct Cluster {
    HistoryBuilder run;
    TraceBuilder trace;

    Cluster() {
        for (const BrokerId node : {1, 2, 3}) trace.line(0, node, TraceKind::Start).partition = -1;
        decides(1, 1, 5, 1, {1, 2, 3});
        trace.leads(2, 1, 5, 0, {}, {1, 2, 3});
        follows(3, 2, 1, 5, 0, {});
        follows(3, 3, 1, 5, 0, {});
        writes(10, 3);
        fetches(11, 2, 3);
        fetches(11, 3, 3);
        confirms(11, 2);
        confirms(11, 3);
        commits(12, 3);
        trace.acks(12, 1, 5, 2, 2, {1, 2, 3});
        for (std::int64_t n = 0; n < 3; ++n) run.produce(9, 13, make_value(1, n + 1), n).broker = 1;
        run.final({{0, make_value(1, 1)}, {1, make_value(1, 2)}, {2, make_value(1, 3)}});
    }
    TraceEvent& decides(std::int64_t ms, BrokerId leader, LeaderEpoch epoch, PartitionEpoch version,
                        std::vector<BrokerId> isr) {
        TraceEvent& line = trace.elects(ms, leader, epoch, false, std::move(isr));
        line.partition_epoch = version;
        return line;
    }
    TraceEvent& follows(std::int64_t ms, BrokerId node, BrokerId leader, LeaderEpoch epoch, Offset end,
                        std::vector<OffsetAndEpoch> table) {
        TraceEvent& line = trace.line(ms, node, TraceKind::Role);
        line.role = "follower";
        line.leader = leader;
        line.epoch = epoch;
        line.log_end_offset = end;
        line.high_watermark = 0;
        line.table = std::move(table);
        return line;
    }
    TraceEvent& writes(std::int64_t ms, Offset end, Offset first = 0) {
        TraceEvent& line = trace.line(ms, 1, TraceKind::Append);
        line.epoch = 5;
        line.first = first;
        line.log_end_offset = end;
        line.acks = -1;
        line.isr = {1, 2, 3};
        return line;
    }
    TraceEvent& fetches(std::int64_t ms, BrokerId node, Offset end, Offset first = 0) {
        TraceEvent& line = trace.line(ms, node, TraceKind::Append);
        line.epoch = 5;
        line.first = first;
        line.log_end_offset = end;
        return line;
    }
    TraceEvent& confirms(std::int64_t ms, BrokerId node, LeaderEpoch epoch = 5) {
        TraceEvent& line = trace.line(ms, node, TraceKind::Following);
        line.epoch = epoch;
        return line;
    }
    TraceEvent& commits(std::int64_t ms, Offset to, Offset from = 0) {
        return trace.moves(ms, 1, 5, from, to, {1, 2, 3},
                           {{.id = 2, .log_end_offset = to}, {.id = 3, .log_end_offset = to}});
    }
    TraceEvent& learns(std::int64_t ms, BrokerId node, Offset to) {
        TraceEvent& line = trace.moves(ms, node, 5, 0, to, {}, {});
        line.role = "follower";
        line.log_end_offset = 3;
        return line;
    }
    /// A fourth record, sent by nobody who was told, in the final log.
    void keeps_fourth() {
        run.produce(9, 17, make_value(1, 4), kUnknownOffset, Outcome::Info);
        Poll& final = *run.history.operations[3].as<Poll>();
        final.records.push_back({3, make_value(1, 4)});
        final.high_watermark = 4;
    }
    /// The kinds that are violated.
    [[nodiscard]] std::vector<std::string> broken() const { return run.judge(trace.trace).violations; }
    [[nodiscard]] bool breaks(const char* kind) const { return violated(run.judge(trace.trace), kind); }
};

const std::vector<std::string> kNothing;

TEST(ReplicaRules, a_correct_cluster_breaks_none) {
    Cluster cluster;
    cluster.learns(13, 2, 3);
    // A clean change of leaders, and the old one follows.
    cluster.decides(20, 2, 6, 2, {2, 3});
    cluster.trace.leads(21, 2, 6, 3, {{.offset = 0, .epoch = 5}}, {2, 3});
    cluster.follows(22, 1, 2, 6, 3, {{.offset = 0, .epoch = 5}});
    EXPECT_EQ(cluster.broken(), kNothing);
}

TEST(ReplicaRules, an_ack_that_waited_since_an_earlier_term_of_the_same_leader) {
    Cluster cluster;
    cluster.writes(14, 4, 3);
    cluster.fetches(15, 2, 4, 3);
    cluster.fetches(15, 3, 4, 3);
    // Nobody led for a while; the same one leads again, with the record of epoch 5 still waiting.
    cluster.decides(16, 1, 7, 2, {1, 2, 3});
    cluster.trace.leads(17, 1, 7, 4, {{.offset = 0, .epoch = 5}}, {1, 2, 3});
    cluster.commits(18, 4).epoch = 7;
    cluster.trace.acks(19, 1, 7, 3, 3, {1, 2, 3});
    EXPECT_FALSE(cluster.breaks("acked-outside-isr"));
}

TEST(ReplicaRules, an_ack_that_a_member_of_the_controllers_isr_lacks) {
    Cluster cluster;
    cluster.writes(14, 4, 3);
    cluster.fetches(15, 2, 4, 3);
    TraceEvent& ack = cluster.trace.acks(16, 1, 5, 3, 3, {1, 2});
    EXPECT_TRUE(cluster.breaks("acked-outside-isr"));
    cluster.decides(13, 1, 5, 2, {1, 2}).elected = false;  // out of the ISR before
    std::stable_sort(cluster.trace.trace.events.begin(), cluster.trace.trace.events.end(),
                     [](const TraceEvent& a, const TraceEvent& b) { return a.at < b.at; });
    EXPECT_EQ(cluster.broken(), kNothing);
    static_cast<void>(ack);
}

TEST(ReplicaRules, a_leader_that_counts_without_a_member_of_the_controllers_isr) {
    Cluster cluster;
    cluster.keeps_fourth();
    cluster.writes(14, 4, 3);
    cluster.fetches(15, 2, 4, 3);
    cluster.fetches(15, 3, 4, 3);
    TraceEvent& move = cluster.commits(16, 4, 3);
    move.isr = {1, 2};
    EXPECT_EQ(cluster.broken(), std::vector<std::string>{"MaximalIsrSuperset"});
    move.pending_add = 3;
    EXPECT_EQ(cluster.broken(), kNothing);
}

TEST(ReplicaRules, a_high_watermark_that_members_do_not_reach) {
    Cluster cluster;
    cluster.keeps_fourth();
    cluster.writes(14, 4, 3);
    cluster.fetches(15, 2, 4, 3);
    cluster.commits(16, 4, 3);
    EXPECT_EQ(cluster.broken(), (std::vector<std::string>{"CandidateCompleteness", "StrongIsr", "WeakIsr"}));
}

TEST(ReplicaRules, one_who_joins_without_a_committed_record) {
    for (const bool late : {false, true}) {
        Cluster cluster;
        cluster.decides(13, 1, 5, 2, {1, 2});
        cluster.writes(14, 4, 3).isr = {1, 2};
        cluster.fetches(15, 2, 4, 3);
        cluster.commits(16, 4, 3).isr = {1, 2};
        cluster.keeps_fourth();
        if (!late) cluster.fetches(17, 3, 4, 3);
        cluster.decides(18, 1, 5, 3, {1, 2, 3});
        EXPECT_EQ(cluster.breaks("CandidateCompleteness"), late);
    }
}

TEST(ReplicaRules, a_leader_that_lacks_a_committed_record) {
    Cluster cluster;
    cluster.decides(20, 2, 6, 2, {2, 3});
    TraceEvent& office = cluster.trace.leads(21, 2, 6, 3, {{.offset = 0, .epoch = 5}}, {2, 3});
    office.log_end_offset = 2;
    EXPECT_TRUE(cluster.breaks("LeaderCompleteness"));
    EXPECT_TRUE(cluster.breaks("unexplained-truncation"));
    cluster.trace.trace.events[cluster.trace.trace.events.size() - 2].unclean = true;
    cluster.run.history.meta.unclean = true;
    EXPECT_FALSE(cluster.breaks("LeaderCompleteness"));
}

TEST(ReplicaRules, two_leaders_of_one_epoch) {
    Cluster cluster;
    TraceEvent& second = cluster.trace.leads(20, 2, 5, 3, {{.offset = 0, .epoch = 5}}, {1, 2, 3});
    EXPECT_TRUE(cluster.breaks("OneLeaderPerEpoch"));
    second.epoch = 6;
    EXPECT_FALSE(cluster.breaks("OneLeaderPerEpoch"));
}

TEST(ReplicaRules, the_controllers_epochs_and_isr) {
    Cluster cluster;
    TraceEvent& line = cluster.decides(20, 2, 5, 2, {2, 3});  // another leader in the same epoch
    EXPECT_EQ(cluster.broken(), std::vector<std::string>{"EpochMonotone"});
    line.epoch = 6;
    EXPECT_EQ(cluster.broken(), kNothing);
    line.partition_epoch = 1;
    EXPECT_EQ(cluster.broken(), std::vector<std::string>{"EpochMonotone"});
    line.partition_epoch = 2;
    line.isr = {1, 3};
    EXPECT_EQ(cluster.broken(), std::vector<std::string>{"LeaderInIsr"});
}

TEST(ReplicaRules, a_fenced_broker_in_the_isr) {
    Cluster cluster;
    TraceEvent& fence = cluster.trace.line(15, 100, TraceKind::Fence);
    fence.partition = -1;
    fence.broker = 3;
    TraceEvent& line = cluster.decides(20, 1, 5, 2, {1, 2, 3});
    line.elected = false;
    EXPECT_EQ(cluster.broken(), std::vector<std::string>{"FencedNotInIsr"});
    line.isr = {1, 2};
    EXPECT_EQ(cluster.broken(), kNothing);
    fence.broker = 1;
    line.isr = {1};  // the last one stays
    EXPECT_EQ(cluster.broken(), std::vector<std::string>{"FencedLeader"});
}

TEST(ReplicaRules, a_truncation_that_its_leader_did_not_ask_for) {
    Cluster cluster;
    TraceEvent& cut = cluster.trace.cuts(20, 3, 5, 3, 2);
    cut.leader = 1;
    EXPECT_EQ(cluster.broken(), std::vector<std::string>{"unexplained-truncation"});  // the leader has it
    cut.to = 3;
    EXPECT_EQ(cluster.broken(), kNothing);
    // A tail that the leader lacks.
    cluster.fetches(19, 3, 4, 3).epoch = 4;
    std::swap(cluster.trace.trace.events[cluster.trace.trace.events.size() - 1],
              cluster.trace.trace.events[cluster.trace.trace.events.size() - 2]);
    TraceEvent& last = cluster.trace.trace.events.back();
    last.from = 4;
    last.to = 3;
    EXPECT_FALSE(cluster.breaks("unexplained-truncation"));
    last.leader = 2;
    EXPECT_TRUE(cluster.breaks("unexplained-truncation"));
}

TEST(ReplicaRules, a_log_that_is_shorter_after_a_restart) {
    Cluster cluster;
    cluster.trace.line(20, 3, TraceKind::Start).incarnation = 2;
    TraceEvent& role = cluster.follows(21, 3, 1, 5, 1, {{.offset = 0, .epoch = 5}});
    role.incarnation = 2;
    EXPECT_EQ(cluster.broken(), std::vector<std::string>{"unexplained-truncation"});
    FaultOp wipe;
    wipe.kind = "lose-unflushed";
    wipe.target = "3";
    wipe.status = "ok";
    cluster.run.add<FaultOp>(18, 18, "nemesis", wipe);
    EXPECT_EQ(cluster.broken(), kNothing);
    cluster.run.history.operations.back().as<FaultOp>()->target = "2";
    EXPECT_EQ(cluster.broken(), std::vector<std::string>{"unexplained-truncation"});
}

TEST(ReplicaRules, a_follower_ahead_of_its_leader) {
    Cluster cluster;
    TraceEvent& line = cluster.learns(13, 2, 3);
    EXPECT_EQ(cluster.broken(), kNothing);
    cluster.trace.trace.events[cluster.trace.trace.events.size() - 3].to = 2;  // the leader's
    EXPECT_EQ(cluster.broken(), std::vector<std::string>{"follower-hw-above-leader"});
    line.to = 2;
    EXPECT_EQ(cluster.broken(), kNothing);
    line.to = 4;
    EXPECT_TRUE(cluster.breaks("HwLeLeo"));
}

TEST(ReplicaRules, logs_that_differ_below_both_high_watermarks) {
    Cluster cluster;
    cluster.follows(13, 3, 1, 5, 3, {{.offset = 0, .epoch = 4}});
    TraceEvent& line = cluster.learns(14, 3, 3);
    EXPECT_TRUE(cluster.breaks("LogMatching"));
    line.to = 0;
    EXPECT_FALSE(cluster.breaks("LogMatching"));
}

TEST(ReplicaRules, an_ack_below_its_quorum) {
    Cluster cluster;
    TraceEvent& ack = cluster.trace.acks(16, 1, 5, 2, 2, {1, 2, 3});
    EXPECT_EQ(cluster.broken(), kNothing);
    ack.high_watermark = 2;
    EXPECT_EQ(cluster.broken(), std::vector<std::string>{"AckQuorum"});
}

TEST(ExpectedLoss, the_last_one_in_sync_loses_what_it_had) {
    Cluster cluster;
    cluster.decides(14, 1, 5, 2, {1}).elected = false;
    FaultOp fault;
    fault.kind = "lose-unflushed";
    fault.target = "1";
    fault.status = "ok";
    cluster.run.add<FaultOp>(18, 18, "nemesis", fault);
    cluster.trace.line(20, 1, TraceKind::Start).incarnation = 2;
    cluster.decides(21, 1, 6, 3, {1});
    TraceEvent& office = cluster.trace.leads(22, 1, 6, 2, {{.offset = 0, .epoch = 5}}, {1});
    office.incarnation = 2;
    cluster.run.history.operations[3].as<Poll>()->records.pop_back();
    cluster.run.history.operations[3].as<Poll>()->high_watermark = 2;
    const Verdict expected = cluster.run.judge(cluster.trace.trace);
    EXPECT_EQ(expected.kind, VerdictKind::Valid) << ::testing::PrintToString(expected.violations);
    EXPECT_EQ(count(expected, "expected-loss"), 1);
    EXPECT_EQ(count(expected, "lost-committed"), 0);
    cluster.run.history.meta.elr = true;  // then nobody but an eligible replica may be elected
    EXPECT_TRUE(cluster.breaks("lost-committed"));
    cluster.run.history.meta.elr = false;
    cluster.trace.trace.events[cluster.trace.trace.events.size() - 4].isr = {1, 2};  // not alone
    EXPECT_TRUE(cluster.breaks("lost-committed"));
}

TEST(ReplicaDivergence, final_reads_of_two_replicas) {
    HistoryBuilder run;
    run.produce(0, 9, 1, 0);
    run.produce(10, 19, 2, 1);
    run.final({{0, 1}, {1, 2}});
    Poll other = *run.history.operations.back().as<Poll>();
    other.from_follower = true;
    other.broker = 2;
    Poll& follower = run.add<Poll>(9100, 9150, "final-2", other);
    EXPECT_EQ(run.judge().kind, VerdictKind::Valid);
    follower.records.pop_back();
    EXPECT_TRUE(violated(run.judge(), "replica-divergence"));
    follower.high_watermark = 1;  // it had not learned yet
    EXPECT_FALSE(violated(run.judge(), "replica-divergence"));
}

}  // namespace
}  // namespace highwater::checker
