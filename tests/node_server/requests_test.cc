// What clients may send, well formed or not: answers in order, fallbacks, errors, and connections that are
// closed.
#include "tests/support/requests.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "tests/node_server/cluster.h"
#include "wire/messages/api_versions.h"

namespace highwater::test {
namespace {

using wire::ErrorCode;

class Requests : public ::testing::Test {
protected:
    void SetUp() override {
        cluster.start_all();
        create({{1, 2}}, {{"min.insync.replicas", "1"}});
    }
    void create(const std::vector<std::vector<BrokerId>>& assignments,
                const std::vector<std::pair<std::string, std::string>>& configs) {
        const auto created = cluster.ask<wire::CreateTopicsResponse>(
            1, create_topic_request("t", assignments, configs), kCreateTopicsVersion);
        ASSERT_TRUE(created) << created.error().message;
        ASSERT_EQ(created->topics.size(), 1U);
        ASSERT_EQ(created->topics[0].error_code, ErrorCode::None);
        ASSERT_TRUE(cluster.run_until([&] { return leads(1); }));
    }
    [[nodiscard]] bool leads(BrokerId id) const {
        const auto roles = cluster.facts<node::RoleTaken>(id);
        return !roles.empty() && roles.back().role == node::Role::Leader;
    }
    ErrorCode produce(const std::string& topic, std::int32_t partition, std::int16_t acks, Bytes batch,
                      BrokerId at = 1) {
        const auto answer = cluster.ask<wire::ProduceResponse>(
            at, produce_request(topic, partition, acks, 1000, std::move(batch)), kProduceVersion);
        if (!answer) {
            ADD_FAILURE() << answer.error().message;
            return ErrorCode::UnknownServerError;
        }
        return answer->responses.at(0).partition_responses.at(0).error_code;
    }
    Cluster cluster{2};
};

Bytes request_bytes(std::int16_t key, std::int16_t version, const Bytes& body) {
    ByteWriter out;
    out.i16(key);
    out.i16(version);
    out.i32(7);
    out.i16(-1);  // no client id
    out.raw(body);
    return out.take();
}

struct Hostile {
    const char* name;
    Bytes frame;
};

std::vector<Hostile> hostile_frames() {
    return {
        {"empty", {}},
        {"half a header", {0, 3, 0}},
        {"a client id beyond the frame", {0, 3, 0, 1, 0, 0, 0, 7, 0x7f, 0xff}},
        {"an API nobody knows", request_bytes(9999, 0, {})},
        {"an API of the group coordinator", request_bytes(11, 0, {})},
        {"a version too high", request_bytes(0, 14, {})},
        {"a version too high for any", request_bytes(1, 32767, {})},
        {"a negative version", request_bytes(3, -1, {})},
        {"Produce at a version that is only advertised", request_bytes(0, 0, {0, 1, 0, 0, 0, 0, 0, 0, 0, 0})},
        {"Produce without a body", request_bytes(0, 8, {})},
        {"Fetch of two thousand million topics", request_bytes(1, 11, Bytes(30, 0x7f))},
        {"Metadata with bytes left over", request_bytes(3, 1, {0, 0, 0, 0, 1})},
        {"BrokerHeartbeat on a client listener", request_bytes(63, 1, {})},
    };
}

TEST_F(Requests, HostileFramesCloseTheirConnectionAndNothingElse) {
    for (const Hostile& hostile : hostile_frames()) {
        const ConnId client = cluster.connect(1);
        cluster.send(client, hostile.frame);
        EXPECT_TRUE(cluster.closed(client)) << hostile.name;
        EXPECT_TRUE(cluster.received(client).empty()) << hostile.name;
    }
    EXPECT_TRUE(cluster.logged(1, "WARN closing connection"));
    EXPECT_TRUE(cluster.logged(1, "Produce v0 is advertised for librdkafka's sake only"));
    EXPECT_EQ(produce("t", 0, 1, batch_of({1}, 0)), ErrorCode::None);
}

TEST_F(Requests, HostileFramesAtTheController) {
    for (const Hostile& hostile : hostile_frames()) {
        const ConnId client = cluster.connect(kController, "CONTROLLER");
        cluster.send(client, hostile.frame);
        EXPECT_TRUE(cluster.closed(client)) << hostile.name;
    }
    EXPECT_EQ(produce("t", 0, -1, batch_of({1}, 0)), ErrorCode::None);
}

TEST_F(Requests, RandomBytesNeverCrash) {
    Rng rng(20260801);
    for (int i = 0; i < 3000; ++i) {
        Bytes frame = request_bytes(static_cast<std::int16_t>(rng.below(4)),
                                    static_cast<std::int16_t>(rng.below(12)), {});
        const std::uint64_t size = rng.below(60);
        for (std::uint64_t b = 0; b < size; ++b)
            frame.push_back(static_cast<std::uint8_t>(rng.below(rng.chance(50) ? 3 : 256)));
        const bool internal = rng.chance(50);
        const ConnId client = cluster.connect(1, internal ? "INTERNAL" : "CLIENT");
        cluster.send(client, std::move(frame));
        if (!cluster.closed(client)) cluster.disconnect(client);
    }
    EXPECT_EQ(produce("t", 0, 1, batch_of({1}, 0)), ErrorCode::None);
}

TEST_F(Requests, TruncatedRequestsCloseTheConnection) {
    const Bytes whole =
        wire::encode_request(produce_request("t", 0, 1, 1000, batch_of({1}, 0)), kProduceVersion, 7, "test");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const ConnId client = cluster.connect(1);
        cluster.send(client, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
        EXPECT_TRUE(cluster.closed(client)) << size << " of " << whole.size() << " bytes";
    }
}

TEST_F(Requests, ApiVersionsBeyondWhatIsOfferedFallsBackToVersion0) {
    for (const std::int16_t version : {std::int16_t{5}, std::int16_t{99}, std::int16_t{32767}}) {
        const ConnId client = cluster.connect(1);
        cluster.send(client, request_bytes(18, version, {0, 5, 't', 'e', 's', 't', 0}));
        ASSERT_EQ(cluster.received(client).size(), 1U) << version;
        const auto answer =
            wire::decode_response<wire::ApiVersionsResponse>(cluster.received(client)[0], 0, 7);
        ASSERT_TRUE(answer) << answer.error().message;
        EXPECT_EQ(answer->error_code, ErrorCode::UnsupportedVersion);
        EXPECT_FALSE(answer->api_keys.empty());
        // The connection lives on: the client asks again, lower.
        cluster.send(client, request_bytes(18, 0, {}));
        ASSERT_EQ(cluster.received(client).size(), 2U);
    }
}

TEST_F(Requests, ApiVersionsOfEveryOfferedVersion) {
    for (std::int16_t version = 0; version <= 4; ++version) {
        const auto answer = cluster.ask<wire::ApiVersionsResponse>(1, wire::ApiVersionsRequest{}, version);
        ASSERT_TRUE(answer) << answer.error().message;
        EXPECT_EQ(answer->error_code, ErrorCode::None);
        EXPECT_FALSE(answer->api_keys.empty());
    }
}

TEST_F(Requests, EachListenerOffersItsOwnVersions) {
    const auto range = [&](BrokerId id, const std::string& listener, std::int16_t key) {
        const auto answer =
            cluster.ask<wire::ApiVersionsResponse>(id, wire::ApiVersionsRequest{}, 2, listener);
        EXPECT_TRUE(answer);
        for (const auto& api : answer->api_keys) {
            if (api.api_key == key) return std::pair(api.min_version, api.max_version);
        }
        return std::pair<std::int16_t, std::int16_t>(-1, -1);
    };
    using Range = std::pair<std::int16_t, std::int16_t>;
    constexpr std::int16_t kProduce = 0;
    constexpr std::int16_t kHeartbeat = 63;
    EXPECT_EQ(range(1, "CLIENT", kProduce), Range(0, 13));
    EXPECT_EQ(range(1, "DIRECT", kProduce), Range(0, 13));
    EXPECT_EQ(range(1, "INTERNAL", kProduce), Range(-1, -1));
    EXPECT_EQ(range(1, "CLIENT", kHeartbeat), Range(-1, -1));
    EXPECT_EQ(range(kController, "CONTROLLER", kHeartbeat), Range(0, 1));
}

TEST_F(Requests, AWellFormedRequestOfAnotherListenersVersionsClosesTheConnection) {
    const auto closes = [&](const std::string& listener, const Bytes& frame) {
        const ConnId client = cluster.connect(1, listener);
        cluster.send(client, frame);
        const bool answered =
            cluster.run_until([&] { return cluster.closed(client) || !cluster.received(client).empty(); });
        EXPECT_TRUE(answered);
        return cluster.closed(client);
    };
    const auto fetch = [](std::int16_t version) {
        return wire::encode_request(fetch_request("t", 0, 0, 0), version, 7, "test");
    };
    EXPECT_FALSE(closes("CLIENT", fetch(17)));
    EXPECT_FALSE(closes("CLIENT", fetch(18)));
    EXPECT_FALSE(closes("DIRECT", fetch(18)));
    EXPECT_FALSE(closes("INTERNAL", fetch(17)));
    EXPECT_TRUE(closes("INTERNAL", fetch(18)));
    const Bytes produce_frame =
        wire::encode_request(produce_request("t", 0, 1, 1000, batch_of({1}, 0)), kProduceVersion, 7, "test");
    EXPECT_FALSE(closes("CLIENT", produce_frame));
    EXPECT_TRUE(closes("INTERNAL", produce_frame)) << "clients do not produce where replicas talk";
}

TEST_F(Requests, AnswersGoOutInTheOrderOfTheRequests) {
    // An acks=all produce must wait for broker 2; what follows it on the same connection waits behind it.
    ASSERT_TRUE(cluster.run_until([&] { return produce("t", 0, -1, batch_of({1}, 0)) == ErrorCode::None; }));
    cluster.freeze(2);
    const ConnId client = cluster.connect(1);
    cluster.send(client, wire::encode_request(produce_request("t", 0, -1, 60000, batch_of({2}, 0)),
                                              kProduceVersion, 11, "test"));
    cluster.send(client, wire::encode_request(metadata_request("t"), kMetadataVersion, 12, "test"));
    cluster.send(client, wire::encode_request(produce_request("t", 0, 1, 1000, batch_of({3}, 0)),
                                              kProduceVersion, 13, "test"));
    cluster.advance(milliseconds(200));
    EXPECT_TRUE(cluster.received(client).empty()) << "an answer overtook an earlier one";
    cluster.thaw(2);
    ASSERT_TRUE(cluster.run_until([&] { return cluster.received(client).size() == 3; }));
    const auto& frames = cluster.received(client);
    const auto first = wire::decode_response<wire::ProduceResponse>(frames[0], kProduceVersion, 11);
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(first->responses[0].partition_responses[0].error_code, ErrorCode::None);
    EXPECT_TRUE(wire::decode_response<wire::MetadataResponse>(frames[1], kMetadataVersion, 12));
    EXPECT_TRUE(wire::decode_response<wire::ProduceResponse>(frames[2], kProduceVersion, 13));
}

TEST_F(Requests, AcksZeroIsNeverAnswered) {
    const ConnId client = cluster.connect(1);
    cluster.send(client, wire::encode_request(produce_request("t", 0, 0, 1000, batch_of({1}, 0)),
                                              kProduceVersion, 11, "test"));
    cluster.send(client, wire::encode_request(metadata_request("t"), kMetadataVersion, 12, "test"));
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.received(client).empty(); }));
    EXPECT_TRUE(
        wire::decode_response<wire::MetadataResponse>(cluster.received(client)[0], kMetadataVersion, 12));
    EXPECT_EQ(cluster.facts<node::Appended>(1).size(), 1U);
}

