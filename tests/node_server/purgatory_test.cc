// What waits: produces for the high watermark, fetches for records; and what ends the waiting.
#include <gtest/gtest.h>

#include "tests/node_server/cluster.h"
#include "tests/support/requests.h"

namespace highwater::test {
namespace {

using wire::ErrorCode;

class Purgatory : public ::testing::Test {
protected:
    void SetUp() override {
        cluster.start_all();
        const auto created = cluster.ask<wire::CreateTopicsResponse>(
            1, create_topic_request("t", {{1, 2}}, {}), kCreateTopicsVersion);
        ASSERT_TRUE(created) << created.error().message;
        const auto first = cluster.ask<wire::ProduceResponse>(
            1, produce_request("t", 0, -1, 5000, batch_of({1}, 0)), kProduceVersion);
        ASSERT_TRUE(first) << first.error().message;
    }
    ConnId begin_produce(std::int32_t timeout_ms, std::uint64_t value) {
        const ConnId client = cluster.connect(1);
        cluster.send(client,
                     wire::encode_request(produce_request("t", 0, -1, timeout_ms, batch_of({value}, 0)),
                                          kProduceVersion, 7, "test"));
        return client;
    }
    ConnId begin_fetch(BrokerId at, Offset from, std::int32_t wait_ms) {
        const ConnId client = cluster.connect(at);
        cluster.send(client,
                     wire::encode_request(fetch_request("t", 0, from, wait_ms), kFetchVersion, 7, "test"));
        return client;
    }
    wire::ProduceResponse::TopicProduceResponse::PartitionProduceResponse produced(ConnId client) {
        const auto answer =
            wire::decode_response<wire::ProduceResponse>(cluster.received(client).at(0), kProduceVersion, 7);
        EXPECT_TRUE(answer);
        return answer->responses.at(0).partition_responses.at(0);
    }
    wire::FetchResponse::FetchableTopicResponse::PartitionData fetched(ConnId client) {
        const auto answer =
            wire::decode_response<wire::FetchResponse>(cluster.received(client).at(0), kFetchVersion, 7);
        EXPECT_TRUE(answer);
        return answer->responses.at(0).partitions.at(0);
    }
    std::vector<std::uint64_t> values(Offset from) {
        const auto answer =
            cluster.ask<wire::FetchResponse>(1, fetch_request("t", 0, from, 0), kFetchVersion);
        EXPECT_TRUE(answer);
        const auto records = records_of(answer->responses.at(0).partitions.at(0).records.value_or(Bytes{}));
        EXPECT_TRUE(records);
        std::vector<std::uint64_t> all;
        for (const wire::Record& record : *records) all.push_back(value_of(record));
        return all;
    }
    Cluster cluster{2, {{"broker.session.timeout.ms", "60000"}, {"replica.lag.time.max.ms", "30000"}}};
};

TEST_F(Purgatory, AProduceTimesOutAfterItsTimeoutAndItsRecordStays) {
    cluster.freeze(2);
    const Instant begun = cluster.now();
    const ConnId client = begin_produce(1500, 2);
    cluster.advance(milliseconds(1499));
    EXPECT_TRUE(cluster.received(client).empty());
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.received(client).empty(); }));
    EXPECT_EQ(cluster.now() - begun, Duration(milliseconds(1500)));
    EXPECT_EQ(produced(client).error_code, ErrorCode::RequestTimedOut);
    EXPECT_EQ(values(1), std::vector<std::uint64_t>{}) << "read before it was committed";
    cluster.thaw(2);
    ASSERT_TRUE(cluster.run_until([&] { return values(1) == std::vector<std::uint64_t>{2}; }));
    EXPECT_EQ(cluster.received(client).size(), 1U) << "answered twice";
}

TEST_F(Purgatory, ATimeoutOfZeroAnswersAtOnce) {
    cluster.freeze(2);
    const ConnId client = begin_produce(0, 2);
    ASSERT_FALSE(cluster.received(client).empty());
    EXPECT_EQ(produced(client).error_code, ErrorCode::RequestTimedOut);
}

