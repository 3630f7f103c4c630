// What a producer makes of answers: attempts of one operation, their outcome, and an idempotent producer's
// sequence numbers. The client answers as told: real ones give these errors at moments of their own.
#include "workloads/producer.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <thread>

namespace highwater::workloads {
namespace {

using wire::ErrorCode;

/// What every client of a test shares.
struct Script {
    std::deque<AttemptEnd> ends;
    std::vector<ProduceCall> calls;
    std::int64_t ids = 0;
};

class ScriptedClient final : public Client {
public:
    explicit ScriptedClient(Script& script) : script_(script) {}
    ProduceReply produce(const ProduceCall& call) override {
        script_.calls.push_back(call);
        ProduceReply reply;
        reply.broker = 1;
        reply.end = ErrorCode::None;
        if (!script_.ends.empty()) {
            reply.end = script_.ends.front();
            script_.ends.pop_front();
        }
        if (reply.end == AttemptEnd(ErrorCode::None)) reply.offset = 7;
        return reply;
    }
    PollReply poll(std::int32_t, Offset, Duration, ReadFrom) override { return {}; }
    OffsetReply latest(std::int32_t) override { return {}; }
    ProducerIdReply init_producer_id() override { return {ErrorCode::None, 100 + ++script_.ids, 0}; }
    void refresh() override {}

private:
    Script& script_;
};

class ProducerTest : public testing::Test {
protected:
    /// Until `records` appends were not refused.
    const History& run(std::int64_t records) {
        context_.spec.rate = std::nullopt;
        context_.spec.phases.emplace_back().records = records;
        context_.recorder = &recorder_;
        context_.clients = [this](const std::string&) { return std::make_unique<ScriptedClient>(script_); };
        PhasePlan plan(context_.spec, {});
        Stopper stopper;
        std::thread thread([&] { Producer(context_, 1, plan, stopper).run(); });
        const Instant deadline = monotonic_now() + seconds(30);
        while (!plan.finished() && monotonic_now() < deadline) std::this_thread::yield();
        EXPECT_TRUE(plan.finished());
        stopper.stop();
        thread.join();
        return recorder_.history();
    }
    static Outcome outcome(const History& history, std::size_t i) {
        return history.operations.at(i).as<Produce>()->status;
    }

    Script script_;
    WorkloadContext context_;
    Recorder recorder_;
};

TEST_F(ProducerTest, WithoutRetriesEachAttemptIsAnOperation) {
    script_.ends = {ErrorCode::NotEnoughReplicas, SocketFailure::Timeout, ErrorCode::None};
    const History& history = run(2);
    ASSERT_EQ(history.operations.size(), 3U);
    EXPECT_EQ(outcome(history, 0), Outcome::Fail);
    EXPECT_EQ(outcome(history, 1), Outcome::Info) << "it may be written, so it counts";
    EXPECT_EQ(outcome(history, 2), Outcome::Ok);
}

TEST_F(ProducerTest, ARefusalAfterADoubtfulAttemptIsNoRefusal) {
    context_.spec.retries = 1;
    script_.ends = {SocketFailure::Timeout, ErrorCode::NotEnoughReplicas};
    const History& history = run(1);
    ASSERT_EQ(history.operations.size(), 1U);
    EXPECT_EQ(outcome(history, 0), Outcome::Info);
    ASSERT_EQ(script_.calls.size(), 2U);
    EXPECT_EQ(script_.calls[0].value, script_.calls[1].value);
}

TEST_F(ProducerTest, IdempotentAttemptsBearOneSequenceNumber) {
    context_.spec.idempotent = true;
    context_.spec.retries = 5;
    script_.ends = {SocketFailure::Timeout, ErrorCode::NotLeaderOrFollower, ErrorCode::None, ErrorCode::None};
    const History& history = run(2);
    ASSERT_EQ(script_.calls.size(), 4U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(script_.calls[i].identity->producer_id, 101);
        EXPECT_EQ(script_.calls[i].identity->sequence, 0);
    }
    EXPECT_EQ(script_.calls[3].identity->sequence, 1);
    EXPECT_EQ(outcome(history, 0), Outcome::Ok);
}

TEST_F(ProducerTest, AnIdempotentProducerThatLostTrackBeginsAnew) {
    context_.spec.idempotent = true;
    script_.ends = {ErrorCode::NotEnoughReplicas, ErrorCode::OutOfOrderSequenceNumber, ErrorCode::None};
    const History& history = run(2);
    ASSERT_EQ(script_.calls.size(), 3U);
    EXPECT_EQ(script_.calls[1].identity->sequence, 0) << "a refused one was never taken";
    EXPECT_EQ(script_.calls[1].identity->producer_id, 101);
    EXPECT_EQ(script_.calls[2].identity->producer_id, 102);
    EXPECT_EQ(script_.calls[2].identity->sequence, 0);
    EXPECT_EQ(outcome(history, 1), Outcome::Info);
}

TEST_F(ProducerTest, WhatNoRepetitionChangesIsNotRepeated) {
    context_.spec.retries = 5;
    script_.ends = {ErrorCode::MessageTooLarge};
    const History& history = run(1);
    ASSERT_EQ(history.operations.size(), 2U);
    EXPECT_EQ(outcome(history, 0), Outcome::Fail);
    EXPECT_NE(script_.calls[0].value, script_.calls[1].value);
}

}  // namespace
}  // namespace highwater::workloads
