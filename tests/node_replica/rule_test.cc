// Goal: every rule of docs/protocol.md that lives in one partition has a test of its name. Method: the least
// script of commands (bench.h) that shows the rule and its edge; the transcripts of testdata tell the longer
// stories.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bench.h"
#include "node/log/leader_epoch_cache.h"

namespace highwater::node {
namespace {

class Rule : public testing::Test {
protected:
    std::string run(const std::vector<std::string>& commands) {
        std::string output = bench_.run(commands);
        EXPECT_EQ(output.find("error: "), std::string::npos) << output;
        return output;
    }
    std::string one(const std::string& command) { return run(std::vector{command}); }
    void expect_says(const std::string& command, const std::string& text) {
        const std::string output = one(command);
        EXPECT_NE(output.find(text), std::string::npos) << command << " says\n" << output;
    }
    void expect_silent(const std::string& command, const std::string& text) {
        const std::string output = one(command);
        EXPECT_EQ(output.find(text), std::string::npos) << command << " says\n" << output;
    }
    const Partition& a() { return bench_.replica("A"); }
    const Partition& b() { return bench_.replica("B"); }
    /// What A knows of a replica.
    ReplicaProgress progress(BrokerId id) {
        for (const ReplicaProgress& replica : a().replica_progress(bench_.now())) {
            if (replica.id == id) return replica;
        }
        return {};
    }
    /// A leads epoch 1 with ISR {1,2,3}, lag 10 s.
    void lead(const std::string& more = "") {
        run({"new A lag=10s " + more, "registration A leader=1 isr=1,2,3 epoch=1 partition-epoch=1"});
    }

