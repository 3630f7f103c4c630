// IncrementalAlterConfigs: configs of topics are set and removed one by one; brokers obey from the record on.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "node/controller/state.h"
#include "node/controller/topic_config.h"

namespace highwater::node {
namespace {

using wire::ErrorCode;
using Resource = wire::IncrementalAlterConfigsRequest::AlterConfigsResource;
using Change = Resource::AlterableConfig;
using Answer = wire::IncrementalAlterConfigsResponse::AlterConfigsResourceResponse;
using Configs = std::map<std::string, std::string>;

constexpr std::int8_t kTopicResource = 2;
constexpr std::int8_t kBrokerResource = 4;

enum Operation : std::int8_t { kSet = 0, kDelete = 1, kAppend = 2, kSubtract = 3 };

struct Refusal {
    ErrorCode code;
    std::string message;
};
using Checked = std::optional<Refusal>;

std::vector<std::string> split_list(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        if (comma > at) parts.push_back(text.substr(at, comma - at));
        at = comma + 1;
    }
    return parts;
}

/// `list` with the items of `change` that are not in it, or without those that are.
std::string changed_list(const std::string& list, const std::string& change, bool append) {
    std::vector<std::string> items = split_list(list);
    for (const std::string& item : split_list(change)) {
        const bool there = std::find(items.begin(), items.end(), item) != items.end();
        if (append && !there) items.push_back(item);
        if (!append && there) std::erase(items, item);
    }
    std::string text;
    for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
    return text;
}

Checked apply(const Change& change, Configs& configs) {
    if (change.config_operation == kDelete) {
        // Also one that this node does not know: it may come from a newer one's log.
        configs.erase(change.name);
        return std::nullopt;
    }
    if (change.config_operation < kSet || change.config_operation > kSubtract) {
        return Refusal{ErrorCode::InvalidRequest,
                       fmt::format("{}: operation {} is none", change.name, change.config_operation)};
    }
    if (!change.value) return Refusal{ErrorCode::InvalidRequest, change.name + " has no value"};
    std::string value = *change.value;
    if (change.config_operation != kSet) {
        const bool append = change.config_operation == kAppend;
        const TopicConfigKey* key = find_topic_config(change.name);
        if (key != nullptr && key->type != ConfigType::List) {
            return Refusal{ErrorCode::InvalidConfig,
                           fmt::format("nothing can be {} {}: it is no list",
                                       append ? "appended to" : "subtracted from", change.name)};
        }
        const auto known = configs.find(change.name);
        const std::string now = known != configs.end() ? known->second : key == nullptr ? "" : key->otherwise;
        value = changed_list(now, value, append);
    }
    if (auto error = topic_config_error(change.name, value)) return Refusal{ErrorCode::InvalidConfig, *error};
    configs[change.name] = value;
    return std::nullopt;
}

Checked apply_all(const Resource& resource, Configs& configs) {
    std::set<std::string> names;
    for (const Change& change : resource.configs) {
        if (!names.insert(change.name).second)
            return Refusal{ErrorCode::InvalidRequest, change.name + " is there twice"};
        if (Checked refusal = apply(change, configs)) return refusal;
    }
    return std::nullopt;
}

/// Every config of a broker is static here. Kafka's words, as people search for them.
Checked refuse_broker_configs(const Resource& resource) {
    std::set<std::string> names;
    for (const Change& change : resource.configs) {
        if (change.config_operation != kDelete) names.insert(change.name);
    }
    if (names.empty()) return std::nullopt;
    return Refusal{ErrorCode::InvalidRequest,
                   fmt::format("Cannot update these configs dynamically: [{}]", fmt::join(names, ", "))};
}

void add_records(Records& records, const TopicImage& topic, const Configs& target, bool elr_enabled) {
    bool min_isr_changes = false;
    const auto add = [&](const std::string& name, std::optional<std::string> value) {
        wire::ConfigRecord record;
        record.resource_type = kTopicResource;
        record.resource_name = topic.name;
        record.name = name;
        record.value = std::move(value);
        records.emplace_back(std::move(record));
        min_isr_changes = min_isr_changes || name == kMinInsyncReplicas;
    };
    for (const auto& [name, value] : topic.configs) {
        if (!target.contains(name)) add(name, std::nullopt);
    }
    for (const auto& [name, value] : target) {
        const auto before = topic.configs.find(name);
        if (before == topic.configs.end() || before->second != value) add(name, value);
    }
    if (!elr_enabled || !min_isr_changes) return;
    wire::ClearElrRecord clear;
    clear.topic_name = topic.name;
    records.emplace_back(std::move(clear));
}

}  // namespace

wire::IncrementalAlterConfigsResponse Controller::handle(
    Instant, std::int64_t wall_ms, const wire::IncrementalAlterConfigsRequest& request) {
    State& state = *state_;
    wire::IncrementalAlterConfigsResponse response;
    std::map<std::pair<std::int8_t, std::string>, int> times;
    for (const Resource& one : request.resources) times[{one.resource_type, one.resource_name}] += 1;
    Records records;
    for (const Resource& resource : request.resources) {
        Answer& answer = response.responses.emplace_back();
        answer.error_message = std::nullopt;
        answer.resource_type = resource.resource_type;
        answer.resource_name = resource.resource_name;
        const TopicImage* topic = state.image.topic(resource.resource_name);
        Checked refusal;
        Configs configs;
        if (times.at({resource.resource_type, resource.resource_name}) > 1) {
            refusal = Refusal{ErrorCode::InvalidRequest, "a resource may be there once only"};
        } else if (resource.resource_type == kBrokerResource) {
            refusal = refuse_broker_configs(resource);
        } else if (resource.resource_type != kTopicResource) {
            refusal = Refusal{ErrorCode::InvalidRequest, "only configs of topics and brokers can be altered"};
        } else if (topic == nullptr) {
            refusal = Refusal{ErrorCode::UnknownTopicOrPartition,
                              fmt::format("there is no topic {}", resource.resource_name)};
        } else {
            configs = topic->configs;
            refusal = apply_all(resource, configs);
        }
        if (refusal) {
            answer.error_code = refusal->code;
            answer.error_message = refusal->message;
        } else if (topic != nullptr && resource.resource_type == kTopicResource) {
            add_records(records, *topic, configs, state.elr_enabled());
        }
    }
    const bool done = request.validate_only ? !state.fatal : state.commit(wall_ms, records, {kCauseConfig});
    if (done) return response;
    for (Answer& answer : response.responses) {
        if (answer.error_code != ErrorCode::None) continue;
        answer.error_code = ErrorCode::UnknownServerError;
        answer.error_message = state.fatal->message;
    }
    return response;
}

}  // namespace highwater::node