TEST_F(Purgatory, ALostLeadershipEndsAProduceAtOnce) {
    cluster.freeze(2);
    const ConnId client = begin_produce(600000, 2);
    // Broker 1 is cut off by a successor: the controller hears it leave while 2 is in sync.
    cluster.thaw(2);
    cluster.freeze(2);
    cluster.terminate(1);
    cluster.thaw(2);
    ASSERT_TRUE(
        cluster.run_until([&] { return !cluster.received(client).empty() || cluster.closed(client); }));
    ASSERT_FALSE(cluster.received(client).empty())
        << "the broker stopped and left its client without an answer";
    const ErrorCode error = produced(client).error_code;
    EXPECT_TRUE(error == ErrorCode::NotLeaderOrFollower || error == ErrorCode::None)
        << wire::error_name(error);
}

TEST_F(Purgatory, AFetchWaitsForRecordsAndIsWokenByThem) {
    const ConnId consumer = begin_fetch(1, 1, 10000);
    cluster.advance(milliseconds(100));
    EXPECT_TRUE(cluster.received(consumer).empty());
    begin_produce(5000, 9);
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.received(consumer).empty(); }, milliseconds(600)));
    const auto records = records_of(*fetched(consumer).records);
    ASSERT_TRUE(records);
    ASSERT_EQ(records->size(), 1U);
    EXPECT_EQ(value_of(records->front()), 9U);
}

TEST_F(Purgatory, AFetchIsAnsweredEmptyAfterMaxWait) {
    const Instant begun = cluster.now();
    const ConnId consumer = begin_fetch(1, 1, 700);
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.received(consumer).empty(); }));
    EXPECT_EQ(cluster.now() - begun, Duration(milliseconds(700)));
    EXPECT_EQ(fetched(consumer).error_code, ErrorCode::None);
    EXPECT_EQ(fetched(consumer).high_watermark, 1);
    EXPECT_TRUE(fetched(consumer).records->empty());
}

TEST_F(Purgatory, AnErrorDoesNotWait) {
    const ConnId consumer = begin_fetch(1, 99, 10000);
    ASSERT_FALSE(cluster.received(consumer).empty());
    EXPECT_EQ(fetched(consumer).error_code, ErrorCode::OffsetOutOfRange);
}

TEST_F(Purgatory, MinBytesHoldsBackLess) {
    auto request = fetch_request("t", 0, 0, 900);
    request.min_bytes = 1000;
    const ConnId consumer = cluster.connect(1);
    const Instant begun = cluster.now();
    cluster.send(consumer, wire::encode_request(request, kFetchVersion, 7, "test"));
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.received(consumer).empty(); }));
    EXPECT_EQ(cluster.now() - begun, Duration(milliseconds(900)));
    EXPECT_FALSE(fetched(consumer).records->empty());
}

TEST_F(Purgatory, OneRequestOfTwoPartitionsWaitsForBoth) {
    ASSERT_TRUE(cluster.ask<wire::CreateTopicsResponse>(1, create_topic_request("u", {{1}}, {}),
                                                        kCreateTopicsVersion));
    ASSERT_TRUE(cluster.run_until([&] { return cluster.facts<node::RoleTaken>(1).size() == 2; }));
    cluster.freeze(2);
    auto request = produce_request("t", 0, -1, 2000, batch_of({2}, 0));
    request.topic_data.push_back(produce_request("u", 0, -1, 2000, batch_of({3}, 0)).topic_data[0]);
    const ConnId client = cluster.connect(1);
    cluster.send(client, wire::encode_request(request, kProduceVersion, 7, "test"));
    cluster.advance(milliseconds(1000));
    EXPECT_TRUE(cluster.received(client).empty()) << "u is committed, t is not";
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.received(client).empty(); }));
    const auto answer =
        wire::decode_response<wire::ProduceResponse>(cluster.received(client)[0], kProduceVersion, 7);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->responses[0].partition_responses[0].error_code, ErrorCode::RequestTimedOut);
    EXPECT_EQ(answer->responses[1].partition_responses[0].error_code, ErrorCode::None);
    EXPECT_EQ(answer->responses[1].partition_responses[0].base_offset, 0);
}

TEST_F(Purgatory, AClientThatLeavesLeavesNothingBehind) {
    cluster.freeze(2);
    const ConnId producer = begin_produce(1000, 2);
    const ConnId consumer = begin_fetch(1, 1, 1000);
    cluster.disconnect(producer);
    cluster.disconnect(consumer);
    cluster.advance(seconds(3));
    cluster.thaw(2);
    ASSERT_TRUE(cluster.run_until([&] { return values(1) == std::vector<std::uint64_t>{2}; }));
}

}  // namespace
}  // namespace highwater::test