    Bench bench_;
};

TEST_F(Rule, CaughtUpAtTheEndOrWithinTheLagTime) {
    lead();
    run({"append A acks=1", "follower-fetch A replica=2 offset=1 epoch=1 last-epoch=1", "advance 10s"});
    one("tick A");
    EXPECT_TRUE(std::holds_alternative<CommittedIsr>(a().isr_state())) << "10 s is not more than 10 s";
    expect_says("tick A +1ms", "proposes ISR 1,2,3 -> 1,2; 3");
}

TEST_F(Rule, LastCaughtUpTimeIsThatOfTheFetchBefore) {
    lead();
    run({"append A acks=1", "advance 1s", "follower-fetch A replica=2 offset=0 epoch=1"});
    EXPECT_EQ(progress(2).behind, seconds(1)) << "not at the end, nothing fetched before: as at the election";
    run({"append A acks=1", "advance 1s", "follower-fetch A replica=2 offset=1 epoch=1 last-epoch=1"});
    EXPECT_EQ(progress(2).behind, seconds(1)) << "at the end as it was at the fetch before";
    run({"append A acks=1", "advance 1s", "follower-fetch A replica=2 offset=1 epoch=1 last-epoch=1"});
    EXPECT_EQ(progress(2).behind, seconds(2)) << "behind both ends";
    run({"advance 1s", "follower-fetch A replica=2 offset=3 epoch=1 last-epoch=1"});
    EXPECT_EQ(progress(2).behind, seconds(0));
}

TEST_F(Rule, OnElectionNobodyIsKnown) {
    run({"new A lag=10s", "registration A leader=1 isr=1,2 epoch=1 partition-epoch=1"});
    EXPECT_EQ(progress(2).log_end_offset, kUnknownOffset);
    EXPECT_EQ(progress(2).behind, seconds(0)) << "a member counts from now";
    EXPECT_EQ(progress(3).behind, Duration::max()) << "others never were";
}

TEST_F(Rule, ReelectedInTheNextEpochKeepsWhatItKnew) {
    lead();
    run({"append A acks=1", "follower-fetch A replica=2 offset=1 epoch=1 last-epoch=1",
         "registration A leader=1 isr=1,2 epoch=2 partition-epoch=2"});
    EXPECT_EQ(progress(2).log_end_offset, 1);
    one("registration A leader=1 isr=1,2 epoch=4 partition-epoch=4");
    EXPECT_EQ(progress(2).log_end_offset, kUnknownOffset) << "who led epoch 3 may have made it truncate";
}

TEST_F(Rule, ShrinkTickProposesOnceAndAllAtOnce) {
    lead();
    run({"append A acks=1", "advance 11s"});
    expect_says("tick A", "proposes ISR 1,2,3 -> 1; 2 at ? is behind 11s; 3 at ? is behind 11s");
    expect_silent("tick A", "proposes");
    expect_silent("follower-fetch A replica=2 offset=1 epoch=1 last-epoch=1", "proposes");
}

TEST_F(Rule, ExpandNeedsHwAndEpochStartAndTakesOneAtATime) {
    run({"new A log=1x3 hw=1", "registration A leader=1 isr=1 epoch=2 partition-epoch=2", "append A acks=1"});
    EXPECT_EQ(a().high_watermark(), 4);
    expect_silent("follower-fetch A replica=2 offset=3 epoch=2 last-epoch=1", "proposes");
    expect_says("follower-fetch A replica=2 offset=4 epoch=2 last-epoch=2", "proposes ISR 1 -> 1,2");
    expect_silent("follower-fetch A replica=3 offset=4 epoch=2 last-epoch=2", "proposes");
    expect_silent("alter-partition-answer A ok", "proposes");
    expect_says("follower-fetch A replica=3 offset=4 epoch=2 last-epoch=2", "proposes ISR 1,2 -> 1,2,3");
}

TEST_F(Rule, EligibleIsUnfencedStayingAndOfThisIncarnation) {
    run({"new A", "registration A leader=1 isr=1,2 epoch=1 partition-epoch=1", "broker 3 fenced"});
    expect_silent("follower-fetch A replica=3 offset=0 epoch=1", "proposes");
    one("broker 3 unfenced epoch=30");
    expect_silent("follower-fetch A replica=3 offset=0 epoch=1 broker-epoch=31",
                  "proposes");  // not registered here yet
    expect_says("follower-fetch A replica=3 offset=0 epoch=1 broker-epoch=-1", "proposes ISR 1,2 -> 1,2,3");
    run({"new A", "registration A leader=1 isr=1,2 epoch=1 partition-epoch=1", "broker 3 leaving"});
    expect_silent("follower-fetch A replica=3 offset=0 epoch=1", "proposes");
}

TEST_F(Rule, StaleFetchUpdatesNothing) {
    lead();
    run({"append A acks=1", "advance 1s"});
    expect_says("follower-fetch A replica=2 offset=1 epoch=1 last-epoch=1 broker-epoch=19",
                "NOT_LEADER_OR_FOLLOWER");
    EXPECT_EQ(progress(2).log_end_offset, kUnknownOffset);
    EXPECT_EQ(progress(2).behind, seconds(1));
}

TEST_F(Rule, MaximalIsrCountsWhoJoinsAndWhoLeaves) {
    run({"new A lag=10s", "registration A leader=1 isr=1,2 epoch=1 partition-epoch=1",
         "follower-fetch A replica=3 offset=0 epoch=1"});
    EXPECT_EQ(a().committed_isr(), (std::vector<BrokerId>{1, 2}));
    EXPECT_EQ(a().maximal_isr(), (std::vector<BrokerId>{1, 2, 3}));
    run({"alter-partition-answer A ok", "append A acks=1", "tick A +11s"});
    EXPECT_EQ(a().maximal_isr(), (std::vector<BrokerId>{1, 2, 3})) << "until the controller has let them go";
    EXPECT_EQ(a().high_watermark(), 0);
}

TEST_F(Rule, HwAdvanceWaitsForAllThatCountAndNeverFalls) {
    lead();
    run({"append A records=3 acks=1", "follower-fetch A replica=2 offset=3 epoch=1 last-epoch=1"});
    EXPECT_EQ(a().high_watermark(), 0);
    one("follower-fetch A replica=3 offset=2 epoch=1 last-epoch=1");
    EXPECT_EQ(a().high_watermark(), 2);
    one("follower-fetch A replica=3 offset=1 epoch=1 last-epoch=1");
    EXPECT_EQ(a().high_watermark(), 2);
    one("registration A leader=1 isr=1,2 epoch=1 partition-epoch=2");
    EXPECT_EQ(a().high_watermark(), 2) << "3 is out, but caught up a moment ago";
    one("broker 3 fenced");
    EXPECT_EQ(a().high_watermark(), 3) << "asked again when metadata changes who may join";
}

TEST_F(Rule, EffectiveMinIsrIsAtMostTheReplicas) {
    lead("min-isr=5");
    EXPECT_EQ(a().effective_min_isr(), 3);
    one("settings A min-isr=2");
    EXPECT_EQ(a().effective_min_isr(), 2);
}

TEST_F(Rule, AcksSayWhenToAnswer) {
    lead();
    expect_says("append A acks=2", "INVALID_REQUIRED_ACKS");
    expect_says("append A acks=-2", "INVALID_REQUIRED_ACKS");
    EXPECT_EQ(a().log().log_end_offset(), 0);
    expect_silent("append A acks=0", "answers");
    expect_says("append A acks=1", "answers acks=1 of 1..1: NONE");
    expect_silent("append A acks=-1", "answers");
}

TEST_F(Rule, MinIsrBeforeTheAppendIsForAcksAllOnly) {
    run({"new A min-isr=2", "registration A leader=1 isr=1 epoch=1 partition-epoch=1"});
    expect_says("append A acks=-1", "NOT_ENOUGH_REPLICAS");
    EXPECT_EQ(a().log().log_end_offset(), 0);
    run({"append A acks=1", "append A acks=0"});
    EXPECT_EQ(a().log().log_end_offset(), 2);
    EXPECT_EQ(a().high_watermark(), 0) << "below min ISR nothing is committed";
}

TEST_F(Rule, PurgatoryEndsByHwDemotionOrTimeout) {
    lead();
    run({"append A acks=-1", "append A acks=-1", "append A acks=-1"});
    EXPECT_EQ(one("abandon A ticket=2").find("not waiting"), std::string::npos);
    one("follower-fetch A replica=3 offset=1 epoch=1 last-epoch=1");
    expect_says("follower-fetch A replica=2 offset=1 epoch=1 last-epoch=1", "ticket #1 done: NONE base 0");
    expect_says("registration A leader=2 isr=1,2,3 epoch=2 partition-epoch=2",
                "ticket #3 done: NOT_LEADER_OR_FOLLOWER base 2");
}

TEST_F(Rule, ProduceCarriesNoEpoch) {
    run({"new A", "new B", "registration A B leader=1 isr=1,2 epoch=1 partition-epoch=1",
         "registration B leader=2 isr=1,2 epoch=2 partition-epoch=2"});
    expect_says("append A acks=1", "base 0");  // it does not know of its successor
    expect_says("append B acks=1", "base 0");
}

TEST_F(Rule, FetchEpochIsFenced) {
    run({"new A", "registration A leader=1 isr=1,2 replicas=1,2 epoch=5 partition-epoch=1"});
    expect_says("follower-fetch A replica=2 offset=0 epoch=4", "FENCED_LEADER_EPOCH");
    expect_says("follower-fetch A replica=2 offset=0 epoch=6", "UNKNOWN_LEADER_EPOCH");
    expect_says("follower-fetch A replica=3 offset=0 epoch=5", "UNKNOWN_LEADER_EPOCH");
    expect_says("follower-fetch A replica=3 offset=0 epoch=-1", "NOT_LEADER_OR_FOLLOWER");
    expect_says("consumer-fetch A offset=0 epoch=4", "FENCED_LEADER_EPOCH");
    expect_says("list-offset A latest epoch=6", "UNKNOWN_LEADER_EPOCH");
}

TEST_F(Rule, ConsumerReadsBelowTheHw) {
    run({"new A log=1x3 hw=1", "registration A leader=1 isr=1,2 epoch=2 partition-epoch=2"});
    expect_says("consumer-fetch A offset=0", "0..0 of epoch 1, HW 1");
    expect_says("consumer-fetch A offset=1", "nothing, HW 1");
    expect_says("consumer-fetch A offset=3", "nothing, HW 1");
    expect_says("consumer-fetch A offset=4", "OFFSET_OUT_OF_RANGE");
    expect_says("consumer-fetch A offset=-1", "OFFSET_OUT_OF_RANGE");
}

TEST_F(Rule, DivergingEpochIsToldAndNotCounted) {
    run({"new A log=1x3,3x2 hw=0", "registration A leader=1 isr=1,2 epoch=4 partition-epoch=4"});
    expect_says("follower-fetch A replica=2 offset=5 epoch=4 last-epoch=2", "diverging: epoch 1 ends at 3");
    expect_says("follower-fetch A replica=2 offset=4 epoch=4 last-epoch=1", "diverging: epoch 1 ends at 3");
    EXPECT_EQ(progress(2).log_end_offset, kUnknownOffset);
    expect_says("follower-fetch A replica=2 offset=4 epoch=4 last-epoch=9", "OFFSET_OUT_OF_RANGE");
    expect_says("follower-fetch A replica=2 offset=-1 epoch=4 last-epoch=1", "OFFSET_OUT_OF_RANGE");
    one("follower-fetch A replica=2 offset=3 epoch=4 last-epoch=1");
    EXPECT_EQ(progress(2).log_end_offset, 3);
}

TEST_F(Rule, EndOffsetForIsOfTheFloorEpoch) {
    const LeaderEpochCache cache({{2, 0}, {4, 10}, {7, 15}});
    using End = OffsetAndEpoch;
    EXPECT_EQ(cache.end_offset_for(7, 20), (End{.offset = 20, .epoch = 7})) << "the latest";
    EXPECT_EQ(cache.end_offset_for(8, 20), std::nullopt) << "nothing higher is known";
    EXPECT_EQ(cache.end_offset_for(1, 20), (End{.offset = 0, .epoch = 1})) << "no floor";
    EXPECT_EQ(cache.end_offset_for(4, 20), (End{.offset = 15, .epoch = 4}));
    EXPECT_EQ(cache.end_offset_for(6, 20), (End{.offset = 15, .epoch = 4}));
}

TEST_F(Rule, FollowerTruncatesByTheAnsweredEpoch) {
    const auto cut_to = [&](const std::string& log, const std::string& diverging) {
        run({"new B log=" + log, "registration B leader=1 isr=1,2 epoch=9 partition-epoch=9",
             "fetch-response B diverging=" + diverging});
        return b().log().log_end_offset();
    };
    EXPECT_EQ(cut_to("1x3,2x4", "1@2"), 2) << "the leader's end of an epoch that both have";
    EXPECT_EQ(cut_to("1x3,2x4", "1@5"), 3) << "its own end of it";
    EXPECT_EQ(cut_to("0x1,2x4", "1@3"), 1) << "it never had epoch 1: to the end of its own lower one";
    EXPECT_EQ(cut_to("1x3,2x0", "1@3"), 3);
    EXPECT_EQ(b().log().epochs().latest_epoch(), 1) << "the epoch table is cut though the log is not";
}

TEST_F(Rule, FollowerWithoutEpochsCutsToItsHw) {
    run({"new B old-records=4 hw=2", "registration B leader=1 isr=1,2 epoch=1 partition-epoch=1"});
    EXPECT_EQ(b().log().log_end_offset(), 2);
    run({"new B log=1x4 hw=2", "registration B leader=1 isr=1,2 epoch=2 partition-epoch=2"});
    EXPECT_EQ(b().log().log_end_offset(), 4) << "with epochs the leader is asked";
}

TEST_F(Rule, FollowerAppendsOnlyWhatItAskedFor) {
    run({"new B log=1x2 hw=2", "registration B leader=1 isr=1,2 epoch=3 partition-epoch=3"});
    one("fetch-response B offset=1 records=3x2 hw=9");
    EXPECT_EQ(b().log().log_end_offset(), 2) << "another position";
    one("fetch-response B epoch=2 records=3x2 hw=9");
    EXPECT_EQ(b().log().log_end_offset(), 2) << "another epoch";
    one("fetch-response B records=3x1,4x1 hw=9");
    EXPECT_EQ(b().log().log_end_offset(), 3) << "epoch 4 is not its leader's";
    EXPECT_EQ(b().high_watermark(), 3) << "the leader's, within its own log";
    one("fetch-response B hw=1");
    EXPECT_EQ(b().high_watermark(), 1) << "and it may fall";
}

TEST_F(Rule, BecomeLeaderRecordsItsEpochAndKeepsTheHw) {
    run({"new A log=1x3 hw=1", "registration A leader=1 isr=1,2 epoch=4 partition-epoch=4"});
    EXPECT_EQ(a().log().epochs().entries(), (std::vector<EpochEntry>{{1, 0}, {4, 3}}));
    EXPECT_EQ(a().high_watermark(), 1);
}

TEST_F(Rule, BecomeFollowerKeepsLogAndHw) {
    lead();
    run({"append A records=2 acks=1", "follower-fetch A replica=2 offset=1 epoch=1 last-epoch=1",
         "follower-fetch A replica=3 offset=1 epoch=1 last-epoch=1",
         "registration A leader=2 isr=1,2,3 epoch=2 partition-epoch=2"});
    EXPECT_EQ(a().log().log_end_offset(), 2);
    EXPECT_EQ(a().high_watermark(), 1);
    EXPECT_TRUE(a().committed_isr().empty());
    EXPECT_EQ(a().fetch_position()->leader_epoch, 2);
    EXPECT_EQ(a().fetch_position()->last_fetched_epoch, 1);
}

TEST_F(Rule, StaleMetadataIsIgnoredAndEqualKeepsWhatIsPending) {
    run({"new A", "registration A leader=1 isr=1,2 epoch=1 partition-epoch=5",
         "follower-fetch A replica=3 offset=0 epoch=1",
         "registration A leader=2 isr=1,2 epoch=1 partition-epoch=4",
         "registration A leader=1 isr=1,2 epoch=1 partition-epoch=5"});
    EXPECT_EQ(a().role(), Role::Leader);
    EXPECT_TRUE(std::holds_alternative<PendingExpandIsr>(a().isr_state()));
    one("registration A leader=1 isr=1,2 epoch=1 partition-epoch=6");
    EXPECT_TRUE(std::holds_alternative<CommittedIsr>(a().isr_state()));
}

TEST_F(Rule, AlterPartitionAnswers) {
    const auto pending_after = [&](const std::string& answer) {
        run({"new A", "registration A leader=1 isr=1,2 epoch=1 partition-epoch=5",
             "follower-fetch A replica=3 offset=0 epoch=1", "proposal A",
             "alter-partition-answer A " + answer});
        const bool again = one("proposal A").find("none") == std::string::npos;
        const bool pending = std::holds_alternative<PendingExpandIsr>(a().isr_state());
        return fmt::format("{}{}", pending ? "pending" : "settled", again ? ", asked again" : "");
    };
    for (const char* error : {"INELIGIBLE_REPLICA", "OPERATION_NOT_ATTEMPTED"})
        EXPECT_EQ(pending_after(std::string("error=") + error), "settled") << error;
    for (const char* error : {"FENCED_LEADER_EPOCH", "INVALID_UPDATE_VERSION", "INVALID_REQUEST",
                              "UNKNOWN_TOPIC_ID", "UNKNOWN_TOPIC_OR_PARTITION", "NEW_LEADER_ELECTED"})
        EXPECT_EQ(pending_after(std::string("error=") + error), "pending") << error;
    for (const char* error : {"NOT_CONTROLLER", "UNKNOWN_SERVER_ERROR", "REQUEST_TIMED_OUT"})
        EXPECT_EQ(pending_after(std::string("error=") + error), "pending, asked again") << error;
    EXPECT_EQ(pending_after("ok"), "settled");
    EXPECT_EQ(pending_after("ok epoch=2"), "pending") << "of another leadership";
    EXPECT_EQ(pending_after("ok partition-epoch=4"), "pending") << "older than what metadata told";
}

TEST_F(Rule, ShrinkLeavesTheLeaderEpoch) {
    lead();
    run({"append A acks=1", "advance 11s", "follower-fetch A replica=2 offset=1 epoch=1 last-epoch=1",
         "tick A", "alter-partition-answer A ok",
         "registration A leader=1 isr=1,2 epoch=1 partition-epoch=2"});
    EXPECT_EQ(a().committed_isr(), (std::vector<BrokerId>{1, 2}));
    EXPECT_EQ(a().leader_epoch(), 1);
    expect_says("follower-fetch A replica=3 offset=1 epoch=1 last-epoch=1", "proposes ISR 1,2 -> 1,2,3");
}

TEST_F(Rule, ListOffsetsLatestWaitsForTheEpochStart) {
    run({"new A log=1x3 hw=1", "registration A leader=1 isr=1,2 epoch=2 partition-epoch=2"});
    expect_says("list-offset A latest", "OFFSET_NOT_AVAILABLE");
    expect_says("list-offset A log-end", "log-end 3");
    one("follower-fetch A replica=2 offset=3 epoch=2 last-epoch=1");
    expect_says("list-offset A latest", "latest 3 of epoch 2");
}

TEST_F(Rule, FollowerReadsEndAtItsOwnHw) {
    run({"new B log=1x3 hw=2", "registration B leader=1 isr=1,2 epoch=2 partition-epoch=2"});
    expect_says("consumer-fetch B offset=0", "0..1 of epoch 1, HW 2");
    expect_says("consumer-fetch B offset=2", "nothing, HW 2");
    expect_says("list-offset B latest", "NOT_LEADER_OR_FOLLOWER");
}

TEST_F(Rule, DuplicateIsAcknowledgedWithItsOldOffsetsOnceCommitted) {
    lead();
    run({"append A acks=1 producer=7 sequence=0", "append A acks=1 producer=7 sequence=1"});
    expect_says("append A acks=1 producer=7 sequence=0", "base 0");
    EXPECT_EQ(a().log().log_end_offset(), 2);
    expect_silent("append A acks=-1 producer=7 sequence=0", "done");
    expect_silent("follower-fetch A replica=2 offset=1 epoch=1 last-epoch=1", "done");
    expect_says("follower-fetch A replica=3 offset=1 epoch=1 last-epoch=1", "ticket #1 done: NONE base 0");
    expect_says("append A acks=-1 producer=7 sequence=0", "ticket #2 done: NONE base 0");
    EXPECT_EQ(a().log().log_end_offset(), 2);
}

TEST_F(Rule, SequenceErrorsAppendNothingAndKeepThePartitionOnline) {
    lead();
    one("append A acks=1 producer=7 producer-epoch=1 sequence=0");
    expect_says("append A acks=-1 producer=7 producer-epoch=1 sequence=2", "OUT_OF_ORDER_SEQUENCE_NUMBER");
    expect_says("append A acks=-1 producer=7 producer-epoch=0 sequence=1", "INVALID_PRODUCER_EPOCH");
    EXPECT_EQ(a().log().log_end_offset(), 1);
    EXPECT_FALSE(a().offline());
    expect_says("append A acks=1 producer=7 producer-epoch=1 sequence=1", "base 1");
}

TEST_F(Rule, ANewLeaderKnowsTheDuplicatesOfItsPredecessor) {
    run({"new A", "new B", "registration A B leader=1 isr=1,2 epoch=1 partition-epoch=1",
         "append A acks=-1 producer=7 sequence=0", "append A acks=-1 producer=7 sequence=1", "fetch B",
         "fetch B", "registration A B leader=2 isr=1,2 epoch=2 partition-epoch=2"});
    expect_silent("append B acks=-1 producer=7 sequence=1", "appended");
    expect_says("append B acks=-1 producer=7 sequence=3", "OUT_OF_ORDER_SEQUENCE_NUMBER");
    one("append B acks=1 producer=7 sequence=2");
    EXPECT_EQ(b().log().log_end_offset(), 3);
    run({"fetch A", "fetch A"});
    expect_says("fetch A", "HW 3");
}

TEST_F(Rule, ADiskThatFailsAcknowledgesNothingMore) {
    lead();
    run({"append A acks=-1", "fail-writes A"});
    const std::string output = one("append A acks=1");
    EXPECT_NE(output.find("KAFKA_STORAGE_ERROR"), std::string::npos) << output;
    EXPECT_NE(output.find("went offline: "), std::string::npos) << output;
    EXPECT_NE(output.find("ticket #1 done: KAFKA_STORAGE_ERROR"), std::string::npos) << output;
    EXPECT_EQ(a().log().log_end_offset(), 1) << "what was not written is not there";
    one("fail-writes A off");
    expect_says("append A acks=-1", "KAFKA_STORAGE_ERROR");
    expect_says("append A acks=0", "KAFKA_STORAGE_ERROR");
    expect_says("follower-fetch A replica=2 offset=1 epoch=1 last-epoch=1", "KAFKA_STORAGE_ERROR");
    expect_says("consumer-fetch A offset=0", "KAFKA_STORAGE_ERROR");
    expect_says("list-offset A latest", "KAFKA_STORAGE_ERROR");
}

TEST_F(Rule, AFollowerWhoseDiskFailsIsLeftBehind) {
    run({"new A lag=10s", "new B", "registration A B leader=1 isr=1,2 epoch=1 partition-epoch=1",
         "fail-writes B", "append A acks=-1", "fetch B"});
    EXPECT_TRUE(b().offline());
    expect_says("fetch B", "has no one to fetch from");
    expect_says("tick A +11s", "proposes ISR 1,2 -> 1");
    expect_says("alter-partition-answer A ok", "ticket #1 done: NONE");
}

// What a follower cut off is forgotten with it: sent again, it is appended again.
TEST_F(Rule, TruncatedSequencesAreForgotten) {
    run({"new A", "new B", "registration A B leader=1 isr=1,2 epoch=1 partition-epoch=1",
         "append A acks=1 producer=7 sequence=0",
         "registration A B leader=2 isr=1,2 epoch=2 partition-epoch=2", "append B acks=1", "fetch A",
         "fetch A", "registration A B leader=1 isr=1,2 epoch=3 partition-epoch=3"});
    expect_says("append A acks=1 producer=7 sequence=0", "base 1");
}

}  // namespace
}  // namespace highwater::node
