// The metadata log arrives by Fetch, is replayed into the image, and what changed is applied to the partitions.
#include <algorithm>
#include <charconv>

#include "node/server/broker_state.h"
#include "node/server/cluster_metadata.h"
#include "wire/record_batch.h"

namespace highwater::node {
namespace {

constexpr Duration kMetadataWait = milliseconds(500);
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
    asked.current_leader_epoch = metadata_epoch;
    asked.last_fetched_epoch = metadata_epoch;
    asked.partition_max_bytes = kMetadataBytes;
    const std::int32_t correlation = metadata.correlation_id() + 1;
    metadata.request(
        now, request, kInternalFetchVersion,
        [this, correlation](Instant, const Result<BytesView>& frame) {
            next_metadata_fetch = now + kMetadataRetry;
            if (!frame) return;
            const auto response = wire::decode_response<wire::FetchResponse>(*frame, kInternalFetchVersion, correlation);
            if (!response) return outbox.error("metadata fetch: " + response.error().message);
            if (response->responses.size() != 1 || response->responses[0].partitions.size() != 1) {
                return outbox.error("metadata fetch: the answer has not one partition");
            }
            const auto& answer = response->responses[0].partitions[0];
            if (answer.error_code == wire::ErrorCode::FencedLeaderEpoch ||
                answer.error_code == wire::ErrorCode::UnknownLeaderEpoch) {
                metadata_epoch = kNoEpoch;  // the controller restarted; its answer says the new epoch
                next_metadata_fetch = now;
            }
            if (answer.error_code != wire::ErrorCode::None) return;
            if (answer.diverging_epoch.end_offset >= 0) {
                // One voter never loses what it flushed, so this is another cluster's log.
                return outbox.error("metadata fetch: the controller's log diverges from what was applied");
            }
            next_metadata_fetch = now;
            if (answer.records) apply_metadata_bytes(*answer.records);
        },
        kMetadataWait + milliseconds(2000));
}

void BrokerState::apply_metadata_bytes(const Bytes& bytes) {
    const auto batches = wire::split_batches(bytes);
    if (!batches) return outbox.error("metadata: " + batches.error().message);
    if (!batches->empty()) metadata_epoch = batches->back().header.leader_epoch;
    const Offset before = image.end_offset();
    if (const Status applied = image.apply_batches(bytes); !applied) outbox.error("metadata: " + applied.error().message);
    // What the log says of the time before this registration must not make anybody lead again: wait for the record of
    // this very incarnation.
    const BrokerImage* self = image.broker(config.node_id);
    const bool current = self != nullptr && self->epoch == broker_epoch;
    if (current && image.end_offset() > before) apply_image();
}

std::int32_t BrokerState::min_isr_of(const TopicImage& topic) const {
    const auto config_value = topic.configs.find("min.insync.replicas");
    std::int32_t value = config.min_insync_replicas;
    if (config_value != topic.configs.end()) {
        const std::string& text = config_value->second;
        std::from_chars(text.data(), text.data() + text.size(), value);
    }
    return value;
}

void BrokerState::apply_image() {
    for (const auto& [name, topic] : image.topics()) {
        for (const auto& [index, registered] : topic.partitions) apply_partition(topic, index);
    }
    for (auto& [name, held] : partitions) held->cluster_changed(now);
}

void BrokerState::apply_partition(const TopicImage& topic, std::int32_t index) {
    const PartitionImage& registered = topic.partitions.at(index);
    const TopicPartition name{topic.name, index};
    if (std::find(registered.replicas.begin(), registered.replicas.end(), config.node_id) == registered.replicas.end()) return;
    auto& held = partitions[name];
    if (!held) {
        auto log = PartitionLog::open(storage, name.to_string());
        if (!log) {
            outbox.error(fmt::format("{}: {}", name.to_string(), log.error().message));
            partitions.erase(name);
            return;
        }
        const std::string id_text = fmt::format("version: 0\ntopic_id: {}\n", topic.id.to_string());
        const std::string id_file = name.to_string() + "/partition.metadata";
        if (Status written = storage.replace_file(id_file, as_bytes_view(id_text), Durability::OsDecides); !written) {
            outbox.error(fmt::format("{}: {}", name.to_string(), written.error().message));
        }
        const auto saved = loaded_checkpoint.find(name);
        PartitionSettings settings;
        settings.self = config.node_id;
        settings.replica_lag_time_max = config.replica_lag_time_max;
        settings.min_insync_replicas = min_isr_of(topic);
        settings.bugs = config.bugs;
        outbox.info(fmt::format("{}: log end offset {}, checkpointed high watermark {}", name.to_string(),
                                (*log)->log_end_offset(), saved == loaded_checkpoint.end() ? 0 : saved->second));
        held = std::make_unique<Partition>(TopicIdPartition{topic.id, topic.name, index}, settings, std::move(*log),
                                           saved == loaded_checkpoint.end() ? 0 : saved->second, view);
    }
    PartitionRegistration registration_now;
    registration_now.replicas = registered.replicas;
    registration_now.isr = registered.isr;
    registration_now.leader = registered.leader;
    registration_now.leader_epoch = registered.leader_epoch;
    registration_now.partition_epoch = registered.partition_epoch;
    registration_now.recovery = static_cast<LeaderRecoveryState>(registered.leader_recovery_state);
    held->apply_registration(now, registration_now);
    held->apply_settings(now, min_isr_of(topic));
}

}  // namespace highwater::node
