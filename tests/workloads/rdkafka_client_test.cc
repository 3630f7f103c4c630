// Our librdkafka client against the library's own mock brokers, which give the answers that a test wants.
#include "workloads/rdkafka_client.h"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <array>
#include <charconv>
#include <initializer_list>
#include <string>

namespace highwater::workloads {
namespace {

using wire::ErrorCode;

constexpr std::int16_t kProduceKey = 0;

class RdkafkaClientTest : public testing::Test {
protected:
    RdkafkaClientTest() {
        std::array<char, 256> reason{};
        host_ = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), reason.data(), reason.size());
        brokers_ = rd_kafka_mock_cluster_new(host_, 1);
        rd_kafka_mock_topic_create(brokers_, "t", 1, 1);
        const std::string address = rd_kafka_mock_cluster_bootstraps(brokers_);
        const std::size_t colon = address.find(':');
        std::uint16_t port = 0;
        std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
        options_.client_id = "p1";
        options_.topic = "t";
        options_.run_id = "run";
        options_.brokers = {{1, {"127.0.0.1", port}}};
        options_.names = {{1, address.substr(0, colon)}};  // mock brokers advertise the address itself
        options_.request_timeout = milliseconds(500);
        options_.delivery_timeout = seconds(20);
    }
    ~RdkafkaClientTest() override {
        rd_kafka_mock_cluster_destroy(brokers_);
        rd_kafka_destroy(host_);
    }
    /// Answers to the next Produce requests, in this order.
    void answer(std::initializer_list<rd_kafka_resp_err_t> errors) {
        rd_kafka_mock_push_request_errors_array(brokers_, kProduceKey, errors.size(), errors.begin());
    }
    static ProduceCall call(std::int64_t n, std::int16_t acks = -1) {
        ProduceCall call;
        call.value = make_value(1, n);
        call.acks = acks;
        return call;
    }

    /// By value.
    static std::map<Value, ProduceReply> wait_for(Pipeline& pipeline, std::size_t count) {
        std::map<Value, ProduceReply> replies;
        const Instant deadline = monotonic_now() + seconds(20);
        while (replies.size() < count && monotonic_now() < deadline) {
            for (const auto& [value, reply] : pipeline.completed(milliseconds(50))) replies[value] = reply;
        }
        return replies;
    }

    rd_kafka_t* host_ = nullptr;
    rd_kafka_mock_cluster_t* brokers_ = nullptr;
    RdkafkaClientOptions options_;
};

TEST_F(RdkafkaClientTest, AReportCompletesAnAppend) {
    const auto client = make_rdkafka_client(options_);
    EXPECT_TRUE(client->hides_attempts());
    const ProduceReply all = client->produce(call(1));
    EXPECT_EQ(all.end, AttemptEnd(ErrorCode::None)) << attempt_error(all.end);
    EXPECT_EQ(all.offset, 0);
    EXPECT_EQ(all.broker, 1);
    EXPECT_EQ(all.requests, 1);
    EXPECT_EQ(all.incarnation, 1);
    EXPECT_EQ(client->produce(call(2, 1)).offset, 1) << "acks=1 has a producer of its own";
    const ProduceReply none = client->produce(call(3, 0));
    EXPECT_EQ(none.end, AttemptEnd(ErrorCode::None));
    EXPECT_EQ(none.offset, kUnknownOffset);
}

TEST_F(RdkafkaClientTest, ARefusalIsSeenAtOnceWithoutRetries) {
    answer({RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS});
    const auto client = make_rdkafka_client(options_);
    const ProduceReply reply = client->produce(call(1));
    EXPECT_EQ(reply.end, AttemptEnd(ErrorCode::NotEnoughReplicas)) << attempt_error(reply.end);
    EXPECT_EQ(reply.requests, 1);
}

TEST_F(RdkafkaClientTest, RetriesAreHiddenAndCounted) {
    answer({RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT});
    options_.retries = 5;
    const auto client = make_rdkafka_client(options_);
    const ProduceReply reply = client->produce(call(1));
    EXPECT_EQ(reply.end, AttemptEnd(ErrorCode::None)) << attempt_error(reply.end);
    EXPECT_EQ(reply.requests, 3);
}

