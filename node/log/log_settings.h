// How a log lays out its files, and what is known of them when it is opened.
#pragma once

#include <cstdint>
#include <limits>

#include "base/ids.h"
#include "base/time.h"

namespace highwater::node {

/// Kafka's keys and defaults.
struct LogSettings {
    /// log.segment.bytes: a segment is left before an append would make it longer. One append is never split,
    /// so a single larger one makes a larger segment.
    std::int32_t segment_bytes = 1073741824;
    /// log.roll.ms: nor does a segment hold records further apart, by their own timestamps.
    Duration roll = milliseconds(604800000);
    /// log.index.interval.bytes between two entries of the indexes.
    std::int32_t index_interval_bytes = 4096;
    /// log.index.size.max.bytes: a full index ends its segment.
    std::int32_t index_size_max_bytes = 10485760;
    /// log.flush.interval.messages: that many unflushed records are flushed by the append that completes
    /// them.
    std::int64_t flush_interval_messages = std::numeric_limits<std::int64_t>::max();
};

/// What the files beside the log say of it (checkpoints, clean-shutdown marker).
struct LogStart {
    /// The log was closed by PartitionLog::close(): nothing needs to be read again.
    bool clean = false;
    /// Below this everything was flushed.
    Offset recovery_point = 0;
    Offset log_start_offset = 0;
};

}  // namespace highwater::node
