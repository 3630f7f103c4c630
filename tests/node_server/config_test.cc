// Configuration: Kafka's defaults, and for every mistake one message that names the place and the key.
#include "node/server/config.h"

#include <gtest/gtest.h>

namespace highwater::node {
namespace {

constexpr const char* kBroker =
    "process.roles=broker\n"
    "node.id=1\n"
    "controller.quorum.voters=100@c100:19094\n"
    "listeners=INTERNAL://127.1.1.1:19092,CLIENT://127.1.1.1:19093\n"
    "advertised.listeners=INTERNAL://b1:19092,CLIENT://b1:19093\n"
    "log.dirs=/data/1\n";

Result<NodeConfig> configured(const std::string& text) {
    const auto properties = parse_properties(text, "server.properties");
    if (!properties) return tl::make_unexpected(properties.error());
    return parse_config(*properties);
}

TEST(Config, DefaultsAreKafkas) {
    const auto config = configured(kBroker);
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->node_id, 1);
    EXPECT_FALSE(config->is_controller);
    EXPECT_EQ(config->controller.id, 100);
    EXPECT_EQ(config->controller.host, "c100");
    EXPECT_EQ(config->controller.port, 19094);
    EXPECT_EQ(config->broker_session_timeout, milliseconds(9000));
    EXPECT_EQ(config->broker_heartbeat_interval, milliseconds(2000));
    EXPECT_EQ(config->replica_lag_time_max, milliseconds(30000));
    EXPECT_EQ(config->replica_fetch_wait_max, milliseconds(500));
    EXPECT_EQ(config->replica_fetch_min_bytes, 1);
    EXPECT_EQ(config->replica_fetch_backoff, milliseconds(1000));
    EXPECT_EQ(config->replica_fetch_max_bytes, 1048576);
    EXPECT_EQ(config->high_watermark_checkpoint_interval, milliseconds(5000));
    EXPECT_EQ(config->min_insync_replicas, 1);
    EXPECT_FALSE(config->unclean_leader_election);
    EXPECT_EQ(config->unclean_election_interval, milliseconds(300000));
    EXPECT_EQ(config->default_replication_factor, 1);
    EXPECT_EQ(config->num_partitions, 1);
    EXPECT_EQ(config->message_max_bytes, 1048588);
    EXPECT_TRUE(config->controlled_shutdown);
    EXPECT_EQ(config->socket_request_max_bytes, 104857600);
    EXPECT_EQ(config->max_connections, INT32_MAX);
    EXPECT_EQ(config->max_connections_per_ip, INT32_MAX);
    EXPECT_EQ(config->queued_max_request_bytes, -1);
    EXPECT_EQ(config->connections_max_idle, milliseconds(600000));
    EXPECT_FALSE(config->allow_non_loopback);
    EXPECT_TRUE(config->bugs.empty());
    ASSERT_NE(config->advertised_listener("CLIENT"), nullptr);
    EXPECT_EQ(config->advertised_listener("CLIENT")->host, "b1");
    EXPECT_EQ(config->listener("CLIENT")->host, "127.1.1.1");
}

TEST(Config, WhatIsNotAdvertisedApartIsTheListenersThemselves) {
    const auto config = configured(
        "process.roles=controller\nnode.id=100\ncontroller.quorum.voters=100@c100:19094\n"
        "listeners=CONTROLLER://127.1.100.100:19094\nlog.dirs=/data/100\n");
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_TRUE(config->is_controller);
    EXPECT_EQ(config->advertised, config->listeners);
}

TEST(Config, CommentsBlankLinesAndSpacesAroundTheKey) {
    const auto properties = parse_properties("# one\n! two\n\n  node.id =  7 \r\n", "f");
    ASSERT_TRUE(properties) << properties.error().message;
    ASSERT_EQ(properties->size(), 1U);
    EXPECT_EQ(properties->at("node.id").value, "7");
    EXPECT_EQ(properties->at("node.id").origin, "f:4");
}

struct Mistake {
    const char* name;
    const char* line;  // appended to kBroker as its line 7
    const char* message;
};

class ConfigMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(ConfigMistakes, NamePlaceAndKey) {
    const auto config = configured(std::string(kBroker) + GetParam().line + "\n");
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, ConfigMistakes,
    ::testing::Values(
        Mistake{"Unknown", "replica.lag.max.ms=1", "server.properties:7: unknown key replica.lag.max.ms"},
        Mistake{"NoEquals", "node.id", "server.properties:7: 'node.id' is not key=value"},
        Mistake{"NoNumber", "num.partitions=three", "server.properties:7: num.partitions is no whole number"},
        Mistake{"TrailingText", "num.partitions=3x",
                "server.properties:7: num.partitions is no whole number"},
        Mistake{"Empty", "num.partitions=", "server.properties:7: num.partitions is no whole number"},
        Mistake{"TooLow", "min.insync.replicas=0",
                "server.properties:7: min.insync.replicas is 0, not in 1 to 2147483647"},
        Mistake{"QueuedBytes", "queued.max.request.bytes=-2",
                "server.properties:7: queued.max.request.bytes is -2, not in -1 to 9223372036854775807"},
        Mistake{"FrameLength", "socket.request.max.bytes=0",
                "server.properties:7: socket.request.max.bytes is 0, not in 1 to 2147483647"},
        Mistake{"Beyond64Bits", "broker.session.timeout.ms=99999999999999999999",
                "server.properties:7: broker.session.timeout.ms is no whole number"},
        Mistake{"Flag", "unclean.leader.election.enable=yes",
                "server.properties:7: unclean.leader.election.enable is 'yes', not true or false"},
        Mistake{"AutoCreate", "auto.create.topics.enable=true",
                "server.properties:7: auto.create.topics.enable is 'true'; only 'false' is supported"},
        Mistake{"Role", "process.roles=broker,controller",
                "server.properties:7: process.roles is 'broker,controller', not broker or controller"},
        Mistake{"Voters", "controller.quorum.voters=100@c100:1,101@c101:1",
                "server.properties:7: controller.quorum.voters names 2 voters; one controller is supported"},
        Mistake{"Voter", "controller.quorum.voters=c100:19094",
                "server.properties:7: controller.quorum.voters 'c100:19094' is not id@host:port"},
        Mistake{"Listener", "listeners=127.0.0.1:1",
                "server.properties:7: listeners '127.0.0.1:1' is not NAME://host:port"},
        Mistake{"Port", "listeners=INTERNAL://h:70000",
                "server.properties:7: listeners 'INTERNAL://h:70000': the port is 70000, not in 1 to 65535"},
        Mistake{"TwoListenersOfAName", "listeners=INTERNAL://h:1,INTERNAL://h:2",
                "server.properties:7: listeners names INTERNAL twice"},
        Mistake{
            "Security", "listener.security.protocol.map=CLIENT:SSL",
            "server.properties:7: listener.security.protocol.map 'CLIENT:SSL': only PLAINTEXT is supported"},
        Mistake{"NoInterBrokerListener", "inter.broker.listener.name=PEERS",
                "server.properties:7: inter.broker.listener.name is PEERS, but listeners has no PEERS"},
        Mistake{"AdvertisedOnly", "advertised.listeners=INTERNAL://b1:1,OTHER://b1:2",
                "server.properties:7: advertised.listeners names OTHER, but listeners has no OTHER"},
        Mistake{"InternalNotAdvertised", "advertised.listeners=CLIENT://b1:1",
                "server.properties:7: advertised.listeners has no INTERNAL, where the other brokers look for "
                "this one"},
        Mistake{"VoterIsABroker", "controller.quorum.voters=1@c100:19094",
                "server.properties:7: controller.quorum.voters names node 1, which is this broker"},
        Mistake{"ClusterId", "highwater.cluster.id=short",
                "server.properties:7: highwater.cluster.id uuid 'short' has 5 characters, not 22"}),
    [](const auto& mistake) { return mistake.param.name; });

TEST(Config, AKeyThatIsMissing) {
    for (const std::string key :
         {"process.roles", "node.id", "controller.quorum.voters", "listeners", "log.dirs"}) {
        std::string text = kBroker;
        const std::size_t at = text.find(key + "=");
        text.insert(at, "#");
        const auto config = configured(text);
        ASSERT_FALSE(config) << key;
        EXPECT_EQ(config.error().message, "the key " + key + " is missing");
    }
}

TEST(Config, AControllerIsTheVoterItNames) {
    const auto config = configured(
        "process.roles=controller\nnode.id=101\ncontroller.quorum.voters=100@c100:19094\n"
        "listeners=CONTROLLER://127.1.101.101:19094\nlog.dirs=/data/101\n");
    ASSERT_FALSE(config);
    EXPECT_EQ(
        config.error().message,
        "server.properties:3: controller.quorum.voters names node 100, but this controller is node 101");
}

TEST(Config, AnUnknownBugTellsThoseThatExist) {
    const auto config = configured(std::string(kBroker) + "highwater.bugs=no_such_bug\n");
    ASSERT_FALSE(config);
    EXPECT_NE(config.error().message.find("server.properties:7: highwater.bugs"), std::string::npos);
    EXPECT_NE(config.error().message.find("no_such_bug"), std::string::npos);
    EXPECT_NE(config.error().message.find("ack_on_append"), std::string::npos);
}

}  // namespace
}  // namespace highwater::node
