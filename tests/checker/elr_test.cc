// Eligible leader replicas (KIP-966) in traces: what is a violation, what is only counted, and what is
// neither.
#include <gtest/gtest.h>

#include "tests/checker/builder.h"

namespace highwater::checker {
namespace {

using Ids = std::vector<BrokerId>;

/// Leader 1 and follower 2 hold three acknowledged records, min.insync.replicas 2; 2 is stopped, 1 dies.
struct Cluster {
    HistoryBuilder run;
    TraceBuilder trace;

    Cluster() {
        run.history.meta.elr = true;
        run.history.meta.min_isr = 2;
        run.history.meta.replication_factor = 2;
        for (const BrokerId node : {1, 2}) {
            trace.line(0, node, TraceKind::Start).partition = -1;
            registers(0, node, node, false);
        }
        decides(1, 1, 5, {1, 2}, {}).elected = false;
        trace.leads(2, 1, 5, 0, {}, {1, 2});
        follows(3, 2, 1, 5, 0, {});
        writes(10, 3);
        fetches(11, 2, 3);
        trace.moves(12, 1, 5, 0, 3, {1, 2}, {{.id = 2, .log_end_offset = 3}});
        trace.acks(12, 1, 5, 0, 2, {1, 2});
        for (std::int64_t n = 0; n < 3; ++n) run.produce(9, 13, make_value(1, n + 1), n).broker = 1;
        run.final({{0, make_value(1, 1)}, {1, make_value(1, 2)}, {2, make_value(1, 3)}});
        decides(20, 1, 5, {1}, {2}).elected = false;
        dies = &decides(30, -1, 6, {}, {1, 2}, {1});
    }
    TraceEvent& registers(std::int64_t ms, BrokerId broker, BrokerEpoch epoch, bool clean) {
        TraceEvent& line = trace.line(ms, 100, TraceKind::Register);
        line.partition = -1;
        line.broker = broker;
        line.broker_epoch = epoch;
        line.clean = clean;
        line.clean_told = true;
        return line;
    }
    TraceEvent& decides(std::int64_t ms, BrokerId leader, LeaderEpoch epoch, const Ids& isr, const Ids& elr,
                        const Ids& last_known = {}) {
        TraceEvent& line = trace.elects(ms, leader, epoch, false, isr);
        line.partition_epoch = ++partition_epoch;
        line.elr = elr;
        line.elr_told = true;
        line.last_known_elr = last_known;
        line.text = "fenced";
        return line;
    }
    void follows(std::int64_t ms, BrokerId node, BrokerId leader, LeaderEpoch epoch, Offset end,
                 std::vector<OffsetAndEpoch> table) {
        TraceEvent& line = trace.line(ms, node, TraceKind::Role);
        line.role = "follower";
        line.leader = leader;
        line.epoch = epoch;
        line.log_end_offset = end;
        line.high_watermark = 0;
        line.table = std::move(table);
    }
    void writes(std::int64_t ms, Offset end) {
        TraceEvent& line = trace.line(ms, 1, TraceKind::Append);
        line.acks = -1;
        line.epoch = 5;
        line.first = 0;
        line.log_end_offset = end;
    }
    void fetches(std::int64_t ms, BrokerId node, Offset end) {
        TraceEvent& line = trace.line(ms, node, TraceKind::Append);
        line.epoch = 5;
        line.first = 0;
        line.log_end_offset = end;
    }
    /// 2 is back from a clean stop and leads.
    void second_leads(Offset end = 3) {
        registers(40, 2, 12, true);
        decides(41, 2, 7, {2}, {1});
        trace.leads(42, 2, 7, end, {{.offset = 0, .epoch = 5}}, {2});
    }
    /// Both registered from unclean shutdowns; 1, which led last, is elected with `end` records.
    TraceEvent& first_leads_again(Offset end) {
        decides(40, -1, 6, {}, {1}, {1}).text = "registered";
        registers(40, 2, 12, false);
        decides(41, -1, 6, {}, {}, {1}).text = "registered";
        registers(41, 1, 13, false);
        trace.line(42, 1, TraceKind::Start).incarnation = 2;
        TraceEvent& line = decides(43, 1, 7, {1}, {});
        line.unclean = true;
        line.last_known_leader = true;
        line.text = "last-known-leader";
        trace.leads(44, 1, 7, end, {{.offset = 0, .epoch = 5}}, {1}).incarnation = 2;
        return line;
    }
    void loses_data(BrokerId node) {
        FaultOp fault;
        fault.kind = "power-loss";
        fault.target = std::to_string(node);
        fault.status = "ok";
        run.add<FaultOp>(31, 32, "nemesis", fault);
    }
    void final_log_ends_at(std::size_t end) {
        for (auto& operation : run.history.operations) {
            if (auto* poll = std::get_if<Poll>(&operation.what); poll != nullptr && poll->final) {
                poll->records.resize(end);
                poll->high_watermark = static_cast<Offset>(end);
            }
        }
    }
    [[nodiscard]] std::vector<std::string> broken() const { return run.judge(trace.trace).violations; }
    [[nodiscard]] bool breaks(const char* kind) const { return violated(run.judge(trace.trace), kind); }

