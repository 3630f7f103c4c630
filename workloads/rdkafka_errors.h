// What librdkafka's codes say, in the words of the table of outcomes. Its own verdict on a message, the
// status NOT_PERSISTED, is never asked: it is given for NOT_LEADER_OR_FOLLOWER and UNKNOWN_SERVER_ERROR too,
// after which the record may be there.
#pragma once

#include <string_view>

#include "model/history.h"
#include "workloads/outcome.h"

namespace highwater::workloads {

/// A delivery report. `error`: rd_kafka_resp_err_t; `acks`: -1, 0 or 1; `offset`: unknown if negative. No
/// broker acknowledged a record without an offset: an idempotent producer concludes it from
/// DUPLICATE_SEQUENCE_NUMBER, or from the acknowledgement of a later record.
AttemptEnd delivery_end(int error, Offset offset, std::int16_t acks);
/// A delivery report of which only the library's words for its code are known ("Broker: Not enough in-sync
/// replicas").
AttemptEnd described_end(std::string_view description, std::int16_t acks);
/// The library did not take the record into its queue: nothing was sent, and nothing will be.
AttemptEnd not_queued_end(int error);
/// A fetch or a question for an offset. The position fell out of the log: OFFSET_OUT_OF_RANGE.
AttemptEnd read_end(int error);

}  // namespace highwater::workloads
