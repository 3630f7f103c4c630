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

/// A client library ended an operation without showing what a broker answered.
struct LibraryError {
    /// The library's own name of it, such as "_MSG_TIMED_OUT".
    std::string name;
    /// It never took the operation up.
    bool never_sent = false;
    /// Not inline: g++ 12 with sanitizers takes the name of an AttemptEnd of another kind for uninitialised.
    friend bool operator==(const LibraryError& a, const LibraryError& b);
};

/// How one attempt ended: with Kafka's code, before an answer, or as a library says.
using AttemptEnd = std::variant<wire::ErrorCode, SocketFailure, LibraryError>;

/// acks: -1, 0 or 1. `single_attempt`: no earlier attempt of this operation may have been executed; else only
/// an acknowledgement is definite.
Outcome produce_outcome(const AttemptEnd& end, std::int16_t acks, bool single_attempt = true);
/// "" for NONE, Kafka's name of the code, or what the socket saw.
std::string attempt_error(const AttemptEnd& end);

}  // namespace highwater::workloads