TEST_F(Requests, AcksZeroWithAnErrorClosesTheConnection) {
    // There is no answer to carry the error; a client must still learn that its metadata is old.
    const ConnId client = cluster.connect(2);
    cluster.send(client, wire::encode_request(produce_request("t", 0, 0, 1000, batch_of({1}, 0)),
                                              kProduceVersion, 11, "test"));
    EXPECT_TRUE(cluster.closed(client));
    EXPECT_TRUE(cluster.received(client).empty());
}

TEST_F(Requests, ProduceIsRefusedBeforeAnythingIsAppended) {
    Bytes corrupt = batch_of({1}, 0);
    corrupt.back() ^= 1U;
    Bytes old_magic = batch_of({1}, 0);
    old_magic[16] = 1;
    EXPECT_EQ(produce("t", 0, 1, corrupt), ErrorCode::CorruptMessage);
    EXPECT_EQ(produce("t", 0, 1, old_magic), ErrorCode::CorruptMessage);
    EXPECT_EQ(produce("t", 0, 1, {}), ErrorCode::InvalidRecord);
    EXPECT_EQ(produce("t", 0, 2, batch_of({1}, 0)), ErrorCode::InvalidRequiredAcks);
    EXPECT_EQ(produce("t", 0, -2, batch_of({1}, 0)), ErrorCode::InvalidRequiredAcks);
    EXPECT_EQ(produce("u", 0, 1, batch_of({1}, 0)), ErrorCode::UnknownTopicOrPartition);
    EXPECT_EQ(produce("t", 1, 1, batch_of({1}, 0)), ErrorCode::UnknownTopicOrPartition);
    EXPECT_EQ(produce("t", 0, 1, batch_of({1}, 0), 2), ErrorCode::NotLeaderOrFollower);
    EXPECT_TRUE(cluster.facts<node::Appended>(1).empty());
}

