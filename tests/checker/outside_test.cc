// What a trace from outside can decide and what it cannot: acked-below-min-isr by a leader's log, the list of
// what was not checked, and the rules that changed between releases of Kafka.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/checker/builder.h"

namespace highwater::checker {
namespace {

/// A leader that logged ISR {1} at 100 ms and heard of {1,2} again at 5000 ms.
struct Shrunk {
    HistoryBuilder run;
    TraceBuilder trace;
    TraceEvent* grown = nullptr;

    Shrunk() {
        run.history.meta.broker = "kafka-4.x";
        trace.elects(0, 1, 0, false, {1, 2, 3});
        outside(trace.leads(1, 1, 0, 0, {{.offset = 0, .epoch = 0}}, {1, 2, 3}));
        trace.elects(95, 1, 0, false, {1}).elected = false;
        committed(100, {1});
        trace.elects(4990, 1, 0, false, {1, 2}).elected = false;
        grown = &committed(5000, {1, 2});
    }
    static TraceEvent& outside(TraceEvent& line) {
        line.outside = true;
        return line;
    }
    TraceEvent& committed(std::int64_t ms, std::vector<BrokerId> isr) {
        TraceEvent& line = outside(trace.line(ms, 1, TraceKind::IsrCommitted));
        line.isr = std::move(isr);
        return line;
    }
    Verdict acked(std::int64_t from_ms, std::int64_t to_ms) {
        run.produce(from_ms, to_ms, make_value(1, 1), 0).broker = 1;
        run.final({{0, make_value(1, 1)}});
        return run.judge(trace.trace);
    }
};

TEST(OutsideMinIsr, AnAcknowledgementWhileTheLeaderKnewOfTooFew) {
    const Verdict verdict = Shrunk().acked(1000, 1010);
    EXPECT_EQ(verdict.violations, std::vector<std::string>{"acked-below-min-isr"});
    EXPECT_NE(
        sentence(verdict, "acked-below-min-isr")
            .find("but the ISR that broker 1 had logged at -0.90 s was {1}, below min ISR 2, all the time"),
        std::string::npos)
        << sentence(verdict, "acked-below-min-isr");
}

TEST(OutsideMinIsr, NothingIsJudgedThatMayHaveBeenBeforeOrAfter) {
    EXPECT_FALSE(violated(Shrunk().acked(50, 1000), "acked-below-min-isr")) << "called before it knew";
    EXPECT_FALSE(violated(Shrunk().acked(120, 130), "acked-below-min-isr")) << "within the clocks' error";
    EXPECT_FALSE(violated(Shrunk().acked(4500, 4600), "acked-below-min-isr"))
        << "a member may have been on its way in: nobody tells of that";
    EXPECT_FALSE(violated(Shrunk().acked(1000, 5010), "acked-below-min-isr")) << "waited until it had grown";
    Shrunk told;
    told.trace.elects(500, 1, 0, false, {1, 2}).elected = false;
    std::stable_sort(told.trace.trace.events.begin(), told.trace.trace.events.end(),
                     [](const TraceEvent& a, const TraceEvent& b) { return a.at < b.at; });
    EXPECT_FALSE(violated(told.acked(1000, 1010), "acked-below-min-isr"))
        << "the metadata log may have told it of a larger one, which it need not log";
    Shrunk restarted;
    Shrunk::outside(restarted.trace.line(500, 1, TraceKind::Start)).role = "broker";
    std::stable_sort(restarted.trace.trace.events.begin(), restarted.trace.trace.events.end(),
                     [](const TraceEvent& a, const TraceEvent& b) { return a.at < b.at; });
    EXPECT_FALSE(violated(restarted.acked(1000, 1010), "acked-below-min-isr")) << "it knows nothing any more";
}

std::string why(const Verdict& verdict, const std::string& name) {
    for (const Unchecked& one : verdict.unchecked) {
        if (one.name == name) return one.why;
    }
    return "";
}

TEST(UncheckedList, TellsWhatATraceFromOutsideCannotDecide) {
    const Verdict verdict = Shrunk().acked(5500, 5510);
    EXPECT_EQ(verdict.kind, VerdictKind::Valid) << "what could not be checked is no reason by itself";
    EXPECT_NE(why(verdict, "CommitUnique"), "");
    EXPECT_NE(why(verdict, "visible-under-min-isr"), "");
    EXPECT_EQ(why(verdict, "LeaderInIsr"), "") << "the metadata log decides it";
    EXPECT_EQ(why(verdict, "acked-below-min-isr"), "");
    EXPECT_EQ(why(verdict, "lost-committed"), "") << "the history decides it";
}

TEST(UncheckedList, IsEmptyWhereNodesTraceThemselvesAndLongestWithoutATrace) {
    HistoryBuilder run;
    run.produce(10, 20, make_value(1, 1), 0).broker = 1;
    run.final({{0, make_value(1, 1)}});
    TraceBuilder inside;
    inside.leads(1, 1, 0, 0, {{.offset = 0, .epoch = 0}}, {1, 2, 3});
    EXPECT_TRUE(run.judge(inside.trace).unchecked.empty());
    EXPECT_EQ(why(run.judge(), "LeaderInIsr"), "there is no trace of what brokers and controller did");
}

TEST(UncheckedList, IsInTheVerdictsFile) {
    const Verdict verdict = Shrunk().acked(5500, 5510);
    const auto read = verdict_from_json(verdict_to_json(verdict), "verdict.json");
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(read->unchecked, verdict.unchecked);
}

/// Before 3.7 the high watermark moved below min ISR; nobody may call that a violation there.
TEST(BrokerProfiles, TheHighWatermarkBelowMinIsr) {
    const auto judged = [](const std::string& broker) {
        HistoryBuilder run;
        run.history.meta.broker = broker;
        run.produce(10, 20, make_value(1, 1), 0, Outcome::Ok, 1).broker = 1;
        run.final({{0, make_value(1, 1)}});
        TraceBuilder trace;
        trace.elects(0, 1, 0, false, {1});
        trace.leads(1, 1, 0, 0, {{.offset = 0, .epoch = 0}}, {1});
        trace.line(15, 1, TraceKind::Append).log_end_offset = 1;
        trace.trace.events.back().first = 0;
        trace.trace.events.back().epoch = 0;
        trace.moves(16, 1, 0, 0, 1, {1}, {});
        return run.judge(trace.trace);
    };
    for (const char* broker : {"kafka-2.x", "kafka-3.6"}) {
        EXPECT_EQ(count(judged(broker), "visible-under-min-isr"), 1) << broker;
        EXPECT_FALSE(violated(judged(broker), "visible-under-min-isr")) << broker;
    }
    for (const char* broker : {"kafka-3.7+", "kafka-4.x", "node"})
        EXPECT_TRUE(violated(judged(broker), "visible-under-min-isr")) << broker;
}

}  // namespace
}  // namespace highwater::checker
