// The lines of Kafka's own brokers that the trace from outside is made of, as releases 3.9 to 4.4 wrote them.
#include "harness/kafka/broker_log.h"

#include <gtest/gtest.h>

namespace highwater::harness {
namespace {

TEST(BrokerLogTest, ALeaderTellsWhereItStarts) {
    const auto event = parse_broker_log(
        "1796045287719 INFO [Broker id=1] Leader t-0 with topic id Some(o04JLo0CTv-In1tUAPJqTg) starts at "
        "leader "
        "epoch 2 from offset 19 with partition epoch 5, high watermark 16, ISR [3,1], adding replicas [] and "
        "removing "
        "replicas [] (under-min-isr). Previous leader Some(2) and previous leader epoch was 1. (logger)");
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, TraceKind::Role);
    EXPECT_EQ(event->role, "leader");
    EXPECT_EQ(event->wall_ms, 1796045287719);
    EXPECT_EQ(event->topic, "t");
    EXPECT_EQ(event->partition, 0);
    EXPECT_EQ(event->epoch, 2);
    EXPECT_EQ(event->partition_epoch, 5);
    EXPECT_EQ(event->log_end_offset, 19);
    EXPECT_EQ(event->high_watermark, 16);
    EXPECT_EQ(event->isr, (std::vector<BrokerId>{1, 3}));
}

TEST(BrokerLogTest, AFollowerTellsWhomItFollows) {
    const auto event = parse_broker_log(
        "1796045348342 INFO [Broker id=3] Follower my-topic-12 starts at leader epoch 1 from offset 25 with "
        "partition "
        "epoch 3 and high watermark 24. Current leader is -1. Previous leader Some(1) and previous leader "
        "epoch was 0. "
        "(logger)");
    ASSERT_TRUE(event);
    EXPECT_EQ(event->role, "follower");
    EXPECT_EQ(event->topic, "my-topic");
    EXPECT_EQ(event->partition, 12);
    EXPECT_EQ(event->leader, kNoBroker);
    EXPECT_EQ(event->log_end_offset, 25);
    EXPECT_EQ(event->high_watermark, 24);
}

TEST(BrokerLogTest, ACutIsToldWithWhatDiverged) {
    const auto event = parse_broker_log(
        "1796048073530 INFO [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating partition t-0 "
        "with "
        "TruncationState(offset=19, completed=true) due to leader epoch and offset "
        "EpochEndOffset(errorCode=0, "
        "partition=0, leaderEpoch=4, endOffset=21) (ReplicaFetcherThread)");
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, TraceKind::Truncate);
    EXPECT_EQ(event->topic, "t");
    EXPECT_EQ(event->leader, 2);
    EXPECT_EQ(event->log_end_offset, 19);
    EXPECT_EQ(event->diverging.epoch, 4);
    EXPECT_EQ(event->diverging.offset, 21);
    EXPECT_FALSE(parse_broker_log(
        "1796046947300 INFO [ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Truncating partition t-0 "
        "with "
        "TruncationState(offset=0, completed=true) due to local high watermark 0 (ReplicaFetcherThread)"))
        << "nobody's answer: a fresh replica's first step";
}

TEST(BrokerLogTest, AShrinkIsProposedAndCommitted) {
    const auto proposed = parse_broker_log(
        "1796045330454 INFO [Partition t-0 broker=1] Shrinking ISR from 1,2,3 to 1,2. Leader: "
        "(highWatermark: 24, "
        "endOffset: 25). Out of sync replicas: (brokerId: 3, endOffset: 24, lastCaughtUpTimeMs: "
        "1796045328255). "
        "(Partition)");
    ASSERT_TRUE(proposed);
    EXPECT_EQ(proposed->kind, TraceKind::IsrProposed);
    EXPECT_EQ(proposed->isr_from, (std::vector<BrokerId>{1, 2, 3}));
    EXPECT_EQ(proposed->isr, (std::vector<BrokerId>{1, 2}));
    EXPECT_EQ(proposed->high_watermark, 24);
    EXPECT_EQ(proposed->log_end_offset, 25);
    ASSERT_EQ(proposed->lagging.size(), 1U);
    EXPECT_EQ(proposed->lagging[0].id, 3);
    EXPECT_EQ(proposed->lagging[0].log_end_offset, 24);
    EXPECT_EQ(proposed->lagging[0].behind, milliseconds(2199));
    const auto committed = parse_broker_log(
        "1796045331682 INFO [Partition t-0 broker=1] ISR updated to 2,1  and version updated to 7 "
        "(Partition)");
    ASSERT_TRUE(committed);
    EXPECT_EQ(committed->kind, TraceKind::IsrCommitted);
    EXPECT_EQ(committed->isr, (std::vector<BrokerId>{1, 2}));
    EXPECT_EQ(committed->partition_epoch, 7);
}

