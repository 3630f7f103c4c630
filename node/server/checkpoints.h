// What a broker keeps beside its logs, in Kafka's files at the root of log.dirs: three offset checkpoints,
// and the marker of a clean stop.
//   replication-offset-checkpoint      high watermarks, every replica.high.watermark.checkpoint.interval.ms
//   recovery-point-offset-checkpoint   up to where each log was flushed, every
//                                      log.flush.offset.checkpoint.interval.ms
//   log-start-offset-checkpoint        of logs that begin behind their first segment's beginning, every
//                                      log.flush.start.offset.checkpoint.interval.ms
//   .kafka_cleanshutdown               the broker epoch; written last of all, taken away at start
// All of them also at the stop.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/ids.h"
#include "base/partition.h"
#include "base/result.h"
#include "base/time.h"
#include "node/log/checkpoint.h"
#include "node/log/log_settings.h"
#include "node/log/storage.h"
#include "node/replica/partition.h"
#include "node/server/config.h"
#include "node/server/outbox.h"

namespace highwater::node {

using Partitions = std::map<TopicPartition, std::unique_ptr<Partition>>;

class Checkpoints {
public:
    /// Reads the files and takes the marker away, durably, before any log is opened: what dies from here on
    /// did not stop cleanly. Errors: IO, a malformed checkpoint.
    static Result<Checkpoints> load(Storage& storage);

    /// Of the life before, if it stopped cleanly; else -1.
    [[nodiscard]] BrokerEpoch previous_broker_epoch() const { return previous_broker_epoch_; }
    [[nodiscard]] Offset high_watermark(const TopicPartition& name) const;
    [[nodiscard]] LogStart log_start(const TopicPartition& name) const;

    void start(Instant now, const NodeConfig& config);
    [[nodiscard]] Instant deadline() const;
    /// Is it time for the high watermarks? Sets the next time.
    bool high_watermarks_due(Instant now, const NodeConfig& config);
    void write_high_watermarks(const Partitions& partitions, Outbox& outbox);
    /// The other two, if it is time.
    void write_due(Instant now, const NodeConfig& config, const Partitions& partitions, Outbox& outbox);
    /// The partition was deleted, or its directory is gone: nothing that was noted of it may meet one that is
    /// created with its name.
    void forget(const TopicPartition& name);
    /// Forgets silent producers, now and then.
    void expire_producers(Instant now, std::int64_t wall_ms, const NodeConfig& config,
                          Partitions& partitions);
    /// After all logs were closed without an error: every checkpoint, and the marker unless a log in
    /// `storage` was neither closed now nor before.
    void write_at_stop(Storage& storage, const Partitions& partitions, bool closed, BrokerEpoch broker_epoch,
                       Outbox& outbox);

private:
    void write_recovery_points(const Partitions& partitions, Outbox& outbox);
    void write_log_starts(const Partitions& partitions, Outbox& outbox);
    [[nodiscard]] bool every_log_closed(Storage& storage, const Partitions& partitions) const;

    // Also of partitions that were not opened in this life.
    OffsetCheckpoint high_watermarks_;
    OffsetCheckpoint recovery_points_;
    OffsetCheckpoint log_starts_;
    bool clean_ = false;
    BrokerEpoch previous_broker_epoch_ = kUnknownBrokerEpoch;
    Instant next_high_watermarks_{0};
    Instant next_recovery_points_{0};
    Instant next_log_starts_{0};
    Instant next_expiration_{0};
};

}  // namespace highwater::node
