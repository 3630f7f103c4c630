#include "node/server/checkpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace highwater::node {
namespace {

constexpr const char* kRecoveryPointCheckpoint = "recovery-point-offset-checkpoint";
constexpr const char* kLogStartCheckpoint = "log-start-offset-checkpoint";
constexpr const char* kCleanShutdownFile = ".kafka_cleanshutdown";
/// producer.id.expiration.check.interval.ms, which nobody sets.
constexpr Duration kExpirationCheck = milliseconds(600000);

Result<OffsetCheckpoint> read_checkpoint(Storage& storage, const char* name) {
    const auto text = storage.read_file(name);
    if (!text) return tl::make_unexpected(text.error());
    if (!text->has_value()) return OffsetCheckpoint{};
    return parse_offset_checkpoint(as_text(**text), name);
}

/// {"version":0,"brokerEpoch":12}; -1 if it says anything else: then nothing is known but the clean stop.
BrokerEpoch marked_epoch(std::string_view text) {
    constexpr std::string_view kKey = "\"brokerEpoch\":";
    const std::size_t key = text.find(kKey);
    if (key == std::string_view::npos) return kUnknownBrokerEpoch;
    text.remove_prefix(key + kKey.size());
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    BrokerEpoch epoch = kUnknownBrokerEpoch;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), epoch);
    return status == std::errc{} ? epoch : kUnknownBrokerEpoch;
}

Offset offset_in(const OffsetCheckpoint& checkpoint, const TopicPartition& name) {
    const auto found = checkpoint.find(name);
    return found == checkpoint.end() ? 0 : found->second;
}

}  // namespace

Result<Checkpoints> Checkpoints::load(Storage& storage) {
    Checkpoints loaded;
    for (const auto& [name, into] : {std::pair{kReplicationOffsetCheckpoint, &loaded.high_watermarks_},
                                     std::pair{kRecoveryPointCheckpoint, &loaded.recovery_points_},
                                     std::pair{kLogStartCheckpoint, &loaded.log_starts_}}) {
        auto checkpoint = read_checkpoint(storage, name);
        if (!checkpoint) return tl::make_unexpected(checkpoint.error());
        *into = std::move(*checkpoint);
    }
    const auto marker = storage.read_file(kCleanShutdownFile);
    if (!marker) return tl::make_unexpected(marker.error());
    if (marker->has_value()) {
        loaded.clean_ = true;
        loaded.previous_broker_epoch_ = marked_epoch(as_text(**marker));
        if (const Status removed = storage.remove_file(kCleanShutdownFile); !removed)
            return tl::make_unexpected(removed.error());
    }
    return loaded;
}

Offset Checkpoints::high_watermark(const TopicPartition& name) const {
    return offset_in(high_watermarks_, name);
}

LogStart Checkpoints::log_start(const TopicPartition& name) const {
    return {.clean = clean_,
            .recovery_point = offset_in(recovery_points_, name),
            .log_start_offset = offset_in(log_starts_, name)};
}

void Checkpoints::start(Instant now, const NodeConfig& config) {
    next_high_watermarks_ = now + config.high_watermark_checkpoint_interval;
    next_recovery_points_ = now + config.recovery_point_checkpoint_interval;
    next_log_starts_ = now + config.log_start_checkpoint_interval;
    next_expiration_ = now + kExpirationCheck;
}

Instant Checkpoints::deadline() const {
    return std::min(std::min(next_high_watermarks_, next_recovery_points_),
                    std::min(next_log_starts_, next_expiration_));
}

bool Checkpoints::high_watermarks_due(Instant now, const NodeConfig& config) {
    if (now < next_high_watermarks_) return false;
    next_high_watermarks_ = now + config.high_watermark_checkpoint_interval;
    return true;
}

void Checkpoints::write_high_watermarks(const Partitions& partitions, Outbox& outbox) {
    for (const auto& [name, held] : partitions) {
        if (held->offline()) continue;
        high_watermarks_[name] = held->high_watermark();
        outbox.event(ServerEvent{CheckpointWritten{name, held->high_watermark()}});
    }
    outbox.file(kReplicationOffsetCheckpoint, format_offset_checkpoint(high_watermarks_));
}

void Checkpoints::write_recovery_points(const Partitions& partitions, Outbox& outbox) {
    for (const auto& [name, held] : partitions) {
        if (!held->offline()) recovery_points_[name] = held->log().recovery_point();
    }
    outbox.file(kRecoveryPointCheckpoint, format_offset_checkpoint(recovery_points_));
}

void Checkpoints::write_log_starts(const Partitions& partitions, Outbox& outbox) {
    for (const auto& [name, held] : partitions) {
        if (held->offline()) continue;
        log_starts_.erase(name);
        const PartitionLog& log = held->log();
        if (log.log_start_offset() > log.first_segment_offset()) log_starts_[name] = log.log_start_offset();
    }
    outbox.file(kLogStartCheckpoint, format_offset_checkpoint(log_starts_));
}

void Checkpoints::write_due(Instant now, const NodeConfig& config, const Partitions& partitions,
                            Outbox& outbox) {
    if (now >= next_recovery_points_) {
        next_recovery_points_ = now + config.recovery_point_checkpoint_interval;
        write_recovery_points(partitions, outbox);
    }
    if (now >= next_log_starts_) {
        next_log_starts_ = now + config.log_start_checkpoint_interval;
        write_log_starts(partitions, outbox);
    }
}

void Checkpoints::forget(const TopicPartition& name) {
    for (OffsetCheckpoint* checkpoint : {&high_watermarks_, &recovery_points_, &log_starts_})
        checkpoint->erase(name);
}

void Checkpoints::expire_producers(Instant now, std::int64_t wall_ms, const NodeConfig& config,
                                   Partitions& partitions) {
    if (now < next_expiration_) return;
    next_expiration_ = now + kExpirationCheck;
    for (auto& [name, held] : partitions) held->expire_producers(wall_ms, config.producer_id_expiration);
}

/// A log that nobody opened in this life is as the life before left it.
bool Checkpoints::every_log_closed(Storage& storage, const Partitions& partitions) const {
    if (clean_) return true;
    const auto names = storage.list("");
    if (!names) return false;
    return std::all_of(names->begin(), names->end(), [&](const std::string& directory) {
        return !TopicPartition::parse(directory) ||
               std::any_of(partitions.begin(), partitions.end(),
                           [&](const auto& entry) { return entry.first.to_string() == directory; });
    });
}

void Checkpoints::write_at_stop(Storage& storage, const Partitions& partitions, bool closed,
                                BrokerEpoch broker_epoch, Outbox& outbox) {
    write_recovery_points(partitions, outbox);
    write_log_starts(partitions, outbox);
    write_high_watermarks(partitions, outbox);
    if (!closed || !every_log_closed(storage, partitions)) return;
    // Without a registration in this life the one of the life before still stands.
    const BrokerEpoch epoch = broker_epoch == kUnknownBrokerEpoch ? previous_broker_epoch_ : broker_epoch;
    outbox.file(kCleanShutdownFile, fmt::format("{{\"version\":0,\"brokerEpoch\":{}}}", epoch));
}

}  // namespace highwater::node
