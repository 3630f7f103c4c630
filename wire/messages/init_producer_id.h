// InitProducerId (22): an identity for an idempotent producer.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct InitProducerIdRequest {
    static constexpr std::string_view kName = "InitProducerIdRequest";
    static constexpr Versions kVersions{0, 6};
    static constexpr std::int16_t kFlexibleSince = 2;
    static constexpr ApiKey kApiKey = ApiKey::InitProducerId;
    std::optional<std::string> transactional_id = "";
    std::int32_t transaction_timeout_ms = 0;
    std::int64_t producer_id = -1;
    std::int16_t producer_epoch = -1;
    bool enable2_pc = false;
    bool keep_prepared_txn = false;
    friend bool operator==(const InitProducerIdRequest&, const InitProducerIdRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("transactionalId", &InitProducerIdRequest::transactional_id, since(0)).nullable(since(0)),
            field("transactionTimeoutMs", &InitProducerIdRequest::transaction_timeout_ms, since(0)),
            field("producerId", &InitProducerIdRequest::producer_id, since(3)),
            field("producerEpoch", &InitProducerIdRequest::producer_epoch, since(3)),
            field("enable2Pc", &InitProducerIdRequest::enable2_pc, since(6)),
            field("keepPreparedTxn", &InitProducerIdRequest::keep_prepared_txn, since(6))};
    }
};

struct InitProducerIdResponse {
    static constexpr std::string_view kName = "InitProducerIdResponse";
    static constexpr Versions kVersions{0, 6};
    static constexpr std::int16_t kFlexibleSince = 2;
    static constexpr ApiKey kApiKey = ApiKey::InitProducerId;
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::None;
    std::int64_t producer_id = -1;
    std::int16_t producer_epoch = 0;
    std::int64_t ongoing_txn_producer_id = -1;
    std::int16_t ongoing_txn_producer_epoch = -1;
    friend bool operator==(const InitProducerIdResponse&, const InitProducerIdResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{
            field("throttleTimeMs", &InitProducerIdResponse::throttle_time_ms, since(0)),
            field("errorCode", &InitProducerIdResponse::error_code, since(0)),
            field("producerId", &InitProducerIdResponse::producer_id, since(0)),
            field("producerEpoch", &InitProducerIdResponse::producer_epoch, since(0)),
            field("ongoingTxnProducerId", &InitProducerIdResponse::ongoing_txn_producer_id, since(6)),
            field("ongoingTxnProducerEpoch", &InitProducerIdResponse::ongoing_txn_producer_epoch, since(6))};
    }
};
HW_WIRE_MESSAGE(InitProducerIdRequest)
HW_WIRE_MESSAGE(InitProducerIdResponse)

}  // namespace highwater::wire
