#include "workloads/rdkafka_errors.h"

#include <librdkafka/rdkafka.h>

#include <cstddef>
#include <string>

namespace highwater::workloads {
namespace {

/// Codes from -1 on are what a broker answered; those below are the library's own.
bool from_a_broker(int error) { return error >= static_cast<int>(RD_KAFKA_RESP_ERR_UNKNOWN); }

AttemptEnd broker_end(int error) { return wire::ErrorCode{static_cast<std::int16_t>(error)}; }

LibraryError library_error(int error, bool never_sent) {
    return {rd_kafka_err2name(static_cast<rd_kafka_resp_err_t>(error)), never_sent};
}

}  // namespace

AttemptEnd delivery_end(int error, Offset offset, std::int16_t acks) {
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR && offset < 0 && acks != 0)
        return LibraryError{"acknowledged without an offset", false};
    if (from_a_broker(error)) return broker_end(error);
    return library_error(error, false);
}

AttemptEnd described_end(std::string_view description, std::int16_t acks) {
    const rd_kafka_err_desc* known = nullptr;
    std::size_t count = 0;
    rd_kafka_get_err_descs(&known, &count);
    for (std::size_t i = 0; i < count; ++i) {
        if (known[i].desc != nullptr && description == known[i].desc)
            return delivery_end(known[i].code, kUnknownOffset, acks);
    }
    return LibraryError{std::string(description), false};
}

AttemptEnd not_queued_end(int error) { return library_error(error, true); }

AttemptEnd read_end(int error) {
    if (error == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) return wire::ErrorCode::OffsetOutOfRange;
    if (from_a_broker(error)) return broker_end(error);
    return library_error(error, false);
}

}  // namespace highwater::workloads