TEST(RequestLimits, ABatchBeyondMessageMaxBytesIsTooLarge) {
    Cluster cluster(1, {{"message.max.bytes", "200"}});
    cluster.start_all();
    ASSERT_TRUE(cluster.ask<wire::CreateTopicsResponse>(1, create_topic_request("t", {{1}}, {}),
                                                        kCreateTopicsVersion));
    ASSERT_TRUE(cluster.run_until([&] { return !cluster.facts<node::RoleTaken>(1).empty(); }));
    const auto error_of = [&](const std::vector<std::uint64_t>& values) {
        const auto answer = cluster.ask<wire::ProduceResponse>(
            1, produce_request("t", 0, 1, 1000, batch_of(values, 0)), kProduceVersion);
        EXPECT_TRUE(answer);
        return answer->responses[0].partition_responses[0].error_code;
    };
    EXPECT_EQ(error_of({1}), ErrorCode::None);
    EXPECT_EQ(error_of(std::vector<std::uint64_t>(50, 1)), ErrorCode::MessageTooLarge);
}

TEST_F(Requests, MetadataNamesTheAddressesOfTheListenerThatWasAsked) {
    const auto ports = [&](const std::string& listener) {
        const auto answer =
            cluster.ask<wire::MetadataResponse>(1, metadata_request("t"), kMetadataVersion, listener);
        EXPECT_TRUE(answer);
        std::vector<std::string> found;
        for (const auto& broker : answer->brokers)
            found.push_back(fmt::format("{}={}:{}", broker.node_id, broker.host, broker.port));
        return found;
    };
    EXPECT_EQ(ports("CLIENT"), (std::vector<std::string>{"1=b1:2", "2=b2:2"}));
    EXPECT_EQ(ports("DIRECT"), (std::vector<std::string>{"1=b1:3", "2=b2:3"}));
}

