// Every code that librdkafka may end an append with: only an acknowledgement is definite, and only a record
// that the library did not take is surely not written.
#include "workloads/rdkafka_errors.h"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <vector>

namespace highwater::workloads {
namespace {

using wire::ErrorCode;

/// All that the library knows, and what brokers may add.
std::vector<int> every_code() {
    const rd_kafka_err_desc* descriptions = nullptr;
    std::size_t count = 0;
    rd_kafka_get_err_descs(&descriptions, &count);
    std::vector<int> codes;
    for (std::size_t i = 0; i < count; ++i) {
        if (descriptions[i].desc != nullptr) codes.push_back(descriptions[i].code);
    }
    for (int code = 1; code <= 140; ++code) codes.push_back(code);
    return codes;
}

Outcome outcome(int code, Offset offset, std::int16_t acks) {
    return produce_outcome(delivery_end(code, offset, acks), acks, false);
}

TEST(RdkafkaErrors, AReportIsOkOrInfoNeverFail) {
    const std::vector<int> codes = every_code();
    EXPECT_GT(codes.size(), 200U);
    for (const int code : codes) {
        for (const std::int16_t acks : {std::int16_t{-1}, std::int16_t{1}, std::int16_t{0}}) {
            const bool acknowledged = code == RD_KAFKA_RESP_ERR_NO_ERROR && acks != 0;
            EXPECT_EQ(outcome(code, 7, acks), acknowledged ? Outcome::Ok : Outcome::Info)
                << rd_kafka_err2name(static_cast<rd_kafka_resp_err_t>(code)) << " acks " << acks;
        }
    }
}

TEST(RdkafkaErrors, WhatTheLibraryCallsNotPersistedIsDoubtful) {
    for (const int code : {int{RD_KAFKA_RESP_ERR__MSG_TIMED_OUT}, int{RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS},
                           int{RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION}, int{RD_KAFKA_RESP_ERR_UNKNOWN},
                           int{RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR}, int{RD_KAFKA_RESP_ERR__PURGE_QUEUE},
                           int{RD_KAFKA_RESP_ERR__PURGE_INFLIGHT}, int{RD_KAFKA_RESP_ERR__TRANSPORT},
                           int{RD_KAFKA_RESP_ERR__TIMED_OUT}, int{RD_KAFKA_RESP_ERR__FATAL}}) {
        EXPECT_EQ(outcome(code, -1, -1), Outcome::Info)
            << rd_kafka_err2name(static_cast<rd_kafka_resp_err_t>(code));
        EXPECT_EQ(outcome(code, -1, 1), Outcome::Info);
    }
}

TEST(RdkafkaErrors, AnAcknowledgementWithoutAnOffsetIsTheLibrarysConclusion) {
    EXPECT_EQ(outcome(RD_KAFKA_RESP_ERR_NO_ERROR, -1001, -1), Outcome::Info);
    EXPECT_EQ(delivery_end(RD_KAFKA_RESP_ERR_NO_ERROR, -1001, 0), AttemptEnd(ErrorCode::None))
        << "acks=0 never has one";
}

TEST(RdkafkaErrors, OnlyWhatWasNeverQueuedIsSurelyNotWritten) {
    for (const int code : {int{RD_KAFKA_RESP_ERR__QUEUE_FULL}, int{RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE},
                           int{RD_KAFKA_RESP_ERR__FATAL}, int{RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION}}) {
        EXPECT_EQ(produce_outcome(not_queued_end(code), -1, false), Outcome::Fail);
        EXPECT_EQ(attempt_error(not_queued_end(code)),
                  rd_kafka_err2name(static_cast<rd_kafka_resp_err_t>(code)));
    }
}

TEST(RdkafkaErrors, BrokersCodesKeepKafkasNamesAndTheLibrarysItsOwn) {
    EXPECT_EQ(attempt_error(delivery_end(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, -1, -1)),
              "NOT_ENOUGH_REPLICAS");
    EXPECT_EQ(attempt_error(delivery_end(RD_KAFKA_RESP_ERR_UNKNOWN, -1, -1)), "UNKNOWN_SERVER_ERROR");
    EXPECT_EQ(attempt_error(delivery_end(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, -1, -1)), "_MSG_TIMED_OUT");
    EXPECT_EQ(read_end(RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET), AttemptEnd(ErrorCode::OffsetOutOfRange));
    EXPECT_EQ(attempt_error(read_end(RD_KAFKA_RESP_ERR__TRANSPORT)), "_TRANSPORT");
}

}  // namespace
}  // namespace highwater::workloads
