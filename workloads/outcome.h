// The one table that turns an answer to a produce into ok, fail or info (docs/anomalies.md, "outcomes"). A
// wrong entry here is a false verdict, so everything not listed as a definite failure is info.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "model/history.h"
#include "wire/error_code.h"
#include "workloads/socket.h"

namespace highwater::workloads {

/// How one attempt ended: with Kafka's code, or before an answer.
using AttemptEnd = std::variant<wire::ErrorCode, SocketFailure>;

/// acks: -1, 0 or 1. `single_attempt`: no earlier attempt of this operation may have been executed; else only
/// an acknowledgement is definite.
Outcome produce_outcome(const AttemptEnd& end, std::int16_t acks, bool single_attempt = true);
/// "" for NONE, Kafka's name of the code, or what the socket saw.
std::string attempt_error(const AttemptEnd& end);

}  // namespace highwater::workloads