TEST_F(Requests, MetadataTellsLeaderIsrEpochAndWhoIsGone) {
    const auto ask = [&](BrokerId at) {
        auto answer = cluster.ask<wire::MetadataResponse>(at, metadata_request("t"), kMetadataVersion);
        EXPECT_TRUE(answer);
        return *answer;
    };
    auto before = ask(1);
    EXPECT_EQ(before.controller_id, 1) << "clients cannot reach the controller itself";
    EXPECT_EQ(before.topics[0].partitions[0].leader_id, 1);
    EXPECT_EQ(before.topics[0].partitions[0].leader_epoch, 0);
    EXPECT_EQ(before.topics[0].partitions[0].isr_nodes, (std::vector<BrokerId>{1, 2}));
    EXPECT_TRUE(before.topics[0].partitions[0].offline_replicas.empty());

    cluster.kill(1);
    ASSERT_TRUE(cluster.run_until([&] { return leads(2); }));
    auto after = ask(2);
    ASSERT_EQ(after.brokers.size(), 1U);
    EXPECT_EQ(after.brokers[0].node_id, 2);
    EXPECT_EQ(after.topics[0].partitions[0].leader_id, 2);
    EXPECT_EQ(after.topics[0].partitions[0].leader_epoch, 1);
    EXPECT_EQ(after.topics[0].partitions[0].isr_nodes, (std::vector<BrokerId>{2}));
    EXPECT_EQ(after.topics[0].partitions[0].offline_replicas, (std::vector<BrokerId>{1}));
}

