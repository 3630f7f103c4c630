// Several appends under way: how many, in which order they are numbered, and what becomes of those that are
// never reported. The pipeline reports when it is told to.
#include "workloads/pipelined_producer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace highwater::workloads {
namespace {

using wire::ErrorCode;

/// What the test and the client of the producer's thread share.
struct Script {
    std::mutex mutex;
    std::deque<ProduceCall> under_way;
    std::size_t most = 0;
    std::int64_t requests = 0;
    bool purged = false;
    std::int32_t incarnation = 1;
    /// How the next append in `under_way` ends; nullopt: not yet.
    std::function<std::optional<AttemptEnd>(const ProduceCall&)> report;
};

class ScriptedClient final : public Client, public Pipeline {
public:
    explicit ScriptedClient(Script& script) : script_(script) {}
    Pipeline* pipeline() override { return this; }
    void start(const ProduceCall& call) override {
        const std::lock_guard lock(script_.mutex);
        script_.under_way.push_back(call);
        script_.most = std::max(script_.most, script_.under_way.size());
        ++script_.requests;
    }
    std::vector<Completed> completed(Duration) override {
        const std::lock_guard lock(script_.mutex);
        std::vector<Completed> all;
        while (!script_.under_way.empty()) {
            const ProduceCall& call = script_.under_way.front();
            const auto end = script_.report(call);
            if (!end) break;
            all.push_back({call.value, {}});
            all.back().reply.end = *end;
            all.back().reply.incarnation = script_.incarnation;
            script_.under_way.pop_front();
        }
        if (all.empty()) std::this_thread::yield();
        return all;
    }
    void purge() override { script_.purged = true; }
    std::int64_t requests() const override { return script_.requests; }

    ProduceReply produce(const ProduceCall&) override { return {}; }
    PollReply poll(std::int32_t, Offset, Duration, ReadFrom) override { return {}; }
    OffsetReply latest(std::int32_t) override { return {}; }
    ProducerIdReply init_producer_id() override { return {}; }
    void refresh() override {}

private:
    Script& script_;
};

class PipelinedProducerTest : public testing::Test {
protected:
    PipelinedProducerTest() {
        context_.spec.rate = std::nullopt;
        context_.spec.in_flight = 3;
        context_.spec.delivery_timeout = milliseconds(50);
        context_.recorder = &recorder_;
        context_.clients = [this](const std::string&) { return std::make_unique<ScriptedClient>(script_); };
    }
    /// Until `done`, then the producer is stopped.
    const History& run(std::int64_t records, const std::function<bool(PhasePlan&)>& done) {
        context_.spec.phases.emplace_back().records = records;
        PhasePlan plan(context_.spec, {});
        Stopper stopper;
        std::thread thread([&] { PipelinedProducer(context_, 1, plan, stopper).run(); });
        const Instant deadline = monotonic_now() + seconds(30);
        while (!done(plan) && monotonic_now() < deadline) std::this_thread::yield();
        EXPECT_TRUE(done(plan));
        stopper.stop();
        thread.join();
        return recorder_.history();
    }

    Script script_;
    WorkloadContext context_;
    Recorder recorder_;
};

TEST_F(PipelinedProducerTest, AsManyAsMayBeAndNumbered) {
    script_.report = [this](const ProduceCall&) -> std::optional<AttemptEnd> {
        if (script_.under_way.size() < 3 && script_.requests < 7) return std::nullopt;
        return ErrorCode::None;
    };
    const History& history = run(7, [](PhasePlan& plan) { return plan.finished(); });
    EXPECT_EQ(script_.most, 3U);
    ASSERT_EQ(history.operations.size(), 7U);
    for (std::size_t i = 0; i < 7; ++i) {
        const auto* produce = history.operations[i].as<Produce>();
        ASSERT_NE(produce, nullptr);
        EXPECT_EQ(produce->sequence, static_cast<std::int64_t>(i));
        EXPECT_EQ(produce->status, Outcome::Ok);
    }
    EXPECT_FALSE(script_.purged);
}

TEST_F(PipelinedProducerTest, WhatIsNeverReportedIsInfo) {
    script_.report = [](const ProduceCall&) -> std::optional<AttemptEnd> { return std::nullopt; };
    const History& history = run(3, [this](PhasePlan&) {
        const std::lock_guard lock(script_.mutex);
        return script_.under_way.size() == 3;
    });
    EXPECT_TRUE(script_.purged);
    ASSERT_EQ(history.operations.size(), 3U);
    for (const Operation& operation : history.operations) {
        EXPECT_EQ(operation.as<Produce>()->status, Outcome::Info);
        EXPECT_EQ(operation.as<Produce>()->error, "no delivery report");
    }
}

TEST_F(PipelinedProducerTest, OnlyWhatWasNotQueuedIsAppendedAnew) {
    script_.report = [](const ProduceCall& call) -> std::optional<AttemptEnd> {
        if (call.value == make_value(1, 1)) return LibraryError{"_QUEUE_FULL", true};
        if (call.value == make_value(1, 2)) return ErrorCode::NotEnoughReplicas;
        return ErrorCode::None;
    };
    const History& history = run(3, [](PhasePlan& plan) { return plan.finished(); });
    ASSERT_EQ(history.operations.size(), 5U) << "one refused, three that count, and the line on requests";
    std::map<Value, Outcome> outcomes;
    for (const Operation& operation : history.operations) {
        if (const auto* produce = operation.as<Produce>()) outcomes[produce->value] = produce->status;
    }
    EXPECT_EQ(outcomes.at(make_value(1, 1)), Outcome::Fail);
    EXPECT_EQ(outcomes.at(make_value(1, 2)), Outcome::Info) << "attempts before this answer are hidden";
    EXPECT_EQ(outcomes.at(make_value(1, 4)), Outcome::Ok);
    const auto* hidden = history.operations.back().as<OtherOp>();
    ASSERT_NE(hidden, nullptr) << "4 requests for 3 appends, as the refused one counts for none";
    EXPECT_EQ(hidden->op, "hidden-retries");
    EXPECT_EQ(hidden->json, R"("appends":3,"requests":4)");
}

TEST_F(PipelinedProducerTest, AReplacedProducerIsAnotherProcess) {
    script_.report = [this](const ProduceCall& call) -> std::optional<AttemptEnd> {
        if (call.value == make_value(1, 2)) script_.incarnation = 2;
        return ErrorCode::None;
    };
    const History& history = run(2, [](PhasePlan& plan) { return plan.finished(); });
    ASSERT_EQ(history.operations.size(), 2U);
    EXPECT_EQ(history.clients, (std::vector<std::string>{"p1", "p1.2"}));
    EXPECT_NE(history.operations[0].client, history.operations[1].client);
}

}  // namespace
}  // namespace highwater::workloads
