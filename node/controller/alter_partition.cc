// AlterPartition: a leader proposes an ISR; every reason to refuse it, in Kafka's order.
#include <algorithm>
#include <set>

#include "node/controller/state.h"
#include "node/controller/topic_config.h"

namespace highwater::node {
namespace {

using Proposal = AlterPartitionData;
using Answer = wire::AlterPartitionResponse::TopicData::PartitionData;
using Member = Proposal::BrokerState;

/// Version 2 knows no broker epochs: -1 skips their check.
std::vector<Member> members_of(const Proposal& proposal) {
    std::vector<Member> members = proposal.new_isr_with_epochs;
    if (members.empty()) {
        for (const BrokerId id : proposal.new_isr) members.push_back({id, kUnknownBrokerEpoch});
    }
    return members;
}

wire::ErrorCode check_epochs(const PartitionImage& partition, const Proposal& proposal, BrokerId sender) {
    // A leader that knows more than this controller: this is not the active one any more.
    if (proposal.leader_epoch > partition.leader_epoch) return wire::ErrorCode::NotController;
    if (proposal.partition_epoch > partition.partition_epoch) return wire::ErrorCode::NotController;
    if (proposal.leader_epoch < partition.leader_epoch) return wire::ErrorCode::FencedLeaderEpoch;
    if (sender != partition.leader) return wire::ErrorCode::InvalidRequest;
    if (proposal.partition_epoch < partition.partition_epoch) return wire::ErrorCode::InvalidUpdateVersion;
    return wire::ErrorCode::None;
}

wire::ErrorCode check_shape(const PartitionImage& partition, const Proposal& proposal,
                            const std::vector<Member>& members, BrokerId leader) {
    std::set<BrokerId> distinct;
    for (const Member& member : members) {
        const bool assigned =
            std::count(partition.replicas.begin(), partition.replicas.end(), member.broker_id) > 0;
        if (!assigned || !distinct.insert(member.broker_id).second) return wire::ErrorCode::InvalidRequest;
    }
    if (!distinct.contains(leader)) return wire::ErrorCode::InvalidRequest;
    const std::int8_t recovery = proposal.leader_recovery_state;
    if (recovery != kRecovered && recovery != kRecovering) return wire::ErrorCode::InvalidRequest;
    if (recovery == kRecovering && distinct.size() > 1) return wire::ErrorCode::InvalidRequest;
    if (recovery == kRecovering && partition.leader_recovery_state == kRecovered)
        return wire::ErrorCode::InvalidRequest;
    return wire::ErrorCode::None;
}

void tell_state(Answer& answer, const PartitionImage& partition) {
    answer.leader_id = partition.leader;
    answer.leader_epoch = partition.leader_epoch;
    answer.isr = partition.isr;
    answer.leader_recovery_state = partition.leader_recovery_state;
    answer.partition_epoch = partition.partition_epoch;
}

/// The partitions of one request as its earlier changes leave them; written in one batch at the end.
using Staged = std::map<TopicPartition, PartitionImage>;

}  // namespace

bool Controller::State::is_eligible(const Member& member) {
    const BrokerImage* broker = image.broker(member.broker_id);
    if (broker == nullptr || !broker->active()) return false;
    const bool this_one = member.broker_epoch == kUnknownBrokerEpoch || member.broker_epoch == broker->epoch;
    return this_one || acts(Bug::ApNoBrokerEpoch, true);
}

wire::ErrorCode Controller::State::check(const PartitionImage& partition, const Proposal& proposal,
                                         BrokerId sender) {
    const std::vector<Member> members = members_of(proposal);
    wire::ErrorCode code = check_epochs(partition, proposal, sender);
    // Who takes any leader's word takes the sender for the leader.
    const bool anybody = acts(Bug::ApNoValidate, code != wire::ErrorCode::None);
    if (anybody) code = wire::ErrorCode::None;
    if (code == wire::ErrorCode::None)
        code = check_shape(partition, proposal, members, anybody ? sender : partition.leader);
    if (code != wire::ErrorCode::None) return code;
    const bool eligible = std::all_of(members.begin(), members.end(),
                                      [&](const Member& member) { return is_eligible(member); });
    return eligible ? wire::ErrorCode::None : wire::ErrorCode::IneligibleReplica;
}

wire::AlterPartitionResponse Controller::handle(Instant, std::int64_t wall_ms,
                                                const wire::AlterPartitionRequest& request) {
    State& state = *state_;
    wire::AlterPartitionResponse response;
    const BrokerImage* sender = state.image.broker(request.broker_id);
    if (sender == nullptr || sender->epoch != request.broker_epoch) {
        response.error_code = wire::ErrorCode::StaleBrokerEpoch;
        return response;
    }
    const MayLead may_lead = [&](BrokerId id) { return state.is_active(id); };
    Records records;
    Staged staged;
    for (const auto& topic_data : request.topics) {
        auto& topic_answer = response.topics.emplace_back();
        topic_answer.topic_id = topic_data.topic_id;
        const TopicImage* topic = state.image.topic(topic_data.topic_id);
        for (const Proposal& proposal : topic_data.partitions) {
            Answer& answer = topic_answer.partitions.emplace_back();
            answer.partition_index = proposal.partition_index;
            const TopicPartition name{topic == nullptr ? "" : topic->name, proposal.partition_index};
            const PartitionImage* known = topic == nullptr ? nullptr : state.image.partition(name);
            if (known == nullptr) {
                answer.error_code = topic == nullptr ? wire::ErrorCode::UnknownTopicId
                                                     : wire::ErrorCode::UnknownTopicOrPartition;
                continue;
            }
            PartitionImage& partition = staged.try_emplace(name, *known).first->second;
            answer.error_code = state.check(partition, proposal, request.broker_id);
            if (answer.error_code != wire::ErrorCode::None) continue;
            PartitionTarget target = state.target_of(*topic, partition);
            target.isr.clear();
            for (const Member& member : members_of(proposal)) target.isr.push_back(member.broker_id);
            target.leader_recovery_state = proposal.leader_recovery_state;
            if (auto decision = state.change(*topic, name.partition, partition, target, may_lead)) {
                partition = changed(partition, decision->record);
                records.emplace_back(std::move(decision->record), decision->chosen);
            }
            tell_state(answer, partition);
        }
    }
    if (state.commit(wall_ms, records, {"alter-partition"})) return response;
    wire::AlterPartitionResponse failed;
    failed.error_code = wire::ErrorCode::UnknownServerError;
    return failed;
}

}  // namespace highwater::node