TEST_F(RdkafkaClientTest, ANewLeaderIsLookedForWithoutRetriesToo) {
    answer({RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION});
    const auto client = make_rdkafka_client(options_);
    const ProduceReply reply = client->produce(call(1));
    EXPECT_EQ(reply.end, AttemptEnd(ErrorCode::None)) << attempt_error(reply.end);
    EXPECT_EQ(reply.requests, 2) << "which is why no history of this client has retries = 0";
}

TEST_F(RdkafkaClientTest, ARecordTooLargeForTheQueueWasNeverSent) {
    const auto client = make_rdkafka_client(options_);
    ProduceCall big = call(1);
    big.size = 2'000'000;
    const ProduceReply reply = client->produce(big);
    EXPECT_EQ(produce_outcome(reply.end, -1, false), Outcome::Fail);
    EXPECT_EQ(reply.requests, 0);
}

TEST_F(RdkafkaClientTest, NobodyThereIsATimeout) {
    rd_kafka_mock_broker_set_down(brokers_, -1);
    options_.delivery_timeout = milliseconds(600);
    const auto client = make_rdkafka_client(options_);
    const ProduceReply reply = client->produce(call(1));
    EXPECT_EQ(attempt_error(reply.end), "_MSG_TIMED_OUT");
    EXPECT_EQ(produce_outcome(reply.end, -1, false), Outcome::Info);
}

TEST_F(RdkafkaClientTest, AProducerThatMetAFatalErrorIsReplaced) {
    options_.idempotent = true;
    options_.retries = 5;
    const auto client = make_rdkafka_client(options_);
    ASSERT_EQ(client->produce(call(1)).end, AttemptEnd(ErrorCode::None));
    answer({RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER});
    const ProduceReply fatal = client->produce(call(2));
    EXPECT_EQ(fatal.incarnation, 1);
    EXPECT_EQ(produce_outcome(fatal.end, -1, false), Outcome::Info) << attempt_error(fatal.end);
    const ProduceReply next = client->produce(call(3));
    EXPECT_EQ(next.end, AttemptEnd(ErrorCode::None)) << attempt_error(next.end);
    EXPECT_EQ(next.incarnation, 2);
}

TEST_F(RdkafkaClientTest, SeveralAppendsAreUnderWay) {
    options_.idempotent = true;
    options_.retries = 5;
    const auto client = make_rdkafka_client(options_);
    Pipeline& pipeline = *client->pipeline();
    for (std::int64_t n = 1; n <= 10; ++n) pipeline.start(call(n));
    const auto replies = wait_for(pipeline, 10);
    ASSERT_EQ(replies.size(), 10U);
    for (const auto& [value, reply] : replies) {
        EXPECT_EQ(reply.end, AttemptEnd(ErrorCode::None)) << attempt_error(reply.end);
        EXPECT_EQ(reply.offset, (value & 0xff) - 1) << "idempotence keeps the order";
    }
    EXPECT_EQ(pipeline.requests(), 10) << "a record is a request";
}

TEST_F(RdkafkaClientTest, AnInferredAcknowledgementIsNone) {
    // The second is acknowledged while the first is refused: the library concludes that both are written.
    answer({RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS});
    options_.idempotent = true;
    options_.retries = 5;
    const auto client = make_rdkafka_client(options_);
    Pipeline& pipeline = *client->pipeline();
    pipeline.start(call(1));
    pipeline.start(call(2));
    auto replies = wait_for(pipeline, 2);
    ASSERT_EQ(replies.size(), 2U);
    const ProduceReply& first = replies.at(make_value(1, 1));
    EXPECT_EQ(attempt_error(first.end), "acknowledged without an offset");
    EXPECT_EQ(produce_outcome(first.end, -1, false), Outcome::Info);
    EXPECT_EQ(replies.at(make_value(1, 2)).offset, 0);
}

TEST_F(RdkafkaClientTest, AFatalErrorEndsAllThatIsUnderWay) {
    options_.idempotent = true;
    options_.retries = 5;
    const auto client = make_rdkafka_client(options_);
    Pipeline& pipeline = *client->pipeline();
    answer({RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER});
    pipeline.start(call(1));
    ASSERT_EQ(wait_for(pipeline, 1).size(), 1U);
    for (std::int64_t n = 2; n <= 4; ++n) pipeline.start(call(n));
    for (const auto& [value, reply] : wait_for(pipeline, 3)) {
        EXPECT_EQ(reply.end, AttemptEnd(ErrorCode::None)) << attempt_error(reply.end);
        EXPECT_EQ(reply.incarnation, 2);
    }
}

