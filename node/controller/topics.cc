// CreateTopics: explicit assignments, or replicas spread over the brokers, with the configs that replication
// obeys.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "node/controller/state.h"
#include "node/controller/topic_config.h"

namespace highwater::node {
namespace {

using Asked = wire::CreateTopicsRequest::CreatableTopic;
using Answer = wire::CreateTopicsResponse::CreatableTopicResult;
using wire::ErrorCode;
/// Replicas of each partition, from partition 0.
using Assignment = std::vector<std::vector<BrokerId>>;

constexpr std::int8_t kTopicResource = 2;
constexpr std::size_t kMaxNameLength = 249;
/// Records of one request, which are one batch.
constexpr std::size_t kMaxRecords = 10000;
/// A replica in no directory yet.
const Uuid kUnassigned = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

struct Refusal {
    ErrorCode code;
    std::string message;
};
using Checked = std::optional<Refusal>;

Refusal too_large() {
    return {ErrorCode::PolicyViolation,
            fmt::format("one request may write {} metadata records", kMaxRecords)};
}

// -- names and configs --------------------------------------------------------------------------------------

bool is_legal_letter(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '.' || letter == '_' || letter == '-';
}

/// Metric names cannot tell '.' from '_', so neither may two topics.
std::string without_dots(std::string name) {
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

Checked check_name(const MetadataImage& image, const std::string& name) {
    if (name == "__cluster_metadata")
        return Refusal{ErrorCode::InvalidRequest, name + " is the controllers' own topic"};
    if (image.topic(name) != nullptr)
        return Refusal{ErrorCode::TopicAlreadyExists, fmt::format("Topic '{}' already exists.", name)};
    const auto illegal = [&](const std::string& why) {
        return Refusal{ErrorCode::InvalidTopicException,
                       fmt::format("\"{}\" cannot name a topic: {}", name, why)};
    };
    if (name.empty() || name == "." || name == "..") return illegal("empty, . and .. are taken");
    if (name.size() > kMaxNameLength)
        return illegal(fmt::format("{} characters, at most {}", name.size(), kMaxNameLength));
    if (!std::all_of(name.begin(), name.end(), is_legal_letter))
        return illegal("letters, digits, . _ - only");
    for (const auto& [other, topic] : image.topics()) {
        if (without_dots(other) == without_dots(name))
            return illegal(fmt::format("it differs from {} only in . and _", other));
    }
    return std::nullopt;
}

Checked check_configs(const Asked& asked) {
    for (const auto& config : asked.configs) {
        if (!config.value) return Refusal{ErrorCode::InvalidConfig, config.name + " has no value"};
        if (auto error = topic_config_error(config.name, *config.value))
            return Refusal{ErrorCode::InvalidConfig, *error};
    }
    return std::nullopt;
}

// -- replicas -----------------------------------------------------------------------------------------------

bool has_active(const MetadataImage& image, const std::vector<BrokerId>& replicas) {
    return std::any_of(replicas.begin(), replicas.end(), [&](BrokerId id) {
        const BrokerImage* broker = image.broker(id);
        return broker != nullptr && broker->active();
    });
}

Checked check_replicas(const MetadataImage& image, const std::vector<BrokerId>& replicas,
                       std::optional<std::size_t> factor) {
    const auto refuse = [&](const std::string& why) {
        return Refusal{ErrorCode::InvalidReplicaAssignment, fmt::format("replicas {}: {}", replicas, why)};
    };
    if (replicas.empty()) return refuse("there must be one at least");
    std::set<BrokerId> distinct;
    for (const BrokerId id : replicas) {
        if (image.broker(id) == nullptr) return refuse(fmt::format("broker {} is not registered", id));
        if (!distinct.insert(id).second) return refuse(fmt::format("broker {} is there twice", id));
    }
    if (factor && replicas.size() != *factor) return refuse(fmt::format("other partitions have {}", *factor));
    if (!has_active(image, replicas)) return refuse("all of them are fenced or shutting down");
    return std::nullopt;
}

Checked given_assignment(const MetadataImage& image, const Asked& asked, Assignment& assignment) {
    if (asked.replication_factor != -1 || asked.num_partitions != -1) {
        return Refusal{ErrorCode::InvalidRequest,
                       "with an assignment, replication factor and number of partitions must both be -1"};
    }
    std::map<std::int32_t, std::vector<BrokerId>> partitions;
    std::optional<std::size_t> factor;
    for (const auto& given : asked.assignments) {
        if (partitions.contains(given.partition_index)) {
            return Refusal{ErrorCode::InvalidReplicaAssignment,
                           fmt::format("partition {} is there twice", given.partition_index)};
        }
        if (Checked refusal = check_replicas(image, given.broker_ids, factor)) return refusal;
        factor = given.broker_ids.size();
        partitions[given.partition_index] = given.broker_ids;
    }
    if (partitions.begin()->first != 0 ||
        static_cast<std::size_t>(partitions.rbegin()->first) != partitions.size() - 1) {
        return Refusal{ErrorCode::InvalidReplicaAssignment,
                       "partitions must be numbered 0, 1, 2 … without a gap"};
    }
    for (auto& [index, replicas] : partitions) assignment.push_back(std::move(replicas));
    return std::nullopt;
}

/// Round robin from a random start: partition p begins one broker after p - 1. Active brokers come first,
/// because the first replica leads; fenced ones are taken only when those do not suffice.
Checked spread_assignment(const MetadataImage& image, const ControllerSettings& settings, Rng& rng,
                          const Asked& asked, Assignment& assignment) {
    if (asked.replication_factor < -1 || asked.replication_factor == 0) {
        return Refusal{ErrorCode::InvalidReplicationFactor,
                       "the replication factor must be above 0, or -1 for the default"};
    }
    if (asked.num_partitions < -1 || asked.num_partitions == 0) {
        return Refusal{ErrorCode::InvalidPartitions,
                       "the number of partitions must be above 0, or -1 for the default"};
    }
    const std::int32_t wanted =
        asked.replication_factor == -1 ? settings.default_replication_factor : asked.replication_factor;
    const std::int32_t partitions =
        asked.num_partitions == -1 ? settings.num_partitions : asked.num_partitions;
    const auto factor = static_cast<std::size_t>(wanted);
    std::vector<BrokerId> active;
    std::vector<BrokerId> fenced;
    for (const auto& [id, broker] : image.brokers()) {
        if (broker.active()) active.push_back(id);
        if (broker.fenced && !broker.in_controlled_shutdown) fenced.push_back(id);
    }
    if (active.empty())
        return Refusal{ErrorCode::InvalidReplicationFactor, "every broker is fenced or shutting down"};
    if (factor > active.size() + fenced.size()) {
        return Refusal{
            ErrorCode::InvalidReplicationFactor,
            fmt::format("{} replicas, but {} brokers are there", factor, active.size() + fenced.size())};
    }
    if (static_cast<std::size_t>(partitions) > kMaxRecords) return too_large();
    const auto start = static_cast<std::size_t>(rng.below(active.size()));
    for (std::size_t index = 0; index < static_cast<std::size_t>(partitions); ++index) {
        std::vector<BrokerId> replicas;
        for (std::size_t i = 0; i < factor; ++i) {
            const std::vector<BrokerId>& from = i < active.size() ? active : fenced;
            replicas.push_back(from[(start + index + i) % from.size()]);
        }
        assignment.push_back(std::move(replicas));
    }
    return std::nullopt;
}

// -- records and answers ------------------------------------------------------------------------------------

wire::PartitionRecord partition_record(const MetadataImage& image, const Uuid& topic_id, std::int32_t index,
                                       const std::vector<BrokerId>& replicas) {
    wire::PartitionRecord record;
    record.topic_id = topic_id;
    record.partition_id = index;
    record.replicas = replicas;
    for (const BrokerId id : replicas) {
        const BrokerImage& broker = *image.broker(id);
        if (broker.active()) record.isr.push_back(id);
        // With several directories the broker chooses, and tells later.
        record.directories.push_back(broker.log_dirs.size() == 1 ? broker.log_dirs.front() : kUnassigned);
    }
    record.leader = record.isr.front();
    record.leader_epoch = 0;
    record.partition_epoch = 0;
    return record;
}

/// As after any change of min.insync.replicas, though there is nothing to clear yet.
void add_clear_elr(Records& records, const MetadataImage& image, const Asked& asked) {
    if (image.feature_level(kEligibleLeaderReplicas) == 0) return;
    for (const auto& config : asked.configs) {
        if (config.name != kMinInsyncReplicas) continue;
        wire::ClearElrRecord clear;
        clear.topic_name = asked.name;
        records.emplace_back(std::move(clear));
    }
}

void add_topic(Records& records, const MetadataImage& image, const Asked& asked, const Uuid& id,
               const Assignment& assignment) {
    wire::TopicRecord topic;
    topic.name = asked.name;
    topic.topic_id = id;
    records.emplace_back(std::move(topic));
    for (const auto& config : asked.configs) {
        wire::ConfigRecord record;
        record.resource_type = kTopicResource;
        record.resource_name = asked.name;
        record.name = config.name;
        record.value = config.value;
        records.emplace_back(std::move(record));
    }
    add_clear_elr(records, image, asked);
    for (std::size_t index = 0; index < assignment.size(); ++index) {
        records.emplace_back(
            partition_record(image, id, static_cast<std::int32_t>(index), assignment[index]));
    }
}

/// The configs as they will hold: the topic's own, else this controller's.
std::vector<Answer::CreatableTopicConfigs> effective_configs(const MetadataImage& image,
                                                             const ControllerSettings& settings,
                                                             const Asked& asked) {
    constexpr std::int8_t kTopicSource = 1;
    constexpr std::int8_t kClusterSource = 3;
    constexpr std::int8_t kStaticBrokerSource = 4;
    std::map<std::string, Answer::CreatableTopicConfigs> configs;
    const auto set = [&](const std::string& name, const std::string& value, std::int8_t source) {
        Answer::CreatableTopicConfigs& config = configs[name];
        config.name = name;
        config.value = value;
        config.config_source = source;
    };
    set(kMinInsyncReplicas, std::to_string(cluster_min_insync_replicas(image, settings.min_insync_replicas)),
        image.cluster_configs().contains(kMinInsyncReplicas) ? kClusterSource : kStaticBrokerSource);
    set(kUncleanLeaderElectionEnable, settings.unclean_leader_election ? "true" : "false",
        kStaticBrokerSource);
    for (const auto& config : asked.configs) set(config.name, *config.value, kTopicSource);
    std::vector<Answer::CreatableTopicConfigs> list;
    for (auto& [name, config] : configs) list.push_back(std::move(config));
    return list;
}

void refuse(Answer& answer, const Refusal& refusal) {
    answer.error_code = refusal.code;
    answer.error_message = refusal.message;
}

}  // namespace

wire::CreateTopicsResponse Controller::handle(Instant, std::int64_t wall_ms,
                                              const wire::CreateTopicsRequest& request) {
    State& state = *state_;
    wire::CreateTopicsResponse response;
    std::map<std::string, std::size_t> times;
    for (const Asked& asked : request.topics) times[asked.name] += 1;
    Records records;
    for (const Asked& asked : request.topics) {
        // A topic that is there twice is answered once, where it comes first.
        if (times[asked.name] == 0) continue;
        Answer& answer = response.topics.emplace_back();
        answer.name = asked.name;
        answer.error_message = std::nullopt;
        if (std::exchange(times[asked.name], 0) > 1) {
            refuse(answer, {ErrorCode::InvalidRequest, fmt::format("topic {} is there twice", asked.name)});
            continue;
        }
        Assignment assignment;
        Checked refusal = check_name(state.image, asked.name);
        if (!refusal) refusal = check_configs(asked);
        if (!refusal && !asked.assignments.empty())
            refusal = given_assignment(state.image, asked, assignment);
        if (!refusal && asked.assignments.empty()) {
            refusal = spread_assignment(state.image, state.settings, state.rng, asked, assignment);
        }
        const std::size_t size = 1 + asked.configs.size() + assignment.size();
        if (!refusal && records.size() + size > kMaxRecords) refusal = too_large();
        if (refusal) {
            refuse(answer, *refusal);
            continue;
        }
        answer.topic_id = state.rng.uuid();
        answer.num_partitions = static_cast<std::int32_t>(assignment.size());
        answer.replication_factor = static_cast<std::int16_t>(assignment.front().size());
        answer.configs = effective_configs(state.image, state.settings, asked);
        add_topic(records, state.image, asked, answer.topic_id, assignment);
    }
    const bool created = request.validate_only ? !state.fatal : state.commit(wall_ms, records, {"created"});
    if (created) return response;
    for (Answer& answer : response.topics) {
        if (answer.error_code != ErrorCode::None) continue;
        refuse(answer, {ErrorCode::UnknownServerError, state.fatal->message});
    }
    return response;
}

}  // namespace highwater::node
