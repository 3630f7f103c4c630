// The metadata log arrives by Fetch, is replayed into the image, and what changed is applied to the
// partitions.
#include <algorithm>

#include "node/controller/topic_config.h"
#include "node/log/partition_metadata.h"
#include "node/server/broker_state.h"
#include "node/server/cluster_metadata.h"
#include "wire/record_batch.h"

namespace highwater::node {
namespace {

constexpr Duration kMetadataWait = milliseconds(500);
/// After an answer that is no use. Where none comes, the channel paces reconnecting.
constexpr Duration kMetadataRetry = milliseconds(100);
constexpr std::int32_t kMetadataBytes = 8 << 20;

}  // namespace

std::optional<BrokerView> ImageView::broker(BrokerId id) const {
    const BrokerImage* broker = image_.broker(id);
    if (broker == nullptr) return std::nullopt;
    return BrokerView{broker->epoch, broker->fenced, broker->in_controlled_shutdown};
}

void BrokerState::fetch_metadata() {
    wire::FetchRequest request;
    request.replica_state.replica_id = config.node_id;
    request.replica_state.replica_epoch = broker_epoch;
    request.max_wait_ms = static_cast<std::int32_t>(kMetadataWait / milliseconds(1));
    request.min_bytes = 1;
    request.max_bytes = kMetadataBytes;
    auto& topic = request.topics.emplace_back();
    topic.topic_id = kClusterMetadataTopicId;
    auto& asked = topic.partitions.emplace_back();
    asked.fetch_offset = image.end_offset();
    asked.current_leader_epoch = metadata_leader_epoch;
    asked.last_fetched_epoch = metadata_last_epoch;
    asked.partition_max_bytes = kMetadataBytes;
    const std::int32_t correlation = metadata.correlation_id() + 1;
    metadata.request(
        now, request, kInternalFetchVersion,
        [this, correlation](Instant, const Result<BytesView>& frame) {
            metadata_fetched(frame, correlation);
        },
        kMetadataWait + milliseconds(2000));
}

void BrokerState::metadata_fetched(const Result<BytesView>& frame, std::int32_t correlation_id) {
    next_metadata_fetch = frame ? now + kMetadataRetry : now;
    if (!frame) return metadata_fetch_failed(frame.error().message);
    const auto response =
        wire::decode_response<wire::FetchResponse>(*frame, kInternalFetchVersion, correlation_id);
    if (!response) return metadata_fetch_failed(response.error().message);
    if (response->error_code != wire::ErrorCode::None) {
        return metadata_fetch_failed(wire::error_name(response->error_code));
    }
    if (response->responses.size() != 1 || response->responses[0].partitions.size() != 1) {
        return metadata_fetch_failed("the answer has not one partition");
    }
    const auto& answer = response->responses[0].partitions[0];
    if (answer.error_code == wire::ErrorCode::FencedLeaderEpoch ||
        answer.error_code == wire::ErrorCode::UnknownLeaderEpoch) {
        metadata_leader_epoch = kNoEpoch;  // the controller restarted; its log says the new epoch
    }
    if (answer.error_code != wire::ErrorCode::None) {
        return metadata_fetch_failed(wire::error_name(answer.error_code));
    }
    if (answer.diverging_epoch.end_offset >= 0) {
        // One voter never loses what it flushed, so this is another cluster's log.
        return metadata_fetch_failed("the controller's log is not the one that was followed so far");
    }
    metadata_failure.clear();
    next_metadata_fetch = now;
    if (answer.records) apply_metadata_bytes(*answer.records);
}

void BrokerState::metadata_fetch_failed(const std::string& why) {
    if (std::exchange(metadata_failure, why) != why) outbox.warn("metadata fetch: " + why);
}

void BrokerState::apply_metadata_bytes(const Bytes& bytes) {
    const auto batches = wire::split_batches(bytes);
    const Offset before = image.end_offset();
    const Status applied = batches ? image.apply_batches(bytes) : tl::make_unexpected(batches.error());
    if (!applied) {
        // The roles that this broker has, or should have, are unknown from here on.
        outbox.error("metadata: " + applied.error().message + "; this broker cannot go on without it");
        return finish_shutdown(false);
    }
    if (!batches->empty()) metadata_last_epoch = metadata_leader_epoch = batches->back().header.leader_epoch;
    if (image.end_offset() > before) apply_if_current();
}

void BrokerState::apply_if_current() {
    // What the log says of the time before this registration must not make anybody lead again: wait for the
    // record of this very incarnation.
    const BrokerImage* self = image.broker(config.node_id);
    if (self == nullptr || self->epoch != broker_epoch) return;
    if (!serving) remove_strays();
    drop_removed_topics();
    apply_image();
    serving = true;
    // Now it may ask to be unfenced, and does at once.
    if (phase == BrokerPhase::Starting) next_heartbeat = now;
}

void BrokerState::apply_image() {
    for (const auto& [name, topic] : image.topics()) {
        for (const auto& [index, registered] : topic.partitions) apply_partition(topic, index);
    }
    for (auto& [name, held] : partitions) held->cluster_changed(now);
}

/// partition.metadata says whose directory this is; a new one gets it, and nothing that was noted of another.
Status BrokerState::claim_directory(const TopicImage& topic, const TopicPartition& name) {
    const std::string path = name.to_string() + "/" + kPartitionMetadataFile;
    const auto found = storage.read_file(path);
    if (!found) return tl::make_unexpected(found.error());
    if (!found->has_value()) {
        const auto files = storage.list(name.to_string());
        if (!files) return tl::make_unexpected(files.error());
        // A checkpoint of a deleted topic outlives a kill that comes before the next checkpoint.
        if (files->empty()) checkpoints.forget(name);
        return storage.replace_file(path, as_bytes_view(format_partition_metadata(topic.id)),
                                    Durability::OsDecides);
    }
    const auto claimed = parse_partition_metadata(as_text(**found), kPartitionMetadataFile);
    if (!claimed) return tl::make_unexpected(claimed.error());
    if (*claimed == topic.id) return {};
    return failure(fmt::format("partition.metadata says topic id {}, the cluster says {}",
                               claimed->to_string(), topic.id.to_string()));
}

Result<std::unique_ptr<PartitionLog>> BrokerState::open_log(const TopicImage& topic,
                                                            const TopicPartition& name) {
    if (const Status claimed = claim_directory(topic, name); !claimed)
        return tl::make_unexpected(claimed.error());
    auto log = PartitionLog::open(storage, name.to_string(), config.log, checkpoints.log_start(name));
    if (!log) return log;
    const std::uint64_t cut = (*log)->recovered_cut_bytes();
    outbox.info(fmt::format("{}: log end offset {}, checkpointed high watermark {}{}", name.to_string(),
                            (*log)->log_end_offset(), checkpoints.high_watermark(name),
                            cut == 0 ? "" : fmt::format(", {} bytes cut from its end", cut)));
    return log;
}

/// One whose log cannot be used is there all the same, offline: it answers KAFKA_STORAGE_ERROR.
std::unique_ptr<Partition> BrokerState::open_partition(const TopicImage& topic, const TopicPartition& name) {
    PartitionSettings settings;
    settings.self = config.node_id;
    settings.replica_lag_time_max = config.replica_lag_time_max;
    settings.min_insync_replicas =
        min_insync_replicas(topic, cluster_min_insync_replicas(image, config.min_insync_replicas));
    settings.bugs = config.bugs;
    const TopicIdPartition id{topic.id, topic.name, name.partition};
    auto log = open_log(topic, name);
    if (log) {
        return std::make_unique<Partition>(id, settings, std::move(*log), checkpoints.high_watermark(name),
                                           view);
    }
    auto held = std::make_unique<Partition>(
        id, settings, PartitionLog::unusable(storage, name.to_string(), log.error()), 0, view);
    held->go_offline(log.error());
    return held;
}

void BrokerState::apply_partition(const TopicImage& topic, std::int32_t index) {
    const PartitionImage& registered = topic.partitions.at(index);
    const TopicPartition name{topic.name, index};
    if (std::find(registered.replicas.begin(), registered.replicas.end(), config.node_id) ==
        registered.replicas.end())
        return;
    Partition* held = partition(name);
    if (held == nullptr) {
        held = partitions.emplace(name, open_partition(topic, name)).first->second.get();
    }
    PartitionRegistration registration_now;
    registration_now.replicas = registered.replicas;
    registration_now.isr = registered.isr;
    registration_now.leader = registered.leader;
    registration_now.leader_epoch = registered.leader_epoch;
    registration_now.partition_epoch = registered.partition_epoch;
    registration_now.recovery = static_cast<LeaderRecoveryState>(registered.leader_recovery_state);
    held->apply_registration(now, registration_now);
    held->apply_settings(
        now, min_insync_replicas(topic, cluster_min_insync_replicas(image, config.min_insync_replicas)));
}

}  // namespace highwater::node
