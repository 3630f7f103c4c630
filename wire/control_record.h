// Records of control batches: transaction markers in a partition, quorum records in the metadata log. Their
// key tells the type, as version i16 and type i16.
#pragma once

#include <cstdint>

#include "wire/messages/metadata_records.h"
#include "wire/record_batch.h"

namespace highwater::wire {

enum class ControlType : std::int16_t {
    Abort = 0,
    Commit = 1,
    LeaderChange = 2,
    SnapshotHeader = 3,
    SnapshotFooter = 4,
    KRaftVersion = 5,
    KRaftVoters = 6,
};

/// The type of a record of a control batch; numbers without a name are passed on. Errors: no key, a key below
/// 4 bytes.
Result<ControlType> control_type(const Record& record);

/// Errors: another type, a malformed value.
Result<LeaderChangeMessage> decode_leader_change(const Record& record);
/// What a quorum leader writes first in its epoch. `timestamp` in ms since 1970.
Record encode_leader_change(const LeaderChangeMessage& message, std::int64_t timestamp);

}  // namespace highwater::wire
