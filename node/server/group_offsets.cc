// OffsetCommit and OffsetFetch: topics by name, or by id since version 10, to and from the coordinator.
#include "node/server/broker_state.h"

namespace highwater::node {
namespace {

using wire::ErrorCode;

constexpr std::int16_t kTopicIdsSince = 10;
/// Several groups in one OffsetFetch, and an error for each.
constexpr std::int16_t kGroupListSince = 8;
constexpr std::int16_t kFetchErrorSince = 2;

using FetchGroup = wire::OffsetFetchRequest::OffsetFetchRequestGroup;
using FetchedGroup = wire::OffsetFetchResponse::OffsetFetchResponseGroup;
using FetchedTopic = FetchedGroup::OffsetFetchResponseTopics;
using Committed = std::map<TopicPartition, CommittedOffset>;

FetchedTopic::OffsetFetchResponsePartitions fetched(std::int32_t index, const CommittedOffset* offset) {
    FetchedTopic::OffsetFetchResponsePartitions answer;
    answer.partition_index = index;
    answer.committed_offset = offset == nullptr ? kUnknownOffset : offset->offset;
    answer.committed_leader_epoch = offset == nullptr ? kNoEpoch : offset->leader_epoch;
    answer.metadata = offset == nullptr ? "" : offset->metadata;
    return answer;
}

void fetch_all(const Committed& offsets, const MetadataImage& image, bool by_id, FetchedGroup& group) {
    for (const auto& [partition, offset] : offsets) {
        const TopicImage* topic = image.topic(partition.topic);
        // A deleted one has no id to be told by.
        if (by_id && topic == nullptr) continue;
        if (group.topics.empty() || group.topics.back().name != partition.topic) {
            FetchedTopic& added = group.topics.emplace_back();
            added.name = partition.topic;
            if (topic != nullptr) added.topic_id = topic->id;
        }
        group.topics.back().partitions.push_back(fetched(partition.partition, &offset));
    }
}

void fetch_asked(const Committed& offsets, const MetadataImage& image, bool by_id, const FetchGroup& asked,
                 FetchedGroup& group) {
    for (const auto& asked_topic : *asked.topics) {
        const TopicImage* topic = by_id ? image.topic(asked_topic.topic_id) : nullptr;
        FetchedTopic& answer = group.topics.emplace_back();
        answer.name = asked_topic.name;
        answer.topic_id = asked_topic.topic_id;
        for (const std::int32_t index : asked_topic.partition_indexes) {
            const auto found = offsets.find({topic != nullptr ? topic->name : asked_topic.name, index});
            const bool unknown_id = by_id && topic == nullptr;
            answer.partitions.push_back(
                fetched(index, unknown_id || found == offsets.end() ? nullptr : &found->second));
            if (unknown_id) answer.partitions.back().error_code = ErrorCode::UnknownTopicId;
        }
    }
}

/// The request of before version 8 as one of a list.
FetchGroup only_group(const wire::OffsetFetchRequest& request) {
    FetchGroup group;
    group.group_id = request.group_id;
    group.topics.reset();
    if (!request.topics) return group;
    group.topics.emplace();
    for (const auto& topic : *request.topics) {
        auto& asked = group.topics->emplace_back();
        asked.name = topic.name;
        asked.partition_indexes = topic.partition_indexes;
    }
    return group;
}

void answer_only_group(const FetchedGroup& group, const FetchGroup& asked, std::int16_t version,
                       wire::OffsetFetchResponse& response) {
    response.error_code = group.error_code;
    for (const auto& topic : group.topics) {
        auto& answer = response.topics.emplace_back();
        answer.name = topic.name;
        for (const auto& one : topic.partitions) {
            answer.partitions.push_back({one.partition_index, one.committed_offset,
                                         one.committed_leader_epoch, one.metadata, one.error_code});
        }
    }
    // Version 1 has no error but those of partitions.
    if (group.error_code == ErrorCode::None || version >= kFetchErrorSince || !asked.topics) return;
    for (const auto& topic : *asked.topics) {
        auto& answer = response.topics.emplace_back();
        answer.name = topic.name;
        for (const std::int32_t index : topic.partition_indexes)
            answer.partitions.push_back({index, kUnknownOffset, kNoEpoch, "", group.error_code});
    }
}

}  // namespace

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::OffsetFetchRequest& request) {
    const bool list = header.api_version >= kGroupListSince;
    const bool by_id = header.api_version >= kTopicIdsSince;
    const auto fetch = [&](const FetchGroup& asked) {
        static const Committed kNothing;
        FetchedGroup group;
        group.group_id = asked.group_id;
        const Coordinated at = coordinator_of(asked.group_id);
        group.error_code = at.error;
        if (at.coordinator == nullptr) return group;
        const Committed* known = at.coordinator->offsets(asked.group_id);
        const Committed& offsets = known == nullptr ? kNothing : *known;
        if (asked.topics)
            fetch_asked(offsets, image, by_id, asked, group);
        else
            fetch_all(offsets, image, by_id, group);
        return group;
    };
    wire::OffsetFetchResponse response;
    if (list) {
        for (const FetchGroup& asked : request.groups) response.groups.push_back(fetch(asked));
    } else {
        const FetchGroup asked = only_group(request);
        answer_only_group(fetch(asked), asked, header.api_version, response);
    }
    inbound.answer(id, wire::encode_response(response, header.api_version, header.correlation_id));
}

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::OffsetCommitRequest& request) {
    struct Place {
        std::size_t topic;
        std::size_t partition;
    };
    const bool by_id = header.api_version >= kTopicIdsSince;
    const Coordinated at = coordinator_of(request.group_id);
    wire::OffsetCommitResponse response;
    std::vector<Place> places;
    OffsetCommit commit{request.group_id,
                        request.generation_id_or_member_epoch,
                        request.member_id,
                        request.group_instance_id,
                        {}};
    for (const auto& topic : request.topics) {
        const TopicImage* known = by_id ? image.topic(topic.topic_id) : image.topic(topic.name);
        auto& answer = response.topics.emplace_back();
        answer.name = topic.name;
        answer.topic_id = topic.topic_id;
        for (const auto& one : topic.partitions) {
            auto& result = answer.partitions.emplace_back();
            result.partition_index = one.partition_index;
            result.error_code = at.error;
            if (at.coordinator == nullptr) continue;
            if (known == nullptr || !known->partitions.contains(one.partition_index)) {
                result.error_code = by_id && known == nullptr ? ErrorCode::UnknownTopicId
                                                              : ErrorCode::UnknownTopicOrPartition;
                continue;
            }
            places.push_back({response.topics.size() - 1, answer.partitions.size() - 1});
            commit.entries.push_back(
                {{known->name, one.partition_index},
                 {one.committed_offset, one.committed_leader_epoch, one.committed_metadata.value_or("")}});
        }
    }
    const auto done = [this, id, header](const wire::OffsetCommitResponse& full) {
        inbound.answer(id, wire::encode_response(full, header.api_version, header.correlation_id));
    };
    if (commit.entries.empty()) return done(response);
    const GroupCall call = call_back([done, response = std::move(response),
                                      places = std::move(places)](const GroupResponse& errors) mutable {
        for (std::size_t i = 0; i < places.size(); ++i) {
            response.topics[places[i].topic].partitions[places[i].partition].error_code =
                std::get<CommitErrors>(errors).at(i);
        }
        done(response);
    });
    at.coordinator->commit(now, wall_ms, call, commit);
}

}  // namespace highwater::node
