#include "workloads/outcome.h"

namespace highwater::workloads {
namespace {

/// Refused before the append, whatever the acks.
bool refused_before_append(wire::ErrorCode code) {
    switch (static_cast<std::int16_t>(code)) {
        case 2:   // CORRUPT_MESSAGE
        case 3:   // UNKNOWN_TOPIC_OR_PARTITION
        case 10:  // MESSAGE_TOO_LARGE
        case 19:  // NOT_ENOUGH_REPLICAS
        case 21:  // INVALID_REQUIRED_ACKS
        case 87:  // INVALID_RECORD
            return true;
        default:
            return false;
    }
}

}  // namespace

bool operator==(const LibraryError& a, const LibraryError& b) {
    return a.name == b.name && a.never_sent == b.never_sent;
}

Outcome produce_outcome(const AttemptEnd& end, std::int16_t acks, bool single_attempt) {
    if (const auto* error = std::get_if<LibraryError>(&end))
        return error->never_sent ? Outcome::Fail : Outcome::Info;
    if (const auto* failure = std::get_if<SocketFailure>(&end)) {
        // Nothing was sent on a connection that never existed.
        const bool never_sent =
            *failure == SocketFailure::Refused || *failure == SocketFailure::ConnectTimeout;
        return never_sent && single_attempt ? Outcome::Fail : Outcome::Info;
    }
    const wire::ErrorCode code = std::get<wire::ErrorCode>(end);
    if (code == wire::ErrorCode::None) return acks == 0 ? Outcome::Info : Outcome::Ok;
    if (!single_attempt) return Outcome::Info;
    if (refused_before_append(code)) return Outcome::Fail;
    // With acks=all Kafka answers 6 also after the local append, when leadership is lost while waiting.
    if (code == wire::ErrorCode::NotLeaderOrFollower && acks != -1) return Outcome::Fail;
    return Outcome::Info;
}

std::string attempt_error(const AttemptEnd& end) {
    if (const auto* failure = std::get_if<SocketFailure>(&end))
        return std::string(socket_failure_name(*failure));
    if (const auto* error = std::get_if<LibraryError>(&end)) return error->name;
    const wire::ErrorCode code = std::get<wire::ErrorCode>(end);
    return code == wire::ErrorCode::None ? "" : std::string(wire::error_name(code));
}

}  // namespace highwater::workloads
