// What Kafka's command line tools ask besides and this broker knows itself: DescribeLogDirs,
// ListPartitionReassignments.
#include <algorithm>

#include "node/server/broker_state.h"

namespace highwater::node {
namespace {

using LogDir = wire::DescribeLogDirsResponse::DescribeLogDirsResult;
using Asked = wire::DescribeLogDirsRequest::DescribableLogDirTopic;

/// No list asks for everything.
bool is_wanted(const std::optional<std::vector<Asked>>& asked, const TopicPartition& name) {
    if (!asked) return true;
    return std::any_of(asked->begin(), asked->end(), [&](const Asked& topic) {
        return topic.topic == name.topic && std::find(topic.partitions.begin(), topic.partitions.end(),
                                                      name.partition) != topic.partitions.end();
    });
}

LogDir::DescribeLogDirsTopic::DescribeLogDirsPartition describe(const Partition& held) {
    LogDir::DescribeLogDirsTopic::DescribeLogDirsPartition described;
    described.partition_index = held.id().partition;
    described.partition_size = static_cast<std::int64_t>(held.log().size_bytes());
    described.offset_lag = std::max<Offset>(held.high_watermark() - held.log().log_end_offset(), 0);
    return described;
}

}  // namespace

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::DescribeLogDirsRequest& request) {
    wire::DescribeLogDirsResponse response;
    LogDir& directory = response.results.emplace_back();
    directory.log_dir = config.log_dirs;
    for (const auto& [name, held] : partitions) {
        if (!is_wanted(request.topics, name)) continue;
        // Partitions come sorted by topic.
        if (directory.topics.empty() || directory.topics.back().name != name.topic)
            directory.topics.push_back({name.topic, {}});
        directory.topics.back().partitions.push_back(describe(*held));
    }
    inbound.answer(id, wire::encode_response(response, header.api_version, header.correlation_id));
}

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::ListPartitionReassignmentsRequest&) {
    // Replicas stay where CreateTopics put them: nothing is ever being moved.
    wire::ListPartitionReassignmentsResponse response;
    response.error_message = std::nullopt;
    inbound.answer(id, wire::encode_response(response, header.api_version, header.correlation_id));
}

}  // namespace highwater::node
