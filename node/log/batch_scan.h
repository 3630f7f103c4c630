// Walks the batches of a segment file without holding the file in memory.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "node/log/storage.h"
#include "wire/record_batch.h"

namespace highwater::node {

enum class BatchCheck : std::uint8_t {
    Header,  // plausible header, whole batch within the file
    Crc,     // and everything that validate_batch looks at
};
/// False stops the walk before this batch.
using BatchVisitor = std::function<bool(const wire::BatchHeader& header, std::uint64_t position)>;

/// Visits the batches from byte `position` on. Returns where it stopped: the file's end, the first bytes that
/// are no whole good batch, or the batch that the visitor refused. Errors: IO.
Result<std::uint64_t> scan_batches(const AppendFile& file, std::uint64_t position, BatchCheck check,
                                   const BatchVisitor& visit);

}  // namespace highwater::node
