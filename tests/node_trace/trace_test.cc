// Every kind of event as a line: read back by the harness's own trace reader, and the text of a few as
// documented.
#include "model/trace.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include "node/trace/trace_line.h"
#include "node/trace/trace_writer.h"

namespace highwater::node {
namespace {

const TopicPartition kPartition{"orders-eu", 3};

std::string line_of(const Event& event) {
    std::string line;
    append_trace_line(line, {Instant{1'000'000'007}, 2, 4, 17}, event);
    return line;
}

TraceEvent read_back(const Event& event) {
    const std::string line = line_of(event);
    const Result<Trace> trace = parse_trace(line, "trace.jsonl");
    if (!trace) {
        ADD_FAILURE() << trace.error().message << " in " << line;
        return {};
    }
    if (trace->events.size() != 1) {
        ADD_FAILURE() << trace->events.size() << " events in " << line;
        return {};
    }
    const TraceEvent& read = trace->events.front();
    EXPECT_EQ(read.at.ns, 1'000'000'007);
    EXPECT_EQ(read.node, 2);
    EXPECT_EQ(read.incarnation, 4);
    EXPECT_EQ(read.sequence, 17);
    return read;
}

TraceEvent read_back(PartitionFact fact) {
    TraceEvent read = read_back(Event{PartitionEvent{kPartition, std::move(fact)}});
    EXPECT_EQ(read.topic, "orders-eu");
    EXPECT_EQ(read.partition, 3);
    return read;
}

TEST(TraceLine, TextIsAsDocumented) {
    EXPECT_EQ(line_of(PartitionEvent{kPartition, Served{Role::Leader, 5, 10, 12, 12}}),
              R"({"t":1000000007,"n":2,"i":4,"s":17,"e":"serve","p":"orders-eu-3","role":"leader","epoch":5,)"
              R"("from":10,"end":12,"hw":12})"
              "\n");
    EXPECT_EQ(
        line_of(ControllerEvent{PartitionChanged{kPartition, -1, 6, 9, {1, 2}, true, false, "fenced"}}),
        R"({"t":1000000007,"n":2,"i":4,"s":17,"e":"partition","p":"orders-eu-3","leader":-1,"epoch":6,)"
        R"("partition_epoch":9,"isr":[1,2],"elr":[],"last_known_elr":[],"elected":true,"unclean":false,)"
        R"("last_known_leader":false,"cause":"fenced"})"
        "\n");
}

TEST(TraceLine, RoleCarriesTheEpochTable) {
    const TraceEvent read =
        read_back(RoleTaken{Role::Leader,
                            2,
                            5,
                            8,
                            100,
                            90,
                            95,
                            {{.epoch = 1, .start_offset = 0}, {.epoch = 5, .start_offset = 95}},
                            {1, 2}});
    EXPECT_EQ(read.kind, TraceKind::Role);
    EXPECT_EQ(read.role, "leader");
    EXPECT_EQ(read.leader, 2);
    EXPECT_EQ(read.epoch, 5);
    EXPECT_EQ(read.partition_epoch, 8);
    EXPECT_EQ(read.log_end_offset, 100);
    EXPECT_EQ(read.high_watermark, 90);
    EXPECT_EQ(read.epoch_start, 95);
    EXPECT_EQ(read.isr, (std::vector<BrokerId>{1, 2}));
    EXPECT_EQ(read.table,
              (std::vector<OffsetAndEpoch>{{.offset = 0, .epoch = 1}, {.offset = 95, .epoch = 5}}));
}

TEST(TraceLine, FollowersAppendHasNoAcks) {
    EXPECT_EQ(read_back(Appended{5, 10, 12, std::nullopt, {}, 0}).acks, std::nullopt);
    const TraceEvent read = read_back(Appended{5, 10, 12, std::int16_t{-1}, {1, 2, 3}, 2});
    EXPECT_EQ(read.kind, TraceKind::Append);
    EXPECT_EQ(read.acks, std::int16_t{-1});
    EXPECT_EQ(read.first, 10);
    EXPECT_EQ(read.log_end_offset, 12);
    EXPECT_EQ(read.isr, (std::vector<BrokerId>{1, 2, 3}));
    EXPECT_EQ(read.min_isr, 2);
}

TEST(TraceLine, HighWatermarkShowsWhatItWasComputedFrom) {
    HighWatermarkMoved moved{Role::Leader, 5, 8, 10, 12, {1, 2}, BrokerId{3}, {}, 2};
    moved.replicas = {{.id = 2, .log_end_offset = 10, .behind = seconds(1)}, {.id = 3, .log_end_offset = -1}};
    const TraceEvent read = read_back(moved);
    EXPECT_EQ(read.kind, TraceKind::Hw);
    EXPECT_EQ(read.from, 8);
    EXPECT_EQ(read.to, 10);
    EXPECT_EQ(read.pending_add, BrokerId{3});
    ASSERT_EQ(read.replicas.size(), 2U);
    EXPECT_EQ(read.replicas[0].log_end_offset, 10);
    EXPECT_EQ(read.replicas[1].log_end_offset, -1);
    EXPECT_EQ(read_back(HighWatermarkMoved{Role::Follower, 5, 0, 1, 1}).role, "follower");
}

TEST(TraceLine, IsrProposals) {
    IsrProposed proposed{5, 9, {1, 2, 3}, {1, 2}, {}, 50, 40};
    proposed.lagging = {{.id = 3, .log_end_offset = 40, .behind = Duration::max()}};
    const TraceEvent read = read_back(proposed);
    EXPECT_EQ(read.kind, TraceKind::IsrProposed);
    EXPECT_EQ(read.isr_from, (std::vector<BrokerId>{1, 2, 3}));
    EXPECT_EQ(read.isr, (std::vector<BrokerId>{1, 2}));
    ASSERT_EQ(read.replicas.size(), 1U);
    EXPECT_EQ(read.replicas[0].behind, Duration::max());
    EXPECT_EQ(read_back(IsrCommitted{5, 10, {1, 2}}).kind, TraceKind::IsrCommitted);
    const TraceEvent told = read_back(RegistrationArrived{1, 5, 10, {1, 2}});
    EXPECT_EQ(told.kind, TraceKind::Registration);
    EXPECT_EQ(told.leader, 1);
    EXPECT_EQ(told.epoch, 5);
    EXPECT_EQ(told.partition_epoch, 10);
    EXPECT_EQ(told.isr, (std::vector<BrokerId>{1, 2}));
}

TEST(TraceLine, FollowersFacts) {
    const TraceEvent cut = read_back(Truncated{5, 1, 20, 15, {.offset = 15, .epoch = 4}});
    EXPECT_EQ(cut.kind, TraceKind::Truncate);
    EXPECT_EQ(cut.leader, 1);
    EXPECT_EQ(cut.from, 20);
    EXPECT_EQ(cut.to, 15);
    EXPECT_EQ(cut.table, (std::vector<OffsetAndEpoch>{{.offset = 15, .epoch = 4}}));
    const TraceEvent following = read_back(FollowingConfirmed{5, 1, 15, 12});
    EXPECT_EQ(following.kind, TraceKind::Following);
    EXPECT_EQ(following.log_end_offset, 15);
    EXPECT_EQ(following.high_watermark, 12);
}

TEST(TraceLine, Answers) {
    const TraceEvent read = read_back(ProduceAnswered{5, -1, 10, 11, 20, 9, {1}, {1, 3}, 2});
    EXPECT_EQ(read.kind, TraceKind::Ack);
    EXPECT_EQ(read.error, 20);
    EXPECT_EQ(read.first, 10);
    EXPECT_EQ(read.last, 11);
    EXPECT_EQ(read.maximal_isr, (std::vector<BrokerId>{1, 3}));
    EXPECT_EQ(read_back(WentOffline{"disk says \"no\"\n\x01\\"}).text, "disk says \"no\"\n\x01\\");
}

TEST(TraceLine, BugsAndInvariants) {
    const TraceEvent bug = read_back(PartitionFact{BugActivated{"hw_leo", "Z02", 7}});
    EXPECT_EQ(bug.kind, TraceKind::Bug);
    EXPECT_EQ(bug.topic, "orders-eu");
    EXPECT_EQ(bug.text, "hw_leo");
    EXPECT_EQ(bug.detail, "Z02");
    EXPECT_EQ(bug.count, 7);
    const TraceEvent at_controller = read_back(ControllerEvent{BugActivated{"elect_any", "Z52", 1}});
    EXPECT_EQ(at_controller.kind, TraceKind::Bug);
    EXPECT_EQ(at_controller.partition, -1);
    EXPECT_EQ(at_controller.detail, "Z52");
    const TraceEvent broken = read_back(InvariantBroken{"HwLeLeo", "high watermark 3 log end 2"});
    EXPECT_EQ(broken.kind, TraceKind::Invariant);
    EXPECT_EQ(broken.text, "HwLeLeo");
    EXPECT_EQ(broken.detail, "high watermark 3 log end 2");
}

TEST(TraceLine, ControllerAndProcess) {
    EXPECT_EQ(read_back(ControllerEvent{BrokerRegistered{3, 77, {}}}).broker_epoch, 77);
    EXPECT_FALSE(read_back(ControllerEvent{BrokerRegistered{3, 77, {}}}).clean);
    EXPECT_TRUE(read_back(ControllerEvent{BrokerRegistered{3, 77, {}, true}}).clean);
    PartitionChanged eligible{kPartition, -1, 6, 9, {}, true, true, "last-known-leader"};
    eligible.elr = {2, 3};
    eligible.last_known_elr = {1};
    eligible.last_known_leader = true;
    const TraceEvent read = read_back(ControllerEvent{eligible});
    EXPECT_EQ(read.elr, (std::vector<BrokerId>{2, 3}));
    EXPECT_EQ(read.last_known_elr, (std::vector<BrokerId>{1}));
    EXPECT_TRUE(read.last_known_leader);
    const TraceEvent fenced =
        read_back(ControllerEvent{BrokerFenced{3, 77, FenceReason::SessionTimeout, seconds(9)}});
    EXPECT_EQ(fenced.kind, TraceKind::Fence);
    EXPECT_EQ(fenced.text, "session-timeout");
    EXPECT_EQ(fenced.silent, seconds(9));
    EXPECT_EQ(read_back(ControllerEvent{BrokerUnfenced{3, 77}}).kind, TraceKind::Unfence);
    EXPECT_EQ(read_back(ControllerEvent{BrokerShuttingDown{3, 77}}).kind, TraceKind::ShuttingDown);
    const TraceEvent deleted = read_back(ControllerEvent{TopicDeleted{"orders-eu", {}}});
    EXPECT_EQ(deleted.kind, TraceKind::TopicDeleted);
    EXPECT_EQ(deleted.topic, "orders-eu");
    const TraceEvent config =
        read_back(ControllerEvent{TopicConfigChanged{"orders-eu", "min.insync.replicas", "2"}});
    EXPECT_EQ(config.kind, TraceKind::Config);
    EXPECT_EQ(config.topic, "orders-eu");
    EXPECT_EQ(config.text, "min.insync.replicas");
    EXPECT_EQ(config.value, "2");
    EXPECT_FALSE(read_back(ControllerEvent{TopicConfigChanged{"t", "min.insync.replicas", {}}}).value);
    EXPECT_EQ(read_back(ServerEvent{ServerStarted{"broker", {}, "hw_leo"}}).role, "broker");
    EXPECT_EQ(read_back(ServerEvent{ServerRegistered{12}}).broker_epoch, 12);
    EXPECT_TRUE(read_back(ServerEvent{ServerStopped{true}}).clean);
    const TraceEvent checkpoint = read_back(ServerEvent{CheckpointWritten{kPartition, 12}});
    EXPECT_EQ(checkpoint.kind, TraceKind::Checkpoint);
    EXPECT_EQ(checkpoint.topic, "orders-eu");
    EXPECT_EQ(checkpoint.high_watermark, 12);
}

class TraceWriterTest : public testing::Test {
protected:
    void SetUp() override {
        char name[] = "/tmp/highwater-trace-XXXXXX";
        const int fd = ::mkstemp(name);
        ASSERT_GE(fd, 0);
        ::close(fd);
        path_ = name;
    }
    void TearDown() override { ::unlink(path_.c_str()); }

    void write_as_new_process(int events) {
        Result<TraceWriter> writer = TraceWriter::open(path_, 1);
        ASSERT_TRUE(writer) << writer.error().message;
        const std::vector<Event> step(static_cast<std::size_t>(events), ServerEvent{ServerRegistered{5}});
        ASSERT_TRUE(writer->write(Instant{++now_}, step));
    }

    std::string path_;
    std::int64_t now_ = 0;
};

TEST_F(TraceWriterTest, CountsIncarnationsAcrossProcesses) {
    write_as_new_process(2);
    write_as_new_process(1);
    const Result<Trace> trace = read_trace({path_});
    ASSERT_TRUE(trace) << trace.error().message;
    ASSERT_EQ(trace->events.size(), 3U);
    EXPECT_EQ(trace->events[1].sequence, 2);
    EXPECT_EQ(trace->events[1].incarnation, 1);
    EXPECT_EQ(trace->events[2].sequence, 1);
    EXPECT_EQ(trace->events[2].incarnation, 2);
}

TEST_F(TraceWriterTest, AHigherIncarnationMayBeGiven) {
    write_as_new_process(1);
    Result<TraceWriter> writer = TraceWriter::open(path_, 1, 7);
    ASSERT_TRUE(writer) << writer.error().message;
    EXPECT_EQ(writer->incarnation(), 7);
}

TEST_F(TraceWriterTest, RemovesALineThatAKillCutShort) {
    write_as_new_process(1);
    std::ofstream(path_, std::ios::app)
        << R"({"t":2,"n":1,"i":1,"s":2,"e":"appe)" << std::string(10'000, 'x');
    write_as_new_process(1);
    const Result<Trace> trace = read_trace({path_});
    ASSERT_TRUE(trace) << trace.error().message;
    ASSERT_EQ(trace->events.size(), 2U);
    EXPECT_EQ(trace->events[1].incarnation, 2);
}

TEST_F(TraceWriterTest, NothingButAnUnfinishedLine) {
    std::ofstream(path_, std::ios::app) << R"({"t":2,"n")";
    write_as_new_process(1);
    const Result<Trace> trace = read_trace({path_});
    ASSERT_TRUE(trace) << trace.error().message;
    ASSERT_EQ(trace->events.size(), 1U);
    EXPECT_EQ(trace->events[0].incarnation, 1);
}

TEST(TraceWriter, ErrorsNameThePath) {
    const Result<TraceWriter> writer = TraceWriter::open("/nonexistent/trace.jsonl", 1);
    ASSERT_FALSE(writer);
    EXPECT_NE(writer.error().message.find("/nonexistent/trace.jsonl"), std::string::npos);
}

}  // namespace
}  // namespace highwater::node
