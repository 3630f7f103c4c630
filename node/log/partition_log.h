// One replica's log of one partition: a directory of Kafka's files behind Storage.
//   appending   append_as_leader (gives offsets and epoch), append_as_follower (takes both as they are)
//   reading     read: whole batches from the one that holds `from`
//   truncating  truncate_to: cuts batches and epoch entries, for divergence only
//   durability  flush; nothing here flushes by itself but new entries of the epoch file
// Appends and reads are synchronous (page cache, as in Kafka). The high watermark is not the log's: see
// node/replica.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/partition.h"
#include "base/result.h"
#include "node/log/leader_epoch_cache.h"
#include "node/log/producer_state.h"
#include "node/log/storage.h"

namespace highwater::node {

struct AppendInfo {
    /// Not NONE: the batches were refused for this (see ProducerVerdict), nothing was appended, the log is as
    /// good as before. An unusable disk is a failed Result instead.
    wire::ErrorCode error = wire::ErrorCode::None;
    std::string refusal;
    /// An idempotent producer sent what is in the log already, at first_offset to last_offset: nothing was
    /// appended.
    bool duplicate = false;
    Offset first_offset = kUnknownOffset;
    Offset last_offset = kUnknownOffset;
    std::int32_t batches = 0;
    std::int64_t max_timestamp = -1;
};

class PartitionLog {
public:
    /// Opens or creates `<directory>/00000000000000000000.log`, re-reading every batch: the log is cut at the
    /// first one that is torn or fails its CRC, the epochs become those of the batches that are left,
    /// whatever the epoch file says. `directory` is "topic-partition" or "__cluster_metadata-0". Errors: IO,
    /// unreadable epoch file, a second segment.
    static Result<std::unique_ptr<PartitionLog>> open(Storage& storage, std::string directory);
    ~PartitionLog();
    PartitionLog(const PartitionLog&) = delete;
    PartitionLog& operator=(const PartitionLog&) = delete;

    [[nodiscard]] const std::string& directory() const { return directory_; }
    [[nodiscard]] Offset log_start_offset() const { return log_start_offset_; }
    [[nodiscard]] Offset log_end_offset() const { return log_end_offset_; }
    [[nodiscard]] const LeaderEpochCache& epochs() const { return epochs_; }
    [[nodiscard]] const ProducerStates& producers() const { return producers_; }
    /// Forgets idempotent producers that have been silent for `expiration` (producer.id.expiration.ms).
    void expire_producers(std::int64_t now_ms, Duration expiration) { producers_.expire(now_ms, expiration); }
    /// Bytes cut from the end at open(), for the start-up log line.
    [[nodiscard]] std::uint64_t recovered_cut_bytes() const { return recovered_cut_bytes_; }

    /// `batches`: validated v2 batches of a producer. Offsets are assigned from log_end_offset(), the epoch
    /// is written into each batch; both lie before the CRC'd region. Batches of idempotent producers are
    /// checked first: look at AppendInfo's error and duplicate. Errors: IO (then nothing was appended).
    Result<AppendInfo> append_as_leader(Bytes batches, LeaderEpoch epoch);
    /// Batches as the leader sent them. The first must start at log_end_offset(); offsets must rise. New
    /// epochs found in the batches enter the epoch cache. A partial batch at the end is left out; without a
    /// whole one nothing happens (batches 0). Errors: IO, CRC, an offset that does not follow; then nothing
    /// was appended.
    Result<AppendInfo> append_as_follower(BytesView batches);

    /// Whole batches covering [from, end) with end <= `limit`: from the batch that holds `from`, at most
    /// `max_bytes` but at least one batch. A batch that reaches past `limit` is left out. Empty if from >=
    /// limit. Requires log_start_offset() <= from <= log_end_offset().
    [[nodiscard]] Result<Bytes> read(Offset from, Offset limit, std::size_t max_bytes) const;

    /// Cuts everything at and above `offset` (a batch that straddles it goes whole), then the epoch cache,
    /// which is cut even if the log needs no cut (KAFKA-10706). No-op for the log if offset >=
    /// log_end_offset().
    Status truncate_to(Offset offset);
    /// The leader of `epoch` starts at `start`: into the cache and, fsynced, into the file.
    Status assign_epoch(LeaderEpoch epoch, Offset start);

    /// Everything appended so far survives a power loss.
    Status flush();

private:
    PartitionLog(Storage& storage, std::string directory);
    Status rebuild_producers();
    struct Impl;
    Storage& storage_;
    std::string directory_;
    Offset log_start_offset_ = 0;
    Offset log_end_offset_ = 0;
    LeaderEpochCache epochs_;
    ProducerStates producers_;
    std::uint64_t recovered_cut_bytes_ = 0;
    std::unique_ptr<Impl> impl_;
};

}  // namespace highwater::node
