// ElectLeaders: the preferred leader back, or, by request, anybody who lives.
#include <fmt/format.h>

#include <set>

#include "node/controller/state.h"

namespace highwater::node {
namespace {

using wire::ErrorCode;
using TopicAnswer = wire::ElectLeadersResponse::ReplicaElectionResult;
using Answer = TopicAnswer::PartitionResult;

constexpr std::int8_t kPreferred = 0;
constexpr std::int8_t kUnclean = 1;

std::optional<std::string> message_of(ErrorCode code, const TopicPartition& name) {
    switch (static_cast<int>(code)) {
        case static_cast<int>(ErrorCode::None):
            return std::nullopt;
        case static_cast<int>(ErrorCode::ElectionNotNeeded):
            return "the leader is the wanted one already";
        case static_cast<int>(ErrorCode::UnknownTopicOrPartition):
            return fmt::format("there is no partition {}", name.to_string());
        case static_cast<int>(ErrorCode::PreferredLeaderNotAvailable):
            return "the preferred replica is not in sync, or not there";
        default:
            return "no replica is there";
    }
}

}  // namespace

ErrorCode Controller::State::elect_one(const TopicPartition& name, bool unclean, const MayLead& may_lead,
                                       Records& records) const {
    const TopicImage* topic = image.topic(name.topic);
    const PartitionImage* partition = image.partition(name);
    if (topic == nullptr || partition == nullptr) return ErrorCode::UnknownTopicOrPartition;
    const bool done =
        unclean ? partition->leader != kNoBroker : partition->leader == partition->replicas.front();
    if (done) return ErrorCode::ElectionNotNeeded;
    PartitionTarget target = target_of(*topic, *partition);
    target.unclean = unclean;
    target.election = unclean ? Election::IfNeeded : Election::Preferred;
    auto decision = change_partition(topic->id, name.partition, *partition, target, may_lead);
    if (!decision) {
        return unclean ? ErrorCode::EligibleLeadersNotAvailable : ErrorCode::PreferredLeaderNotAvailable;
    }
    records.emplace_back(std::move(decision->record), decision->chosen);
    return ErrorCode::None;
}

wire::ElectLeadersResponse Controller::handle(Instant, std::int64_t wall_ms,
                                              const wire::ElectLeadersRequest& request) {
    State& state = *state_;
    wire::ElectLeadersResponse response;
    if (request.election_type != kPreferred && request.election_type != kUnclean) {
        response.error_code = ErrorCode::InvalidRequest;
        return response;
    }
    const bool unclean = request.election_type == kUnclean;
    const MayLead may_lead = [&](BrokerId id) { return state.is_active(id); };
    Records records;
    std::set<TopicPartition> seen;
    const auto elect = [&](TopicAnswer& of_topic, std::int32_t index, bool tell_unneeded) {
        const TopicPartition name{of_topic.topic, index};
        if (!seen.insert(name).second) return;  // one election is enough
        const ErrorCode code = state.elect_one(name, unclean, may_lead, records);
        if (code == ErrorCode::ElectionNotNeeded && !tell_unneeded) return;
        of_topic.partition_result.push_back({index, code, message_of(code, name)});
    };
    if (request.topic_partitions) {
        for (const auto& asked : *request.topic_partitions) {
            TopicAnswer& of_topic = response.replica_election_results.emplace_back();
            of_topic.topic = asked.topic;
            for (const std::int32_t index : asked.partitions) elect(of_topic, index, true);
        }
    } else {
        for (const auto& [topic_name, topic] : state.image.topics()) {
            TopicAnswer of_topic;
            of_topic.topic = topic_name;
            for (const auto& [index, partition] : topic.partitions) elect(of_topic, index, false);
            if (!of_topic.partition_result.empty())
                response.replica_election_results.push_back(std::move(of_topic));
        }
    }
    if (state.commit(wall_ms, records, {unclean ? kCauseUncleanRequest : "preferred"})) return response;
    response.replica_election_results.clear();
    response.error_code = ErrorCode::UnknownServerError;
    return response;
}

}  // namespace highwater::node
