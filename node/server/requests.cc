// What clients and peers ask: one frame is one request. Malformed or unknown ones close their connection.
#include <algorithm>

#include "base/overloaded.h"
#include "node/server/broker_state.h"

namespace highwater::node {
namespace {

/// Of one connection.
constexpr std::ptrdiff_t kMostEarlyRequests = 64;
/// Older ones carry another record format.
constexpr std::int16_t kFirstProduce = 3;

/// Asking for all topics, librdkafka writes the null list of a flexible version as four zero bytes, where one
/// is meant. Kafka reads on behind the first and does not look at what is left over at the end. The request
/// that is meant, or nothing if this is not that request.
std::optional<Bytes> without_librdkafkas_zeros(const wire::RequestFrame& frame) {
    constexpr std::int16_t kFlexible = wire::MetadataRequest::kFlexibleSince;
    constexpr std::int16_t kOneFlagLess = 11;
    const std::int16_t version = frame.header.api_version;
    if (frame.header.api_key != wire::ApiKey::Metadata || version < kFlexible) return std::nullopt;
    // The list, two or three flags, no tagged fields.
    const std::size_t meant = version < kOneFlagLess ? 5 : 4;
    const BytesView body = frame.body;
    if (body.size() != meant + 3 ||
        std::any_of(body.begin(), body.begin() + 4, [](auto b) { return b != 0; }))
        return std::nullopt;
    return Bytes(body.begin() + 3, body.end());
}

}  // namespace

Partition* BrokerState::partition(const TopicPartition& name) {
    const auto found = partitions.find(name);
    return found == partitions.end() ? nullptr : found->second.get();
}

void BrokerState::receive(const FrameReceived& frame) {
    if (serving) return handle_frame(frame.conn, frame.payload);
    const auto waiting = std::count_if(early.begin(), early.end(),
                                       [&](const FrameReceived& one) { return one.conn == frame.conn; });
    if (waiting >= kMostEarlyRequests) {
        forget_early(frame.conn);
        return inbound.close(frame.conn, "too many requests before this broker has started");
    }
    early.push_back(frame);
}

void BrokerState::serve_early() {
    if (!serving) return;
    for (const FrameReceived& frame : std::exchange(early, {})) {
        if (inbound.knows(frame.conn)) handle_frame(frame.conn, frame.payload);
    }
}

void BrokerState::forget_early(ConnId conn) {
    std::erase_if(early, [conn](const FrameReceived& one) { return one.conn == conn; });
}

void BrokerState::handle_frame(ConnId conn, const Bytes& payload) {
    const auto frame = wire::decode_request_header(payload);
    if (!frame) return inbound.close(conn, frame.error().message);
    const wire::RequestHeader& header = frame->header;
    if (header.api_key == wire::ApiKey::ApiVersions) {
        const wire::ApiVersionsAnswer answer =
            wire::answer_api_versions(inbound.kind(conn), header.api_version);
        return inbound.answer(inbound.begin(conn), wire::encode_response(answer.response, answer.encode_at,
                                                                         header.correlation_id));
    }
    const std::string name = fmt::format("{} v{}", wire::api_name(header.api_key), header.api_version);
    if (too_long(header.api_key, payload.size()))
        return inbound.close(conn, fmt::format("{} of {} bytes", name, payload.size()));
    if (!wire::offers(inbound.kind(conn), header.api_key, header.api_version)) {
        return inbound.close(conn,
                             fmt::format("{} is not offered on listener {}", name, inbound.listener(conn)));
    }
    if (header.api_key == wire::ApiKey::Produce && header.api_version < kFirstProduce) {
        return inbound.close(conn, name + " is advertised for librdkafka's sake only; send v3 or later");
    }
    if (!dispatch(conn, *frame)) inbound.close(conn, name + " is not for brokers");
}

bool BrokerState::dispatch(ConnId conn, const wire::RequestFrame& frame) {
    // Decodes the body, then hands it on; a body that cannot be decoded closes the connection.
    const auto serve = [&]<class Request>(std::type_identity<Request>) {
        const std::optional<Bytes> meant = without_librdkafkas_zeros(frame);
        auto request =
            wire::decode<Request>(meant ? BytesView(*meant) : frame.body, frame.header.api_version);
        if (!request)
            inbound.close(conn, request.error().message);
        else
            handle(inbound.begin(conn), frame.header, std::move(*request));
        return true;
    };
    using wire::ApiKey;
    switch (static_cast<int>(frame.header.api_key)) {
        case static_cast<int>(ApiKey::Produce):
            return serve(std::type_identity<wire::ProduceRequest>{});
        case static_cast<int>(ApiKey::Fetch):
            return serve(std::type_identity<wire::FetchRequest>{});
        case static_cast<int>(ApiKey::ListOffsets):
            return serve(std::type_identity<wire::ListOffsetsRequest>{});
        case static_cast<int>(ApiKey::OffsetForLeaderEpoch):
            return serve(std::type_identity<wire::OffsetForLeaderEpochRequest>{});
        case static_cast<int>(ApiKey::Metadata):
            return serve(std::type_identity<wire::MetadataRequest>{});
        case static_cast<int>(ApiKey::DescribeCluster):
            return serve(std::type_identity<wire::DescribeClusterRequest>{});
        case static_cast<int>(ApiKey::DescribeTopicPartitions):
            return serve(std::type_identity<wire::DescribeTopicPartitionsRequest>{});
        case static_cast<int>(ApiKey::DescribeConfigs):
            return serve(std::type_identity<wire::DescribeConfigsRequest>{});
        case static_cast<int>(ApiKey::DescribeLogDirs):
            return serve(std::type_identity<wire::DescribeLogDirsRequest>{});
        case static_cast<int>(ApiKey::ListPartitionReassignments):
            return serve(std::type_identity<wire::ListPartitionReassignmentsRequest>{});
        case static_cast<int>(ApiKey::FindCoordinator):
            return serve(std::type_identity<wire::FindCoordinatorRequest>{});
        case static_cast<int>(ApiKey::JoinGroup):
            return serve(std::type_identity<wire::JoinGroupRequest>{});
        case static_cast<int>(ApiKey::SyncGroup):
            return serve(std::type_identity<wire::SyncGroupRequest>{});
        case static_cast<int>(ApiKey::Heartbeat):
            return serve(std::type_identity<wire::HeartbeatRequest>{});
        case static_cast<int>(ApiKey::LeaveGroup):
            return serve(std::type_identity<wire::LeaveGroupRequest>{});
        case static_cast<int>(ApiKey::OffsetCommit):
            return serve(std::type_identity<wire::OffsetCommitRequest>{});
        case static_cast<int>(ApiKey::OffsetFetch):
            return serve(std::type_identity<wire::OffsetFetchRequest>{});
        case static_cast<int>(ApiKey::DescribeGroups):
            return serve(std::type_identity<wire::DescribeGroupsRequest>{});
        case static_cast<int>(ApiKey::ListGroups):
            return serve(std::type_identity<wire::ListGroupsRequest>{});
        case static_cast<int>(ApiKey::DeleteGroups):
            return serve(std::type_identity<wire::DeleteGroupsRequest>{});
        case static_cast<int>(ApiKey::InitProducerId):
            return serve(std::type_identity<wire::InitProducerIdRequest>{});
        case static_cast<int>(ApiKey::CreateTopics):
            return serve(std::type_identity<wire::CreateTopicsRequest>{});
        case static_cast<int>(ApiKey::DeleteTopics):
            return serve(std::type_identity<wire::DeleteTopicsRequest>{});
        case static_cast<int>(ApiKey::IncrementalAlterConfigs):
            return serve(std::type_identity<wire::IncrementalAlterConfigsRequest>{});
        case static_cast<int>(ApiKey::ElectLeaders):
            return serve(std::type_identity<wire::ElectLeadersRequest>{});
        default:
            return false;
    }
}

wire::ErrorCode BrokerState::why_not_held(const TopicPartition& name) const {
    return image.partition(name) == nullptr ? wire::ErrorCode::UnknownTopicOrPartition
                                            : wire::ErrorCode::NotLeaderOrFollower;
}

}  // namespace highwater::node
