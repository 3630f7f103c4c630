// ListOffsets and OffsetForLeaderEpoch: where a log begins, ends, was at a time, or ended an epoch.
#include <algorithm>

#include "node/server/broker_state.h"
#include "wire/record_batch.h"

namespace highwater::node {
namespace {

using wire::ErrorCode;
using Listed = wire::ListOffsetsResponse::ListOffsetsTopicResponse::ListOffsetsPartitionResponse;
using EpochEnd = wire::OffsetForLeaderEpochResponse::OffsetForLeaderTopicResult::EpochEndOffset;

constexpr std::int64_t kLatest = -1;
constexpr std::int64_t kEarliest = -2;
constexpr std::int64_t kMaxTimestamp = -3;
/// Of the part that is on this disk, which is all of it; and of what was moved elsewhere, which is nothing.
constexpr std::int64_t kEarliestLocal = -4;
constexpr std::int64_t kLatestTiered = -5;
constexpr std::int64_t kEarliestPendingUpload = -6;
constexpr std::size_t kScanBytes = 1U << 20U;
/// Before this version a client takes LEADER_NOT_AVAILABLE for the wish to ask again.
constexpr std::int16_t kOffsetNotAvailableSince = 5;

struct Found {
    Offset offset = kUnknownOffset;
    std::int64_t timestamp = -1;
    LeaderEpoch epoch = kNoEpoch;
};

/// Of one batch: its first record at or past `from`, or, without it, its newest. Nobody decompresses here: a
/// compressed batch counts from its first record on, or as its last one.
Found find_in(const wire::BatchView& batch, std::optional<std::int64_t> from) {
    const wire::BatchHeader& header = batch.header;
    const auto records = wire::decode_records(batch.bytes);
    if (!records) {
        if (!from) return {header.last_offset(), header.max_timestamp, header.leader_epoch};
        return {header.base_offset, std::max(header.base_timestamp, *from), header.leader_epoch};
    }
    Found best;
    for (const wire::Record& record : *records) {
        const std::int64_t at = header.log_append_time() ? header.max_timestamp : record.timestamp;
        const bool better = from ? at >= *from : at > best.timestamp;
        if (best.offset != kUnknownOffset && !better) continue;
        if (from && !better) continue;
        best = {record.offset, at, header.leader_epoch};
        if (from) break;
    }
    return best;
}

/// The first record at or past the time `from`, or, without it, the first of the newest ones. Errors: IO.
Result<std::optional<Found>> scan(const PartitionLog& log, Offset limit, std::optional<std::int64_t> from) {
    std::optional<Found> best;
    for (Offset at = log.log_start_offset(); at < limit;) {
        const auto bytes = log.read(at, limit, kScanBytes);
        if (!bytes) return tl::make_unexpected(bytes.error());
        const auto batches = wire::split_batches(*bytes);
        if (!batches) return tl::make_unexpected(batches.error());
        if (batches->empty()) break;
        for (const wire::BatchView& batch : *batches) {
            at = batch.header.next_offset();
            const bool looked_for = from ? batch.header.max_timestamp >= *from
                                         : !best || batch.header.max_timestamp > best->timestamp;
            if (!looked_for) continue;
            const Found found = find_in(batch, from);
            if (found.offset == kUnknownOffset) continue;
            best = found;
            if (from) return best;
        }
    }
    return best;
}

void tell(Listed& answer, const Partition::ListedOffset& listed) {
    answer.error_code = listed.error;
    answer.offset = listed.offset;
    answer.leader_epoch = listed.leader_epoch;
}

/// A lookup by time among what may be shown to this asker.
void look_up(Listed& answer, const Partition& held, const Partition::ListedOffset& latest,
             std::int64_t timestamp) {
    const bool lagging = latest.error == ErrorCode::OffsetNotAvailable;
    if (latest.error != ErrorCode::None && !lagging) return tell(answer, latest);
    const Offset limit = lagging ? held.high_watermark() : latest.offset;
    const auto from = timestamp == kMaxTimestamp ? std::nullopt : std::optional(timestamp);
    const auto found = scan(held.log(), limit, from);
    if (!found) {
        answer.error_code = ErrorCode::KafkaStorageError;
    } else if (*found) {
        answer.offset = (*found)->offset;
        answer.timestamp = (*found)->timestamp;
        answer.leader_epoch = (*found)->epoch;
    } else if (lagging) {
        // What is asked for may lie between this high watermark and the last leader's.
        answer.error_code = ErrorCode::OffsetNotAvailable;
    }
}

void list(Listed& answer, const Partition& held, std::int64_t timestamp, BrokerId replica_id,
          LeaderEpoch current_epoch) {
    if (timestamp == kLatest || timestamp == kEarliest)
        return tell(answer, held.list_offset(timestamp, replica_id, current_epoch));
    if (timestamp == kEarliestLocal)
        return tell(answer, held.list_offset(kEarliest, replica_id, current_epoch));
    const auto latest = held.list_offset(kLatest, replica_id, current_epoch);
    if (timestamp == kLatestTiered || timestamp == kEarliestPendingUpload) {
        if (latest.error != ErrorCode::OffsetNotAvailable) answer.error_code = latest.error;
        return;
    }
    if (timestamp < kMaxTimestamp) {
        answer.error_code = ErrorCode::InvalidRequest;
        return;
    }
    look_up(answer, held, latest, timestamp);
}

/// Leaders only, in the epoch that the asker knows.
ErrorCode check_leader(const Partition& held, LeaderEpoch current_epoch) {
    if (held.offline()) return ErrorCode::KafkaStorageError;
    if (current_epoch != kNoEpoch && current_epoch < held.leader_epoch()) return ErrorCode::FencedLeaderEpoch;
    if (current_epoch > held.leader_epoch()) return ErrorCode::UnknownLeaderEpoch;
    return held.role() == Role::Leader ? ErrorCode::None : ErrorCode::NotLeaderOrFollower;
}

}  // namespace

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::ListOffsetsRequest& request) {
    wire::ListOffsetsResponse response;
    for (const auto& asked_topic : request.topics) {
        auto& topic = response.topics.emplace_back();
        topic.name = asked_topic.name;
        for (const auto& asked : asked_topic.partitions) {
            Listed& answer = topic.partitions.emplace_back();
            answer.partition_index = asked.partition_index;
            const TopicPartition name{asked_topic.name, asked.partition_index};
            const Partition* held = partition(name);
            if (held == nullptr)
                answer.error_code = why_not_held(name);
            else
                list(answer, *held, asked.timestamp, request.replica_id, asked.current_leader_epoch);
            if (answer.error_code == ErrorCode::OffsetNotAvailable &&
                header.api_version < kOffsetNotAvailableSince) {
                answer.error_code = ErrorCode::LeaderNotAvailable;
            }
        }
    }
    inbound.answer(id, wire::encode_response(response, header.api_version, header.correlation_id));
}

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::OffsetForLeaderEpochRequest& request) {
    wire::OffsetForLeaderEpochResponse response;
    for (const auto& asked_topic : request.topics) {
        auto& topic = response.topics.emplace_back();
        topic.topic = asked_topic.topic;
        for (const auto& asked : asked_topic.partitions) {
            EpochEnd& answer = topic.partitions.emplace_back();
            answer.partition = asked.partition;
            const TopicPartition name{asked_topic.topic, asked.partition};
            const Partition* held = partition(name);
            answer.error_code =
                held == nullptr ? why_not_held(name) : check_leader(*held, asked.current_leader_epoch);
            if (answer.error_code != ErrorCode::None || asked.leader_epoch == kNoEpoch) continue;
            const PartitionLog& log = held->log();
            // An epoch that this leader has not heard of has no end.
            if (const auto end = log.epochs().end_offset_for(asked.leader_epoch, log.log_end_offset())) {
                answer.leader_epoch = end->epoch;
                answer.end_offset = end->offset;
            }
        }
    }
    inbound.answer(id, wire::encode_response(response, header.api_version, header.correlation_id));
}

}  // namespace highwater::node