    TraceEvent* dies = nullptr;
    PartitionEpoch partition_epoch = 0;
};

const std::vector<std::string> kNothing;

TEST(Elr, an_election_from_the_elr_is_clean_and_told) {
    Cluster cluster;
    cluster.second_leads();
    const Verdict verdict = cluster.run.judge(cluster.trace.trace);
    EXPECT_EQ(verdict.violations, kNothing);
    EXPECT_EQ(evidence(verdict, "elr-election"), 1);
    EXPECT_EQ(evidence(verdict, "unclean-election"), 0);
    EXPECT_EQ(count(verdict, "unclean-election"), 0);
}

TEST(Elr, an_eligible_replica_without_a_committed_record) {
    Cluster cluster;
    cluster.second_leads(2);
    EXPECT_TRUE(cluster.breaks("LeaderCompleteness"));
}

TEST(Elr, the_last_known_leader_is_counted_and_allowed) {
    Cluster cluster;
    TraceEvent& election = cluster.first_leads_again(3);
    const Verdict verdict = cluster.run.judge(cluster.trace.trace);
    EXPECT_EQ(verdict.violations, kNothing);
    EXPECT_EQ(count(verdict, "last-known-leader-election"), 1);
    EXPECT_EQ(count(verdict, "unclean-election"), 0);
    // An unclean election by another name is none.
    election.last_known_leader = false;
    EXPECT_TRUE(cluster.breaks("unclean-election"));
    election.last_known_leader = true;
    election.elr = {2};
    EXPECT_TRUE(cluster.breaks("unclean-election"));
    election.elr = {};
    cluster.run.history.meta.elr = false;
    EXPECT_TRUE(cluster.breaks("unclean-election"));
}

TEST(Elr, what_a_last_known_leader_lost_is_expected_after_as_many_unclean_shutdowns_as_min_isr) {
    Cluster cluster;
    cluster.loses_data(1);
    cluster.first_leads_again(2);
    cluster.final_log_ends_at(2);
    const Verdict verdict = cluster.run.judge(cluster.trace.trace);
    EXPECT_EQ(verdict.violations, kNothing);
    EXPECT_EQ(count(verdict, "expected-loss"), 1);

    // One of them said that it had stopped cleanly: it should have been kept, and elected.
    Cluster promised;
    promised.loses_data(1);
    promised.first_leads_again(2);
    promised.final_log_ends_at(2);
    for (TraceEvent& line : promised.trace.trace.events) {
        if (line.kind == TraceKind::Register && line.broker_epoch == 12) line.clean = true;
    }
    EXPECT_TRUE(promised.breaks("lost-committed"));

    Cluster unexplained;  // no fault took its data
    unexplained.first_leads_again(2);
    unexplained.final_log_ends_at(2);
    EXPECT_TRUE(unexplained.breaks("lost-committed"));
}

TEST(ElrShape, isr_and_elr) {
    Cluster cluster;
    EXPECT_EQ(cluster.broken(), kNothing);
    cluster.dies->elr = {1};
    EXPECT_TRUE(cluster.breaks("ElrShape"));  // 2 has all, and is not kept
    cluster.registers(30, 2, 12, false);
    EXPECT_FALSE(cluster.breaks("ElrShape"));  // it came back from an unclean shutdown
    cluster.dies->last_known_elr = {};
    EXPECT_TRUE(cluster.breaks("ElrShape"));

    Cluster both;
    both.dies->isr = {2};
    EXPECT_TRUE(both.breaks("ElrShape"));

    Cluster whole;
    whole.decides(50, 1, 7, {1, 2}, {}).unclean = true;
    EXPECT_FALSE(whole.breaks("ElrShape"));
    whole.trace.trace.events.back().elr = {3};
    EXPECT_TRUE(whole.breaks("ElrShape"));
}

TEST(UncleanExclusion, a_new_incarnation_leaves_isr_and_elr) {
    Cluster cluster;
    cluster.registers(40, 2, 12, true);
    EXPECT_EQ(cluster.broken(), kNothing);
    cluster.trace.trace.events.back().clean = false;
    EXPECT_TRUE(cluster.breaks("UncleanExclusion"));  // and is still eligible
    cluster.trace.trace.events.back().clean_told = false;
    EXPECT_FALSE(cluster.breaks("UncleanExclusion"));

    Cluster in_sync;
    in_sync.decides(40, 1, 7, {1}, {2});
    in_sync.registers(41, 1, 12, true);
    EXPECT_TRUE(in_sync.breaks("UncleanExclusion"));

    Cluster elected;
    elected.decides(40, -1, 6, {}, {1}, {1}).text = "registered";
    elected.registers(40, 2, 12, false);
    elected.decides(41, 2, 7, {2}, {1});
    EXPECT_TRUE(elected.breaks("UncleanExclusion"));
}

TEST(Elr, a_fenced_broker_is_in_no_isr) {
    Cluster cluster;
    TraceEvent& fence = cluster.trace.line(19, 100, TraceKind::Fence);
    fence.partition = -1;
    fence.broker = 1;
    fence.text = "session-timeout";
    std::stable_sort(cluster.trace.trace.events.begin(), cluster.trace.trace.events.end(),
                     [](const TraceEvent& a, const TraceEvent& b) { return a.at < b.at; });
    EXPECT_TRUE(cluster.breaks("FencedNotInIsr"));
}

}  // namespace
}  // namespace highwater::checker
