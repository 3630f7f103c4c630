// A broker whose controller is this test: what it does with answers that no controller of ours would give.
#include <gtest/gtest.h>

#include "node/log/memory_storage.h"
#include "node/server/cluster_metadata.h"
#include "node/server/make_server.h"
#include "tests/node_server/cluster.h"
#include "wire/messages/broker_heartbeat.h"
#include "wire/messages/broker_registration.h"
#include "wire/messages/fetch.h"
#include "wire/metadata_record.h"
#include "wire/record_batch.h"

namespace highwater::test {
namespace {

using wire::ApiKey;
using wire::ErrorCode;

class BrokerAlone : public ::testing::Test {
protected:
    void SetUp() override {
        const auto properties = node::parse_properties(Cluster(1).properties(1), "server.properties");
        const auto config = node::parse_config(*properties);
        ASSERT_TRUE(config) << config.error().message;
        auto made = node::make_server(now, 1, *config, storage, Rng(1));
        ASSERT_TRUE(made) << made.error().message;
        server = std::move(*made);
        step(node::Tick{});
    }

    void step(const node::Input& input) {
        server->step(now, 1, input);
        node::Ready ready = server->take_ready();
        for (std::string& line : ready.log) log.push_back(std::move(line));
        for (node::Event& event : ready.events) events.push_back(std::move(event));
        stopped = stopped || ready.stopped;
        for (const node::NetworkAction& action : ready.network) {
            if (const auto* open = std::get_if<node::Open>(&action)) opened.push_back(open->conn);
            if (const auto* send = std::get_if<node::Send>(&action)) {
                const auto frame = wire::decode_request_header(send->payload);
                ASSERT_TRUE(frame) << frame.error().message;
                asked.push_back({send->conn, frame->header, Bytes(frame->body.begin(), frame->body.end())});
            }
        }
        while (!opened.empty()) {
            const ConnId conn = opened.back();
            opened.pop_back();
            step(node::Connected{conn});
        }
    }

    struct Asked {
        ConnId conn = 0;
        wire::RequestHeader header;
        Bytes body;
    };
    /// The oldest unanswered request of this API; time passes until there is one.
    Asked await(ApiKey key) {
        for (int i = 0; i < 10'000; ++i) {
            for (auto it = asked.begin(); it != asked.end(); ++it) {
                if (it->header.api_key != key) continue;
                Asked found = *it;
                asked.erase(it);
                return found;
            }
            now = server->deadline();
            step(node::Tick{});
        }
        ADD_FAILURE() << "no " << wire::api_name(key) << " was sent";
        return {};
    }
    template <class Response>
    void answer(const Asked& to, const Response& response) {
        step(node::FrameReceived{
            to.conn, wire::encode_response(response, to.header.api_version, to.header.correlation_id)});
    }
    void register_at(BrokerEpoch epoch) {
        wire::BrokerRegistrationResponse response;
        response.broker_epoch = epoch;
        answer(await(ApiKey::BrokerRegistration), response);
    }
    static wire::FetchResponse metadata(Bytes records, ErrorCode error = ErrorCode::None) {
        wire::FetchResponse response;
        auto& topic = response.responses.emplace_back();
        topic.topic_id = node::kClusterMetadataTopicId;
        auto& partition = topic.partitions.emplace_back();
        partition.error_code = error;
        partition.records = std::move(records);
        return response;
    }
    [[nodiscard]] int lines_with(const std::string& part) const {
        int count = 0;
        for (const std::string& line : log) count += line.find(part) != std::string::npos ? 1 : 0;
        return count;
    }

