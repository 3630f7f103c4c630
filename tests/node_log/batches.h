// Batches of short text values, and what a log holds, told in one line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "node/log/partition_log.h"

namespace highwater::test {

inline constexpr const char* kLogFile = "t-0/00000000000000000000.log";
inline constexpr const char* kEpochFile = "t-0/leader-epoch-checkpoint";

/// One batch with these values at `base_offset`, of `epoch`.
Bytes batch(const std::vector<std::string>& values, Offset base_offset = 0, LeaderEpoch epoch = kNoEpoch);
Bytes joined(const std::vector<Bytes>& parts);

/// "0:a 1:b | 2:c": offset and value of every record, a bar between batches.
std::string records_of(BytesView batches);
/// The same of everything that can be read from the log.
std::string records_of(const node::PartitionLog& log);
/// "0@0 2@5": epoch @ start offset of each entry.
std::string epochs_of(const node::LeaderEpochCache& cache);

/// The log "t-0", opened; the test stops if that fails.
std::unique_ptr<node::PartitionLog> open_log(node::Storage& storage, const node::LogSettings& settings = {},
                                             const node::LogStart& start = {});
/// Appends one batch as the leader of `epoch`.
void lead(node::PartitionLog& log, LeaderEpoch epoch, const std::vector<std::string>& values);

}  // namespace highwater::test
