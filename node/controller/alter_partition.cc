// AlterPartition: a leader proposes an ISR; every reason to refuse it, in Kafka's order.
#include <algorithm>
#include <set>

#include "node/controller/state.h"

namespace highwater::node {
namespace {

using Asked = wire::AlterPartitionRequest::TopicData::PartitionData;
using Answer = wire::AlterPartitionResponse::TopicData::PartitionData;

constexpr std::int8_t kRecovered = 0;
constexpr std::int8_t kRecovering = 1;

wire::ErrorCode check_epochs(const PartitionImage& partition, const Asked& asked, BrokerId sender) {
    if (asked.leader_epoch > partition.leader_epoch || asked.partition_epoch > partition.partition_epoch) {
        return wire::ErrorCode::NotController;
    }
    if (asked.leader_epoch < partition.leader_epoch) return wire::ErrorCode::FencedLeaderEpoch;
    if (sender != partition.leader) return wire::ErrorCode::InvalidRequest;
    if (asked.partition_epoch < partition.partition_epoch) return wire::ErrorCode::InvalidUpdateVersion;
    return wire::ErrorCode::None;
}

wire::ErrorCode check_shape(const PartitionImage& partition, const Asked& asked, const std::vector<BrokerId>& isr) {
    const std::set<BrokerId> distinct(isr.begin(), isr.end());
    const std::set<BrokerId> replicas(partition.replicas.begin(), partition.replicas.end());
    if (distinct.size() != isr.size() || !std::includes(replicas.begin(), replicas.end(), distinct.begin(), distinct.end()) ||
        !distinct.contains(partition.leader)) {
        return wire::ErrorCode::InvalidRequest;
    }
    if (asked.leader_recovery_state == kRecovering && isr.size() > 1) return wire::ErrorCode::InvalidRequest;
    if (asked.leader_recovery_state == kRecovering && partition.leader_recovery_state == kRecovered) {
        return wire::ErrorCode::InvalidRequest;
    }
    return wire::ErrorCode::None;
}

wire::ErrorCode check_members(const MetadataImage& image, const Asked& asked, const std::vector<BrokerId>& isr) {
    for (const BrokerId id : isr) {
        const BrokerImage* broker = image.broker(id);
        if (broker == nullptr || broker->fenced || broker->in_controlled_shutdown) return wire::ErrorCode::IneligibleReplica;
    }
    for (const auto& member : asked.new_isr_with_epochs) {
        // -1: the leader does not know the epoch and skips the check.
        if (member.broker_epoch != kUnknownBrokerEpoch && member.broker_epoch != image.broker(member.broker_id)->epoch) {
            return wire::ErrorCode::IneligibleReplica;
        }
    }
    return wire::ErrorCode::None;
}

std::vector<BrokerId> proposed_isr(const Asked& asked) {
    if (asked.new_isr_with_epochs.empty()) return asked.new_isr;
    std::vector<BrokerId> isr;
    for (const auto& member : asked.new_isr_with_epochs) isr.push_back(member.broker_id);
    return isr;
}

}  // namespace

wire::AlterPartitionResponse Controller::handle(Instant, std::int64_t wall_ms, const wire::AlterPartitionRequest& request) {
    State& state = *state_;
    wire::AlterPartitionResponse response;
    const BrokerImage* sender = state.image.broker(request.broker_id);
    if (sender == nullptr || sender->epoch != request.broker_epoch) {
        response.error_code = wire::ErrorCode::StaleBrokerEpoch;
        return response;
    }
    for (const auto& asked_topic : request.topics) {
        auto& topic_answer = response.topics.emplace_back();
        topic_answer.topic_id = asked_topic.topic_id;
        const TopicImage* topic = state.image.topic(asked_topic.topic_id);
        for (const Asked& asked : asked_topic.partitions) {
            Answer& answer = topic_answer.partitions.emplace_back();
            answer.partition_index = asked.partition_index;
            const auto found = topic == nullptr ? decltype(topic->partitions.end()){} : topic->partitions.find(asked.partition_index);
            if (topic == nullptr || found == topic->partitions.end()) {
                answer.error_code = topic == nullptr ? wire::ErrorCode::UnknownTopicId : wire::ErrorCode::UnknownTopicOrPartition;
                continue;
            }
            const std::vector<BrokerId> isr = proposed_isr(asked);
            answer.error_code = check_epochs(found->second, asked, request.broker_id);
            if (answer.error_code == wire::ErrorCode::None) answer.error_code = check_shape(found->second, asked, isr);
            if (answer.error_code == wire::ErrorCode::None) answer.error_code = check_members(state.image, asked, isr);
            if (answer.error_code != wire::ErrorCode::None) continue;
            wire::PartitionChangeRecord record;
            record.partition_id = asked.partition_index;
            record.topic_id = topic->id;
            State::Change change;
            change.isr = isr;
            if (asked.leader_recovery_state != found->second.leader_recovery_state) change.recovery = asked.leader_recovery_state;
            record.isr = change.isr;
            record.leader_recovery_state = change.recovery;
            state.write(wall_ms, {std::move(record)});
            state.report_change({topic->name, asked.partition_index}, change, "alter-partition");
            const PartitionImage& now = *state.image.partition({topic->name, asked.partition_index});
            answer.leader_id = now.leader;
            answer.leader_epoch = now.leader_epoch;
            answer.isr = now.isr;
            answer.leader_recovery_state = now.leader_recovery_state;
            answer.partition_epoch = now.partition_epoch;
        }
    }
    return response;
}

}  // namespace highwater::node