TEST_F(Requests, MetadataOfUnknownAndOfAllTopics) {
    const auto unknown = cluster.ask<wire::MetadataResponse>(1, metadata_request("u"), kMetadataVersion);
    ASSERT_TRUE(unknown);
    EXPECT_EQ(unknown->topics.at(0).error_code, ErrorCode::UnknownTopicOrPartition);
    wire::MetadataRequest all;
    all.topics.reset();
    const auto listed = cluster.ask<wire::MetadataResponse>(1, all, kMetadataVersion);
    ASSERT_TRUE(listed);
    EXPECT_EQ(listed->topics.size(), 1U);
    // Version 0 has no null: there an empty list means all. From version 1 on it means none.
    const wire::MetadataRequest empty;
    EXPECT_EQ(cluster.ask<wire::MetadataResponse>(1, empty, 0)->topics.size(), 1U);
    EXPECT_EQ(cluster.ask<wire::MetadataResponse>(1, empty, 1)->topics.size(), 0U);
}

TEST_F(Requests, ConsumersReadFollowersOnlySinceFetch11) {
    ASSERT_EQ(produce("t", 0, -1, batch_of({5}, 0)), ErrorCode::None);
    const auto fetch = [&](BrokerId at, std::int16_t version) {
        const auto answer = cluster.ask<wire::FetchResponse>(at, fetch_request("t", 0, 0, 0), version);
        EXPECT_TRUE(answer);
        return answer->responses.at(0).partitions.at(0).error_code;
    };
    EXPECT_EQ(fetch(1, 4), ErrorCode::None);
    EXPECT_EQ(fetch(2, 10), ErrorCode::NotLeaderOrFollower);
    EXPECT_EQ(fetch(2, 11), ErrorCode::None);
}

TEST_F(Requests, ListOffsetsShowsTheDebuggingConsumerTheLogEndOfAnyReplica) {
    ASSERT_EQ(produce("t", 0, -1, batch_of({5, 6, 7}, 0)), ErrorCode::None);
    const auto list = [&](BrokerId at, BrokerId replica_id, std::int64_t timestamp) {
        wire::ListOffsetsRequest request;
        request.replica_id = replica_id;
        auto& topic = request.topics.emplace_back();
        topic.name = "t";
        topic.partitions.push_back({0, -1, timestamp});
        const auto answer = cluster.ask<wire::ListOffsetsResponse>(at, request, kListOffsetsVersion);
        EXPECT_TRUE(answer);
        const auto& got = answer->topics.at(0).partitions.at(0);
        return std::pair(got.error_code, got.offset);
    };
    EXPECT_EQ(list(1, -1, -1), std::pair(ErrorCode::None, Offset{3}));
    EXPECT_EQ(list(1, -1, -2), std::pair(ErrorCode::None, Offset{0}));
    EXPECT_EQ(list(2, -2, -1), std::pair(ErrorCode::None, Offset{3}));
    EXPECT_EQ(list(2, -1, -1).first, ErrorCode::NotLeaderOrFollower);
}

TEST_F(Requests, CreateTopicsIsForwardedAndTheControllersRefusalPassedOn) {
    const auto again = cluster.ask<wire::CreateTopicsResponse>(2, create_topic_request("t", {{1, 2}}, {}),
                                                               kCreateTopicsVersion);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->topics.at(0).error_code, ErrorCode::TopicAlreadyExists);
}

TEST_F(Requests, CreateTopicsWithoutAControllerIsAnswered) {
    cluster.kill(kController);
    const auto answer = cluster.ask<wire::CreateTopicsResponse>(1, create_topic_request("u", {{1}}, {}),
                                                                kCreateTopicsVersion, "CLIENT", seconds(60));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->topics.at(0).error_code, ErrorCode::RequestTimedOut);
}

}  // namespace
}  // namespace highwater::test