TEST_F(RdkafkaClientTest, WhatIsPurgedIsReported) {
    rd_kafka_mock_broker_set_down(brokers_, -1);
    const auto client = make_rdkafka_client(options_);
    Pipeline& pipeline = *client->pipeline();
    pipeline.start(call(1));
    pipeline.start(call(2));
    pipeline.purge();
    const auto replies = wait_for(pipeline, 2);
    ASSERT_EQ(replies.size(), 2U);
    for (const auto& [value, reply] : replies) {
        EXPECT_EQ(attempt_error(reply.end), "_PURGE_QUEUE");
        EXPECT_EQ(produce_outcome(reply.end, -1, false), Outcome::Info);
    }
}

TEST_F(RdkafkaClientTest, SettingsThatTheLibraryRefusesFailEveryCall) {
    options_.idempotent = true;
    options_.retries = 0;
    const auto client = make_rdkafka_client(options_);
    const ProduceReply reply = client->produce(call(1));
    EXPECT_EQ(produce_outcome(reply.end, -1, false), Outcome::Fail);
    EXPECT_NE(attempt_error(reply.end).find("retries"), std::string::npos) << attempt_error(reply.end);
}

TEST_F(RdkafkaClientTest, NoOtherNameIsResolved) {
    options_.names = {{1, "b1"}};
    options_.delivery_timeout = milliseconds(600);
    const auto client = make_rdkafka_client(options_);
    EXPECT_EQ(attempt_error(client->produce(call(1)).end), "_MSG_TIMED_OUT")
        << "b1 is known, but the broker advertises 127.0.0.1, which is not among the names";
}

class RdkafkaReads : public RdkafkaClientTest {
protected:
    /// Polls until something came.
    static PollReply read(Client& client, Offset from) {
        const Instant deadline = monotonic_now() + seconds(20);
        while (true) {
            PollReply reply = client.poll(0, from, milliseconds(50), ReadFrom::Leader);
            const bool empty = reply.end == AttemptEnd(ErrorCode::None) && reply.records.empty();
            if (!empty || monotonic_now() > deadline) return reply;
        }
    }
};

TEST_F(RdkafkaReads, FromAnyPositionToTheEnd) {
    const auto writer = make_rdkafka_client(options_);
    for (std::int64_t n = 1; n <= 3; ++n) {
        ASSERT_EQ(writer->produce(call(n)).end, AttemptEnd(ErrorCode::None));
    }
    const auto client = make_rdkafka_client(options_);
    const Instant before = monotonic_now();
    Offset next = 0;
    std::vector<ReadRecord> records;
    while (records.size() < 3) {
        const PollReply reply = read(*client, next);
        ASSERT_EQ(reply.end, AttemptEnd(ErrorCode::None)) << attempt_error(reply.end);
        ASSERT_FALSE(reply.records.empty());
        EXPECT_EQ(reply.broker, 1);
        EXPECT_EQ(reply.high_watermark, kUnknownOffset);
        ASSERT_TRUE(reply.asked);
        EXPECT_GE(*reply.asked, before);
        EXPECT_LE(*reply.asked, monotonic_now());
        records.insert(records.end(), reply.records.begin(), reply.records.end());
        next = reply.next;
    }
    EXPECT_EQ(records,
              (std::vector<ReadRecord>{{0, make_value(1, 1)}, {1, make_value(1, 2)}, {2, make_value(1, 3)}}));
    EXPECT_EQ(next, 3);
    const PollReply end = client->poll(0, next, milliseconds(50), ReadFrom::Leader);
    EXPECT_EQ(end.end, AttemptEnd(ErrorCode::None));
    EXPECT_TRUE(end.records.empty());
    EXPECT_EQ(end.next, 3);
    EXPECT_EQ(client->latest(0).offset, 3);
    EXPECT_EQ(read(*client, 1).records.front().offset, 1) << "a seek";
}

TEST_F(RdkafkaReads, APositionBehindTheEndIsOutOfRange) {
    const auto writer = make_rdkafka_client(options_);
    ASSERT_EQ(writer->produce(call(1)).end, AttemptEnd(ErrorCode::None));
    const auto client = make_rdkafka_client(options_);
    EXPECT_EQ(read(*client, 9).end, AttemptEnd(ErrorCode::OffsetOutOfRange));
    EXPECT_EQ(read(*client, 0).records.size(), 1U) << "and then anew";
}

}  // namespace
}  // namespace highwater::workloads
