// One replica's log of one partition: a directory of Kafka's files behind Storage.
//   appending   append_as_leader (gives offsets and epoch), append_as_follower (takes both as they are)
//   reading     read: whole batches from the one that holds `from`
//   truncating  truncate_to: cuts batches and epoch entries, for divergence only
//   durability  flush, close; an append flushes only the segment that it leaves and new entries of the epoch
//               file, unless log.flush.interval.messages says otherwise
// Appends and reads are synchronous (page cache, as in Kafka). The high watermark is not the log's: see
// node/replica. Segments and their recovery are in log_segments, their files in segment and sparse_index.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/partition.h"
#include "base/result.h"
#include "node/log/leader_epoch_cache.h"
#include "node/log/log_settings.h"
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
    /// Opens or creates the directory's segments. Unless `start` says that the log was closed, the segments
    /// that its recovery point does not cover are read again: the log is cut at the first batch that is torn,
    /// fails its CRC or does not follow, later segments go, and epochs and producers become what the batches
    /// say. `directory` is "topic-partition" or "__cluster_metadata-0". Errors: IO, unreadable epoch file.
    static Result<std::unique_ptr<PartitionLog>> open(Storage& storage, std::string directory,
                                                      const LogSettings& settings = {},
                                                      const LogStart& start = {});
    /// Stands in for a log that could not be opened: empty, every call fails with `why`.
    static std::unique_ptr<PartitionLog> unusable(Storage& storage, std::string directory, Error why);
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
    /// Everything below is durable.
    [[nodiscard]] Offset recovery_point() const { return recovery_point_; }
    /// Where the first segment begins; at most log_start_offset().
    [[nodiscard]] Offset first_segment_offset() const;
    [[nodiscard]] std::size_t segment_count() const;
    [[nodiscard]] std::uint64_t size_bytes() const;
    /// Bytes cut from the end at open(), for the start-up log line.
    [[nodiscard]] std::uint64_t recovered_cut_bytes() const { return recovered_cut_bytes_; }

    /// `batches`: validated v2 batches of a producer. Offsets are assigned from log_end_offset(), the epoch
    /// is written into each batch; both lie before the CRC'd region. Batches of idempotent producers are
    /// checked first: look at AppendInfo's error and duplicate. Errors: IO; then nothing may be acknowledged,
    /// and either nothing was appended or the log refuses every further append.
    Result<AppendInfo> append_as_leader(Bytes batches, LeaderEpoch epoch);
    /// Batches as the leader sent them. The first must start at log_end_offset(); offsets must rise. New
    /// epochs found in the batches enter the epoch cache. A partial batch at the end is left out; without a
    /// whole one nothing happens (batches 0). Errors: as above, and CRC, an offset that does not follow.
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
    /// flush(), and all that spares the next open() from reading: indexes to the end, a producer snapshot.
    /// The log may still be used; then it is not closed any more.
    Status close();

private:
    PartitionLog(Storage& storage, std::string directory);
    Status load(const LogStart& start);
    Status load_epochs(std::optional<Offset> scan_from);
    Status save_epochs(const LeaderEpochCache& epochs, Durability durability);
    Status rebuild_epochs();
    Status scan(Offset from);
    Status reload_producers(Offset end);
    Status append_chunk(BytesView bytes, const std::vector<wire::BatchView>& views);
    Status append_chunks(const std::vector<wire::BatchView>& views);
    tl::unexpected<Error> undo_append(const Error& cause, bool appended_some);
    struct Impl;
    Storage& storage_;
    std::string directory_;
    Offset log_start_offset_ = 0;
    Offset log_end_offset_ = 0;
    Offset recovery_point_ = 0;
    LeaderEpochCache epochs_;
    ProducerStates producers_;
    std::uint64_t recovered_cut_bytes_ = 0;
    std::unique_ptr<Impl> impl_;
};

}  // namespace highwater::node