    Instant now{1'000'000'000};
    node::MemoryStorage storage;
    std::unique_ptr<node::Server> server;
    std::vector<ConnId> opened;
    std::vector<Asked> asked;
    std::vector<std::string> log;
    std::vector<node::Event> events;
    bool stopped = false;
};

TEST_F(BrokerAlone, AMetadataLogThatContradictsItselfStopsTheBroker) {
    register_at(7);
    wire::PartitionChangeRecord of_no_topic;
    of_no_topic.topic_id = Uuid{{1}};
    wire::Record record;
    record.value = wire::encode_metadata_record(of_no_topic, 0);
    wire::BatchSpec spec;
    spec.leader_epoch = 1;
    spec.records.push_back(record);
    answer(await(ApiKey::Fetch), metadata(wire::encode_batch(spec)));
    EXPECT_TRUE(stopped) << "it would go on in roles that it cannot know";
    ASSERT_FALSE(events.empty());
    const auto* last = std::get_if<node::ServerEvent>(&events.back());
    ASSERT_NE(last, nullptr);
    ASSERT_TRUE(std::holds_alternative<node::ServerStopped>(*last));
    EXPECT_FALSE(std::get<node::ServerStopped>(*last).clean);
    EXPECT_EQ(lines_with("ERROR metadata"), 1);
}

TEST_F(BrokerAlone, AMetadataFetchThatFailsIsToldOnceAndPaced) {
    register_at(7);
    const Instant begun = now;
    for (int i = 0; i < 20; ++i) answer(await(ApiKey::Fetch), metadata({}, ErrorCode::OffsetOutOfRange));
    EXPECT_EQ(lines_with("metadata fetch: OFFSET_OUT_OF_RANGE"), 1);
    EXPECT_GE(now - begun, Duration(milliseconds(19 * 100)));
    EXPECT_FALSE(stopped);
}

TEST_F(BrokerAlone, AFencedMetadataEpochIsAskedAgainWithoutOneButWithWhereTheLogStands) {
    register_at(7);
    wire::FeatureLevelRecord feature;
    feature.name = "metadata.version";
    feature.feature_level = 25;
    wire::Record record;
    record.value = wire::encode_metadata_record(feature, 0);
    wire::BatchSpec spec;
    spec.leader_epoch = 3;
    spec.records.push_back(record);
    answer(await(ApiKey::Fetch), metadata(wire::encode_batch(spec)));
    const auto partition_of = [](const Asked& one) {
        return wire::decode<wire::FetchRequest>(one.body, one.header.api_version)
            ->topics.at(0)
            .partitions.at(0);
    };
    const Asked second = await(ApiKey::Fetch);
    EXPECT_EQ(partition_of(second).current_leader_epoch, 3);
    EXPECT_EQ(partition_of(second).fetch_offset, 1);
    answer(second, metadata({}, ErrorCode::FencedLeaderEpoch));
    const Asked third = await(ApiKey::Fetch);
    EXPECT_EQ(partition_of(third).current_leader_epoch, kNoEpoch);
    EXPECT_EQ(partition_of(third).last_fetched_epoch, 3);
}

TEST_F(BrokerAlone, AHeartbeatThatIsRefusedForAnotherReasonIsTold) {
    register_at(7);
    wire::BrokerHeartbeatResponse refused;
    refused.error_code = ErrorCode::UnknownServerError;
    answer(await(ApiKey::BrokerHeartbeat), refused);
    EXPECT_EQ(lines_with("WARN heartbeat: UNKNOWN_SERVER_ERROR"), 1);
}

TEST_F(BrokerAlone, AStaleBrokerEpochRegistersANewIncarnation) {
    const Asked first = await(ApiKey::BrokerRegistration);
    const auto first_body =
        wire::decode<wire::BrokerRegistrationRequest>(first.body, first.header.api_version);
    ASSERT_TRUE(first_body);
    wire::BrokerRegistrationResponse response;
    response.broker_epoch = 7;
    answer(first, response);
    wire::BrokerHeartbeatResponse stale;
    stale.error_code = ErrorCode::StaleBrokerEpoch;
    answer(await(ApiKey::BrokerHeartbeat), stale);
    const Asked second = await(ApiKey::BrokerRegistration);
    const auto second_body =
        wire::decode<wire::BrokerRegistrationRequest>(second.body, second.header.api_version);
    ASSERT_TRUE(second_body);
    EXPECT_NE(first_body->incarnation_id, second_body->incarnation_id);
}

TEST_F(BrokerAlone, AnswersThatCannotBeDecodedAreAskedAgain) {
    const Asked first = await(ApiKey::BrokerRegistration);
    step(node::FrameReceived{first.conn, Bytes{0, 0, 0, 1, 9}});
    register_at(7);
    const Asked fetch = await(ApiKey::Fetch);
    step(node::FrameReceived{fetch.conn, Bytes{}});
    answer(await(ApiKey::Fetch), metadata({}));
    const Asked heartbeat = await(ApiKey::BrokerHeartbeat);
    step(node::FrameReceived{heartbeat.conn, Bytes(3, 0xff)});
    await(ApiKey::BrokerHeartbeat);
    EXPECT_FALSE(stopped);
}

}  // namespace
}  // namespace highwater::test
