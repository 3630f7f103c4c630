// What must be true of any log that was just opened, whatever happened before.
#pragma once

#include <string>
#include <vector>

#include "node/log/file_storage.h"
#include "node/log/partition_log.h"
#include "tests/node_log_kill/promise.h"

namespace highwater::test {

/// All batches, after checking that each is valid and follows the one before, in offsets and epochs; that the
/// epoch cache and the producers say what the batches say; and that a read from any offset begins with the
/// batch that holds it. Failures go to the test.
std::vector<KeptBatch> checked_batches(const node::PartitionLog& log);

/// That every index entry of `directory`'s segments, as it is on the disk, names a batch.
void check_indexes(node::FileStorage& storage, const std::string& directory);

}  // namespace highwater::test
