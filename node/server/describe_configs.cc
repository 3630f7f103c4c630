// DescribeConfigs: what holds for a topic or for this broker, and where each value comes from.
#include <algorithm>

#include "node/controller/topic_config.h"
#include "node/server/broker_state.h"

namespace highwater::node {
namespace {

using wire::ErrorCode;
using Asked = wire::DescribeConfigsRequest::DescribeConfigsResource;
using Described = wire::DescribeConfigsResponse::DescribeConfigsResult;
using Config = Described::DescribeConfigsResourceResult;

constexpr std::int8_t kTopicResource = 2;
constexpr std::int8_t kBrokerResource = 4;

enum Source : std::int8_t { kDynamicTopic = 1, kDynamicCluster = 3, kStaticBroker = 4, kDefault = 5 };
using Configs = std::map<std::string, std::string>;

bool is_wanted(const Asked& asked, const std::string& name) {
    const auto& keys = asked.configuration_keys;
    return !keys || keys->empty() || std::find(keys->begin(), keys->end(), name) != keys->end();
}

/// `synonyms` come in the order in which they are looked at: the first one holds.
Config config_of(const std::string& name, ConfigType type,
                 std::vector<Config::DescribeConfigsSynonym> synonyms, bool read_only, bool with_synonyms) {
    Config config;
    config.name = name;
    config.config_type = static_cast<std::int8_t>(type);
    config.value = synonyms.front().value;
    config.config_source = synonyms.front().source;
    config.read_only = read_only;
    config.documentation = std::nullopt;
    if (with_synonyms) config.synonyms = std::move(synonyms);
    return config;
}

void describe_broker(const NodeConfig& config, const Configs& of_cluster, const Asked& asked,
                     bool with_synonyms, Described& result) {
    for (const ConfigEntry& entry : describe_config(config)) {
        if (!is_wanted(asked, entry.name)) continue;
        std::vector<Config::DescribeConfigsSynonym> synonyms;
        const auto cluster = of_cluster.find(entry.name);
        if (cluster != of_cluster.end()) synonyms.push_back({entry.name, cluster->second, kDynamicCluster});
        if (entry.given) synonyms.push_back({entry.name, entry.value, kStaticBroker});
        if (entry.default_value) synonyms.push_back({entry.name, *entry.default_value, kDefault});
        result.configs.push_back(config_of(entry.name, entry.type, std::move(synonyms), true, with_synonyms));
    }
}

void describe_topic(const NodeConfig& config, const Configs& of_cluster, const TopicImage& topic,
                    const Asked& asked, bool with_synonyms, Described& result) {
    const std::vector<ConfigEntry> of_broker = describe_config(config);
    for (const TopicConfigKey& key : topic_config_keys()) {
        if (!is_wanted(asked, key.name)) continue;
        std::vector<Config::DescribeConfigsSynonym> synonyms;
        if (const auto own = topic.configs.find(key.name); own != topic.configs.end())
            synonyms.push_back({key.name, own->second, kDynamicTopic});
        if (const auto cluster = of_cluster.find(key.broker_key); cluster != of_cluster.end())
            synonyms.push_back({key.broker_key, cluster->second, kDynamicCluster});
        const auto entry = std::find_if(of_broker.begin(), of_broker.end(),
                                        [&](const ConfigEntry& one) { return one.name == key.broker_key; });
        if (entry != of_broker.end() && entry->given)
            synonyms.push_back({key.broker_key, entry->value, kStaticBroker});
        synonyms.push_back({key.broker_key, key.otherwise, kDefault});
        result.configs.push_back(config_of(key.name, key.type, std::move(synonyms), false, with_synonyms));
    }
}

}  // namespace

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::DescribeConfigsRequest& request) {
    wire::DescribeConfigsResponse response;
    for (const Asked& asked : request.resources) {
        Described& result = response.results.emplace_back();
        result.resource_type = asked.resource_type;
        result.resource_name = asked.resource_name;
        result.error_message = std::nullopt;
        const auto refuse = [&](ErrorCode code, std::string why) {
            result.error_code = code;
            result.error_message = std::move(why);
        };
        if (asked.resource_type == kTopicResource) {
            const TopicImage* topic = image.topic(asked.resource_name);
            if (topic != nullptr)
                describe_topic(config, image.cluster_configs(), *topic, asked, request.include_synonyms,
                               result);
            else
                refuse(ErrorCode::UnknownTopicOrPartition,
                       fmt::format("there is no topic {}", asked.resource_name));
        } else if (asked.resource_type != kBrokerResource) {
            refuse(ErrorCode::InvalidRequest, "only topics and brokers have configs here");
        } else if (asked.resource_name == std::to_string(config.node_id)) {
            describe_broker(config, image.cluster_configs(), asked, request.include_synonyms, result);
        } else if (!asked.resource_name.empty()) {
            // The empty name means defaults of all brokers set by AlterConfigs: there are none.
            refuse(ErrorCode::InvalidRequest, fmt::format("this is broker {}", config.node_id));
        }
    }
    inbound.answer(id, wire::encode_response(response, header.api_version, header.correlation_id));
}

}  // namespace highwater::node
