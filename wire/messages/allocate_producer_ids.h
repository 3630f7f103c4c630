// AllocateProducerIds (67): a broker asks the controller for a block of producer ids.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct AllocateProducerIdsRequest {
    static constexpr std::string_view kName = "AllocateProducerIdsRequest";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr ApiKey kApiKey = ApiKey::AllocateProducerIds;
    std::int32_t broker_id = 0;
    std::int64_t broker_epoch = -1;
    friend bool operator==(const AllocateProducerIdsRequest&, const AllocateProducerIdsRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{field("brokerId", &AllocateProducerIdsRequest::broker_id, since(0)),
                          field("brokerEpoch", &AllocateProducerIdsRequest::broker_epoch, since(0))};
    }
};

struct AllocateProducerIdsResponse {
    static constexpr std::string_view kName = "AllocateProducerIdsResponse";
    static constexpr Versions kVersions{0, 0};
    static constexpr std::int16_t kFlexibleSince = 0;
    static constexpr ApiKey kApiKey = ApiKey::AllocateProducerIds;
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::None;
    std::int64_t producer_id_start = 0;
    std::int32_t producer_id_len = 0;
    friend bool operator==(const AllocateProducerIdsResponse&, const AllocateProducerIdsResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &AllocateProducerIdsResponse::throttle_time_ms, since(0)),
                          field("errorCode", &AllocateProducerIdsResponse::error_code, since(0)),
                          field("producerIdStart", &AllocateProducerIdsResponse::producer_id_start, since(0)),
                          field("producerIdLen", &AllocateProducerIdsResponse::producer_id_len, since(0))};
    }
};
HW_WIRE_MESSAGE(AllocateProducerIdsRequest)
HW_WIRE_MESSAGE(AllocateProducerIdsResponse)

}  // namespace highwater::wire
