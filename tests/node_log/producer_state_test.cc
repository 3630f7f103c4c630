// Goal: a batch of an idempotent producer is appended once, in order, in the newest epoch, or refused with
// Kafka's error before a byte is written; and what the log knows of producers is always what its batches say.
#include "node/log/producer_state.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "batches.h"
#include "node/log/partition_log.h"
#include "storages.h"
#include "wire/record_batch.h"

namespace highwater::test {
namespace {

using wire::ErrorCode;

constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();

struct Sent {
    ProducerId producer = 7;
    std::int16_t epoch = 0;
    std::int32_t sequence = 0;
    std::int32_t records = 1;
    std::int64_t timestamp = 1000;
};

Bytes idempotent(const Sent& sent) {
    wire::BatchSpec spec;
    spec.producer_id = sent.producer;
    spec.producer_epoch = sent.epoch;
    spec.base_sequence = sent.sequence;
    for (std::int32_t i = 0; i < sent.records; ++i) {
        wire::Record record;
        record.timestamp = sent.timestamp;
        record.value = Bytes{'x'};
        spec.records.push_back(std::move(record));
    }
    return wire::encode_batch(spec);
}

/// "appended 3-4", "duplicate 0-1", or the error's name.
std::string told(const Result<node::AppendInfo>& appended) {
    if (!appended) return appended.error().message;
    if (appended->error != ErrorCode::None) return wire::error_name(appended->error);
    return fmt::format("{} {}-{}", appended->duplicate ? "duplicate" : "appended", appended->first_offset,
                       appended->last_offset);
}

std::string states_of(const node::ProducerStates& states) {
    std::string text;
    for (const auto& [id, state] : states.all()) {
        text += fmt::format("{}{}/{}:", text.empty() ? "" : " ", id, state.epoch);
        for (const node::ProducerBatch& held : state.batches) {
            text += fmt::format("[{}-{}@{}-{}]", held.first_sequence, held.last_sequence, held.first_offset,
                                held.last_offset);
        }
    }
    return text;
}

template <class Kind>
class ProducerStateTest : public testing::Test {
protected:
    node::Storage& storage() { return kind_.storage; }
    node::PartitionLog& log() { return *log_; }
    void reopen() { log_ = open_log(storage()); }
    std::string send(const Sent& sent) { return told(log_->append_as_leader(idempotent(sent), 0)); }

private:
    Kind kind_;
    std::unique_ptr<node::PartitionLog> log_ = open_log(kind_.storage);
};
TYPED_TEST_SUITE(ProducerStateTest, BothStorages, StorageNames);

TYPED_TEST(ProducerStateTest, ABatchSentAgainIsAppendedOnce) {
    EXPECT_EQ(this->send({.sequence = 0, .records = 2}), "appended 0-1");
    EXPECT_EQ(this->send({.sequence = 2, .records = 1}), "appended 2-2");
    EXPECT_EQ(this->send({.sequence = 0, .records = 2}), "duplicate 0-1");
    EXPECT_EQ(this->send({.sequence = 2, .records = 1}), "duplicate 2-2");
    EXPECT_EQ(this->log().log_end_offset(), 3);
    this->reopen();
    EXPECT_EQ(this->log().log_end_offset(), 3);
    EXPECT_EQ(this->send({.sequence = 2, .records = 1}), "duplicate 2-2");
    EXPECT_EQ(this->send({.sequence = 3}), "appended 3-3");
}

TYPED_TEST(ProducerStateTest, OnlyTheLastFiveBatchesAreKnownAgain) {
    for (std::int32_t sequence = 0; sequence < 6; ++sequence)
        EXPECT_EQ(this->send({.sequence = sequence}), fmt::format("appended {0}-{0}", sequence));
    for (std::int32_t sequence = 1; sequence < 6; ++sequence)
        EXPECT_EQ(this->send({.sequence = sequence}), fmt::format("duplicate {0}-{0}", sequence));
    EXPECT_EQ(this->send({.sequence = 0}), "OUT_OF_ORDER_SEQUENCE_NUMBER");
}

TYPED_TEST(ProducerStateTest, AGapOrAnOverlapIsOutOfOrder) {
    EXPECT_EQ(this->send({.sequence = 0, .records = 3}), "appended 0-2");
    for (const std::int32_t sequence : {4, 1, 2, kMax})
        EXPECT_EQ(this->send({.sequence = sequence}), "OUT_OF_ORDER_SEQUENCE_NUMBER") << sequence;
    EXPECT_EQ(this->send({.sequence = 0, .records = 2}), "OUT_OF_ORDER_SEQUENCE_NUMBER")
        << "not the batch that was sent";
    EXPECT_EQ(this->log().log_end_offset(), 3);
    EXPECT_EQ(this->send({.sequence = 3}), "appended 3-3") << "a refusal changes nothing";
}

TYPED_TEST(ProducerStateTest, AnUnknownProducerMayBeginAnywhere) {
    EXPECT_EQ(this->send({.sequence = 50}), "appended 0-0");
    EXPECT_EQ(this->send({.sequence = 51}), "appended 1-1");
    EXPECT_EQ(this->send({.producer = 8, .epoch = 3, .sequence = 9}), "appended 2-2");
}

TYPED_TEST(ProducerStateTest, ANewEpochBeginsAtZeroAndEndsTheOldOne) {
    EXPECT_EQ(this->send({.epoch = 1, .sequence = 0}), "appended 0-0");
    EXPECT_EQ(this->send({.epoch = 0, .sequence = 1}), "INVALID_PRODUCER_EPOCH");
    EXPECT_EQ(this->send({.epoch = 2, .sequence = 1}), "OUT_OF_ORDER_SEQUENCE_NUMBER");
    EXPECT_EQ(this->send({.epoch = 2, .sequence = 0}), "appended 1-1") << "no duplicate: another epoch";
    EXPECT_EQ(this->send({.epoch = 1, .sequence = 1}), "INVALID_PRODUCER_EPOCH");
    EXPECT_EQ(this->send({.epoch = 1, .sequence = 0}), "INVALID_PRODUCER_EPOCH");
    this->reopen();
    EXPECT_EQ(this->send({.epoch = 1, .sequence = 1}), "INVALID_PRODUCER_EPOCH");
    EXPECT_EQ(this->send({.epoch = 2, .sequence = 1}), "appended 2-2");
}

TYPED_TEST(ProducerStateTest, AfterTheLargestSequenceComesZero) {
    EXPECT_EQ(this->send({.sequence = kMax - 1, .records = 2}), "appended 0-1");
    EXPECT_EQ(this->send({.sequence = 1}), "OUT_OF_ORDER_SEQUENCE_NUMBER");
    EXPECT_EQ(this->send({.sequence = 0}), "appended 2-2");
    // One that lies across the border.
    EXPECT_EQ(this->send({.producer = 8, .sequence = kMax - 1, .records = 4}), "appended 3-6");
    EXPECT_EQ(this->send({.producer = 8, .sequence = kMax - 1, .records = 4}), "duplicate 3-6");
    EXPECT_EQ(this->send({.producer = 8, .sequence = 2}), "appended 7-7");
    this->reopen();
    EXPECT_EQ(states_of(this->log().producers()),
              fmt::format("7/0:[{}-{}@0-1][0-0@2-2] 8/0:[{}-1@3-6][2-2@7-7]", kMax - 1, kMax, kMax - 1));
}

TYPED_TEST(ProducerStateTest, SeveralBatchesAreRefusedOrAppendedTogether) {
    const auto both = [&](const Sent& first, const Sent& second) {
        return told(this->log().append_as_leader(joined({idempotent(first), idempotent(second)}), 0));
    };
    EXPECT_EQ(both({.sequence = 0}, {.sequence = 2}), "OUT_OF_ORDER_SEQUENCE_NUMBER");
    EXPECT_EQ(this->log().log_end_offset(), 0);
    EXPECT_EQ(both({.sequence = 0}, {.sequence = 1}), "appended 0-1");
    EXPECT_EQ(both({.sequence = 2}, {.producer = 9, .sequence = 5}), "appended 2-3");
    EXPECT_EQ(both({.producer = 10, .sequence = 0}, {.sequence = 1}), "duplicate 1-1");
    EXPECT_EQ(this->log().log_end_offset(), 4);
}

TYPED_TEST(ProducerStateTest, AProducerIdNeedsEpochAndSequence) {
    EXPECT_EQ(this->send({.epoch = -1}), "INVALID_RECORD");
    EXPECT_EQ(this->send({.sequence = -1}), "INVALID_RECORD");
    EXPECT_EQ(this->log().log_end_offset(), 0);
}

TYPED_TEST(ProducerStateTest, ATruncationTakesBackWhatItCut) {
    for (std::int32_t sequence = 0; sequence < 4; ++sequence) this->send({.sequence = sequence});
    this->send({.epoch = 1, .sequence = 0});
    this->send({.producer = 8, .sequence = 0});
    ASSERT_TRUE(this->log().truncate_to(2));
    for (int opened = 0; opened < 2; ++opened) {
        EXPECT_EQ(states_of(this->log().producers()), "7/0:[0-0@0-0][1-1@1-1]");
        this->reopen();
    }
    EXPECT_EQ(this->send({.sequence = 1}), "duplicate 1-1");
    EXPECT_EQ(this->send({.sequence = 3}), "OUT_OF_ORDER_SEQUENCE_NUMBER");
    EXPECT_EQ(this->send({.sequence = 2}), "appended 2-2");
}

TYPED_TEST(ProducerStateTest, AFollowerKnowsWhatItsLeaderKnew) {
    InMemory leaders;
    const auto leader = open_log(leaders.storage);
    for (const Sent& sent : std::vector<Sent>{{.sequence = 0, .records = 2},
                                              {.sequence = 2},
                                              {.epoch = 1, .sequence = 0},
                                              {.producer = 8, .sequence = 3}}) {
        ASSERT_TRUE(leader->append_as_leader(idempotent(sent), 0));
    }
    const auto bytes = leader->read(0, leader->log_end_offset(), 1U << 20U);
    ASSERT_TRUE(bytes) << bytes.error().message;
    ASSERT_TRUE(this->log().append_as_follower(*bytes));
    EXPECT_EQ(states_of(this->log().producers()), "7/1:[0-0@3-3] 8/0:[3-3@4-4]");
    EXPECT_EQ(this->log().producers().all(), leader->producers().all());
    EXPECT_EQ(this->send({.epoch = 1, .sequence = 0}), "duplicate 3-3");
}

TYPED_TEST(ProducerStateTest, SilentProducersExpire) {
    this->send({.producer = 7, .sequence = 0, .timestamp = 1000});
    this->send({.producer = 8, .sequence = 0, .timestamp = 5000});
    this->log().expire_producers(11000, milliseconds(10000));
    EXPECT_NE(this->log().producers().find(7), nullptr) << "exactly the expiration is not more than it";
    this->log().expire_producers(11001, milliseconds(10000));
    EXPECT_EQ(this->log().producers().find(7), nullptr);
    EXPECT_NE(this->log().producers().find(8), nullptr);
    EXPECT_EQ(this->send({.producer = 7, .sequence = 77}), "appended 2-2") << "it is new again";
}

TEST(ProducerSnapshot, HoldsTheLastBatchOfEachProducer) {
    node::MemoryStorage storage;
    const auto log = open_log(storage);
    for (const Sent& sent : std::vector<Sent>{{.sequence = 0, .records = 2},
                                              {.sequence = 2, .records = 3},
                                              {.producer = 8, .epoch = 4, .sequence = kMax, .records = 2}})
        ASSERT_TRUE(log->append_as_leader(idempotent(sent), 0));
    const Bytes snapshot = node::format_producer_snapshot(log->producers());
    const auto read = node::parse_producer_snapshot(snapshot, "7.snapshot");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(states_of(*read), fmt::format("7/0:[2-4@2-4] 8/4:[{}-0@5-6]", kMax));
    for (std::size_t at = 0; at < snapshot.size(); ++at) {
        Bytes damaged = snapshot;
        damaged[at] ^= 1U;
        EXPECT_FALSE(node::parse_producer_snapshot(damaged, "7.snapshot")) << at;
        EXPECT_FALSE(node::parse_producer_snapshot(BytesView(snapshot).first(at), "7.snapshot")) << at;
    }
}

}  // namespace
}  // namespace highwater::test