TEST(BrokerLogTest, WhatMetadataTellIsARegistration) {
    for (const char* line :
         {"1796045331682 INFO [Broker id=1] Skipped the become-leader state change for t-0 with topic id "
          "Some(_4I_pJmoROC_Vgxlu6HnQg), partition registration PartitionRegistration(replicas=[1, 3, 2], "
          "directories=[N1VRiGKXoDQr4CfTewHalQ], isr=[2, 1], removingReplicas=[], addingReplicas=[], elr=[], "
          "lastKnownElr=[], leader=1, leaderRecoveryState=RECOVERED, leaderEpoch=4, partitionEpoch=7) and "
          "isNew=false since it is already the leader with leader epoch 4. Current high watermark 50, ISR "
          "[1,2,3], adding replicas [] and removing replicas []. (logger)",
          "1796045331682 INFO [Broker id=1] Skipped the become-leader state change for t-0 with topic id "
          "Some(_4I_pJmoROC_Vgxlu6HnQg) and partition state LeaderAndIsrPartitionState(topicName='t', "
          "partitionIndex=0, controllerEpoch=-1, leader=1, leaderEpoch=4, isr=[1, 2], partitionEpoch=7, "
          "replicas=[1, 3, 2], addingReplicas=[], removingReplicas=[], isNew=false, leaderRecoveryState=0) "
          "since it is already the leader with leader epoch 4. (logger)"}) {
        const auto event = parse_broker_log(line);
        ASSERT_TRUE(event) << line;
        EXPECT_EQ(event->kind, TraceKind::Registration);
        EXPECT_EQ(event->topic, "t");
        EXPECT_EQ(event->leader, 1);
        EXPECT_EQ(event->epoch, 4);
        EXPECT_EQ(event->partition_epoch, 7);
        EXPECT_EQ(event->isr, (std::vector<BrokerId>{1, 2}));
    }
}

TEST(BrokerLogTest, TheBeginningOfAControlledShutdown) {
    const auto event = parse_broker_log(
        "1796045716249 INFO [BrokerServer id=3] Transition from STARTED to SHUTTING_DOWN (BrokerServer)");
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, TraceKind::ShuttingDown);
    const auto signalled = parse_broker_log(
        "1796053686676 INFO Terminating process due to signal SIGTERM (LoggingSignalHandler)");
    ASSERT_TRUE(signalled);
    EXPECT_EQ(signalled->kind, TraceKind::ShuttingDown);
}

TEST(BrokerLogTest, AnythingElseTellsNothing) {
    for (const char* line :
         {"", "no time", "1796045287417",
          "1796045287417 INFO [ReplicaFetcherManager on broker 1] Removed fetcher for partitions Set(t-0) "
          "(X)",
          "1796045287417 INFO [Broker id=1] Leader t-0 starts at leader epoch two from offset 19 (logger)",
          "1796045287417 INFO [Broker id=1] Leader t starts at leader epoch 2 from offset 19 with partition "
          "epoch 5, "
          "high watermark 16, ISR [1] (logger)",
          "1796045330454 INFO [Partition t-0 broker=1] Shrinking ISR from 1,2,3 to 1,2. (Partition)",
          "\tat kafka.cluster.Partition.shrink(Partition.scala:1)"}) {
        EXPECT_FALSE(parse_broker_log(line)) << line;
    }
}

}  // namespace
}  // namespace highwater::harness
