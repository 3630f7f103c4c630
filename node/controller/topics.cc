// CreateTopics: explicit assignments or a spread over the live brokers, with the two configs that replication obeys.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "node/controller/state.h"

namespace highwater::node {
namespace {

using Asked = wire::CreateTopicsRequest::CreatableTopic;
using Answer = wire::CreateTopicsResponse::CreatableTopicResult;
using Assignment = std::vector<std::vector<BrokerId>>;

constexpr std::int8_t kTopicResource = 2;
constexpr std::size_t kMaxNameLength = 249;

struct Refusal {
    wire::ErrorCode code;
    std::string message;
};

std::optional<Refusal> check_name(const std::string& name) {
    const bool legal = !name.empty() && name.size() <= kMaxNameLength && name != "." && name != ".." &&
                       std::all_of(name.begin(), name.end(), [](unsigned char c) {
                           return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
                       });
    if (legal) return std::nullopt;
    return Refusal{wire::ErrorCode::InvalidTopicException, fmt::format("topic name '{}' is illegal", name)};
}

std::optional<Refusal> check_config(const std::string& name, const std::string& value) {
    if (name == "min.insync.replicas") {
        std::int32_t number = 0;
        const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (status == std::errc{} && end == value.data() + value.size() && number >= 1) return std::nullopt;
        return Refusal{wire::ErrorCode::InvalidConfig, fmt::format("{} is '{}', not a whole number from 1", name, value)};
    }
    if (name == "unclean.leader.election.enable") {
        if (value == "true" || value == "false") return std::nullopt;
        return Refusal{wire::ErrorCode::InvalidConfig, fmt::format("{} is '{}', not true or false", name, value)};
    }
    return Refusal{wire::ErrorCode::InvalidConfig, fmt::format("{} is not supported here", name)};
}

std::optional<Refusal> explicit_assignment(const Asked& topic, const MetadataImage& image, Assignment& into) {
    const auto refuse = [&](const std::string& why) {
        return Refusal{wire::ErrorCode::InvalidReplicaAssignment, why};
    };
    into.resize(topic.assignments.size());
    for (const auto& assignment : topic.assignments) {
        const auto index = static_cast<std::size_t>(assignment.partition_index);
        if (index >= into.size() || !into[index].empty()) {
            return refuse(fmt::format("partition {} is not one of 0 to {}, each once", assignment.partition_index, into.size() - 1));
        }
        const std::set<BrokerId> distinct(assignment.broker_ids.begin(), assignment.broker_ids.end());
        if (distinct.empty() || distinct.size() != assignment.broker_ids.size()) {
            return refuse(fmt::format("partition {} has no replicas, or one twice", assignment.partition_index));
        }
        for (const BrokerId id : distinct) {
            if (image.broker(id) == nullptr) return refuse(fmt::format("broker {} is not registered", id));
        }
        into[index] = assignment.broker_ids;
    }
    return std::nullopt;
}

std::optional<Refusal> spread(std::int32_t partitions, std::int32_t factor, const MetadataImage& image, Assignment& into) {
    std::vector<BrokerId> live;
    for (const auto& [id, broker] : image.brokers()) {
        if (!broker.fenced && !broker.in_controlled_shutdown) live.push_back(id);
    }
    if (partitions < 1) return Refusal{wire::ErrorCode::InvalidPartitions, fmt::format("{} partitions", partitions)};
    if (factor < 1 || factor > static_cast<std::int32_t>(live.size())) {
        return Refusal{wire::ErrorCode::InvalidReplicationFactor,
                       fmt::format("replication factor {} with {} live brokers", factor, live.size())};
    }
    for (std::int32_t partition = 0; partition < partitions; ++partition) {
        std::vector<BrokerId> replicas;
        for (std::int32_t i = 0; i < factor; ++i) {
            replicas.push_back(live[static_cast<std::size_t>(partition + i) % live.size()]);
        }
        into.push_back(std::move(replicas));
    }
    return std::nullopt;
}

}  // namespace

wire::CreateTopicsResponse Controller::handle(Instant, std::int64_t wall_ms, const wire::CreateTopicsRequest& request) {
    State& state = *state_;
    wire::CreateTopicsResponse response;
    for (const Asked& asked : request.topics) {
        Answer& answer = response.topics.emplace_back();
        answer.name = asked.name;
        Assignment assignment;
        std::optional<Refusal> refusal = check_name(asked.name);
        if (!refusal && state.image.topic(asked.name) != nullptr) {
            refusal = Refusal{wire::ErrorCode::TopicAlreadyExists, fmt::format("topic '{}' exists", asked.name)};
        }
        if (!refusal && !asked.assignments.empty()) {
            refusal = explicit_assignment(asked, state.image, assignment);
        } else if (!refusal) {
            const std::int32_t partitions = asked.num_partitions == -1 ? state.settings.num_partitions : asked.num_partitions;
            const std::int32_t factor =
                asked.replication_factor == -1 ? state.settings.default_replication_factor : asked.replication_factor;
            refusal = spread(partitions, factor, state.image, assignment);
        }
        for (const auto& config : asked.configs) {
            if (!refusal) refusal = check_config(config.name, config.value.value_or(""));
        }
        if (refusal) {
            answer.error_code = refusal->code;
            answer.error_message = refusal->message;
            continue;
        }
        answer.num_partitions = static_cast<std::int32_t>(assignment.size());
        answer.replication_factor = static_cast<std::int16_t>(assignment.front().size());
        if (request.validate_only) continue;
        answer.topic_id = state.create_topic(wall_ms, asked.name, assignment, asked.configs);
    }
    return response;
}

Uuid Controller::State::create_topic(std::int64_t wall_ms, const std::string& name, const Assignment& assignment,
                                     const std::vector<Asked::CreatableTopicConfig>& configs) {
    const Uuid id = rng.uuid();
    wire::TopicRecord topic;
    topic.name = name;
    topic.topic_id = id;
    std::vector<wire::MetadataRecord> records{topic};
    for (const auto& config : configs) {
        wire::ConfigRecord record;
        record.resource_type = kTopicResource;
        record.resource_name = name;
        record.name = config.name;
        record.value = config.value;
        records.emplace_back(std::move(record));
    }
    for (std::size_t index = 0; index < assignment.size(); ++index) {
        wire::PartitionRecord record;
        record.partition_id = static_cast<std::int32_t>(index);
        record.topic_id = id;
        record.replicas = assignment[index];
        std::copy_if(record.replicas.begin(), record.replicas.end(), std::back_inserter(record.isr),
                     [this](BrokerId replica) { return electable(image, replica); });
        record.leader = record.isr.empty() ? kNoBroker : record.isr.front();
        // Nobody of the assignment lives: the replicas wait for the first of them.
        if (record.isr.empty()) record.isr = record.replicas;
        records.emplace_back(std::move(record));
    }
    write(wall_ms, records);
    for (std::size_t index = 0; index < assignment.size(); ++index) {
        Change change;
        change.leader = image.partition({name, static_cast<std::int32_t>(index)})->leader;
        report_change({name, static_cast<std::int32_t>(index)}, change, "created");
    }
    return id;
}

}  // namespace highwater::node
