// Proposals of all partitions go to the controller in one request at a time, as Kafka's AlterPartitionManager
// sends them.
#include "node/server/broker_state.h"
#include "wire/messages/alter_partition.h"

namespace highwater::node {
namespace {

constexpr std::int16_t kVersion = 3;
constexpr Duration kRetry = milliseconds(50);

}  // namespace

void BrokerState::send_proposals() {
    if (!alter.idle() || now < next_alter || broker_epoch == kUnknownBrokerEpoch) return;
    wire::AlterPartitionRequest request;
    request.broker_id = config.node_id;
    request.broker_epoch = broker_epoch;
    alter_in_flight.clear();
    for (auto& [name, held] : partitions) {
        const auto proposal = held->take_proposal();
        if (!proposal) continue;
        const Uuid& topic_id = held->id().topic_id;
        if (request.topics.empty() || request.topics.back().topic_id != topic_id)
            request.topics.emplace_back().topic_id = topic_id;
        auto& asked = request.topics.back().partitions.emplace_back();
        asked.partition_index = name.partition;
        asked.leader_epoch = proposal->leader_epoch;
        asked.partition_epoch = proposal->partition_epoch;
        asked.leader_recovery_state = static_cast<std::int8_t>(proposal->recovery);
        for (const auto& member : proposal->isr)
            asked.new_isr_with_epochs.push_back({member.id, member.broker_epoch});
        alter_in_flight.push_back({name, *proposal});
    }
    if (alter_in_flight.empty()) return;
    next_alter = now + kRetry;  // paces errors that Kafka retries at once
    alter.request(now, request, kVersion,
                  [this](Instant, const Result<BytesView>& frame) { proposals_answered(frame); });
}

void BrokerState::proposals_answered(const Result<BytesView>& frame) {
    const std::vector<Proposed> asked = std::exchange(alter_in_flight, {});
    const auto retry_all = [&](const std::string& why) {
        outbox.warn("AlterPartition: " + why);
        for (const Proposed& one : asked) {
            if (Partition* held = partition(one.partition)) held->retry_proposal();
        }
    };
    if (!frame) return retry_all(frame.error().message);
    const auto response =
        wire::decode_response<wire::AlterPartitionResponse>(*frame, kVersion, alter.correlation_id());
    if (!response) return retry_all(response.error().message);
    if (response->error_code != wire::ErrorCode::None)
        return retry_all(wire::error_name(response->error_code));
    next_alter = now;
    for (const Proposed& one : asked) {
        Partition* held = partition(one.partition);
        if (held == nullptr) continue;
        bool answered = false;
        for (const auto& topic : response->topics) {
            if (topic.topic_id != held->id().topic_id) continue;
            for (const auto& got : topic.partitions) {
                if (got.partition_index != one.partition.partition) continue;
                AlterPartitionAnswer answer;
                answer.error = got.error_code;
                answer.leader = got.leader_id;
                answer.leader_epoch = got.leader_epoch;
                answer.isr = got.isr;
                answer.partition_epoch = got.partition_epoch;
                answer.recovery = static_cast<LeaderRecoveryState>(got.leader_recovery_state);
                if (answer.error != wire::ErrorCode::None) next_alter = now + kRetry;
                held->apply_alter_partition_answer(now, one.proposal, answer);
                answered = true;
            }
        }
        if (!answered) held->retry_proposal();
    }
}

}  // namespace highwater::node
