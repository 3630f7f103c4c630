// The requests that tests of whole nodes send, and what they look for in the answers. Values are 64-bit
// numbers.
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "wire/frame.h"
#include "wire/messages/create_topics.h"
#include "wire/messages/elect_leaders.h"
#include "wire/messages/fetch.h"
#include "wire/messages/list_offsets.h"
#include "wire/messages/metadata.h"
#include "wire/messages/produce.h"
#include "wire/record_batch.h"

namespace highwater::test {

inline constexpr std::int16_t kProduceVersion = 8;
inline constexpr std::int16_t kFetchVersion = 11;
inline constexpr std::int16_t kMetadataVersion = 8;
inline constexpr std::int16_t kListOffsetsVersion = 5;
inline constexpr std::int16_t kCreateTopicsVersion = 4;
inline constexpr std::int16_t kElectLeadersVersion = 2;

inline Bytes value_bytes(std::uint64_t value) {
    ByteWriter out;
    out.i64(static_cast<std::int64_t>(value));
    return out.take();
}
inline std::uint64_t value_of(const wire::Record& record) {
    return record.value ? static_cast<std::uint64_t>(ByteReader(*record.value).i64()) : 0;
}

inline wire::BatchSpec batch_spec_of(const std::vector<std::uint64_t>& values, std::int64_t timestamp) {
    wire::BatchSpec spec;
    for (const std::uint64_t value : values) {
        wire::Record record;
        record.timestamp = timestamp;
        record.value = value_bytes(value);
        spec.records.push_back(std::move(record));
    }
    return spec;
}
inline Bytes batch_of(const std::vector<std::uint64_t>& values, std::int64_t timestamp) {
    return wire::encode_batch(batch_spec_of(values, timestamp));
}

inline wire::ProduceRequest produce_request(const std::string& topic, std::int32_t partition,
                                            std::int16_t acks, std::int32_t timeout_ms, Bytes batch) {
    wire::ProduceRequest::TopicProduceData::PartitionProduceData data;
    data.index = partition;
    data.records = std::move(batch);
    wire::ProduceRequest::TopicProduceData of_topic;
    of_topic.name = topic;
    of_topic.partition_data.push_back(std::move(data));
    wire::ProduceRequest request;
    request.acks = acks;
    request.timeout_ms = timeout_ms;
    request.topic_data.push_back(std::move(of_topic));
    return request;
}

inline wire::FetchRequest fetch_request(const std::string& topic, std::int32_t partition, Offset from,
                                        std::int32_t max_wait_ms) {
    wire::FetchRequest::FetchTopic::FetchPartition of_partition;
    of_partition.partition = partition;
    of_partition.fetch_offset = from;
    of_partition.partition_max_bytes = 1 << 20;
    wire::FetchRequest::FetchTopic of_topic;
    of_topic.topic = topic;
    of_topic.partitions.push_back(of_partition);
    wire::FetchRequest request;
    request.max_wait_ms = max_wait_ms;
    request.min_bytes = 1;
    request.topics.push_back(std::move(of_topic));
    return request;
}

/// A preferred election.
inline wire::ElectLeadersRequest elect_preferred_request(const std::string& topic, std::int32_t partition) {
    wire::ElectLeadersRequest request;
    request.topic_partitions = {{topic, {partition}}};
    return request;
}

inline wire::MetadataRequest metadata_request(const std::string& topic) {
    wire::MetadataRequest::MetadataRequestTopic of_topic;
    of_topic.name = topic;
    wire::MetadataRequest request;
    request.topics = std::vector{std::move(of_topic)};
    request.allow_auto_topic_creation = false;
    return request;
}

/// One topic with explicit assignments, one list of brokers per partition.
inline wire::CreateTopicsRequest create_topic_request(
    const std::string& topic, const std::vector<std::vector<BrokerId>>& assignments,
    const std::vector<std::pair<std::string, std::string>>& configs) {
    wire::CreateTopicsRequest::CreatableTopic creatable;
    creatable.name = topic;
    creatable.num_partitions = -1;
    creatable.replication_factor = -1;
    for (std::size_t i = 0; i < assignments.size(); ++i) {
        wire::CreateTopicsRequest::CreatableTopic::CreatableReplicaAssignment assignment;
        assignment.partition_index = static_cast<std::int32_t>(i);
        assignment.broker_ids = assignments[i];
        creatable.assignments.push_back(std::move(assignment));
    }
    for (const auto& [name, value] : configs) {
        wire::CreateTopicsRequest::CreatableTopic::CreatableTopicConfig config;
        config.name = name;
        config.value = value;
        creatable.configs.push_back(std::move(config));
    }
    wire::CreateTopicsRequest request;
    request.topics.push_back(std::move(creatable));
    return request;
}

/// Every record of the batches, in order. Errors: malformed or compressed.
inline Result<std::vector<wire::Record>> records_of(BytesView batches) {
    const auto split = wire::split_batches(batches);
    if (!split) return tl::make_unexpected(split.error());
    std::vector<wire::Record> all;
    for (const wire::BatchView& batch : *split) {
        auto records = wire::decode_records(batch.bytes);
        if (!records) return tl::make_unexpected(records.error());
        all.insert(all.end(), records->begin(), records->end());
    }
    return all;
}

}  // namespace highwater::test
