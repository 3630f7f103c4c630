// The outcome table, row by row: a wrong entry is a false verdict.
#include "workloads/outcome.h"

#include <gtest/gtest.h>

#include <set>

#include "wire/error_code.h"
#include "workloads/broker_client.h"

namespace highwater::workloads {
namespace {

using wire::ErrorCode;

struct Row {
    AttemptEnd end;
    Outcome acks_all;
    Outcome acks_one;
    Outcome acks_none;
};

const Row kRows[] = {
    {ErrorCode::None, Outcome::Ok, Outcome::Ok, Outcome::Info},
    // Refused before the append.
    {ErrorCode::CorruptMessage, Outcome::Fail, Outcome::Fail, Outcome::Fail},
    {ErrorCode::UnknownTopicOrPartition, Outcome::Fail, Outcome::Fail, Outcome::Fail},
    {ErrorCode::MessageTooLarge, Outcome::Fail, Outcome::Fail, Outcome::Fail},
    {ErrorCode::NotEnoughReplicas, Outcome::Fail, Outcome::Fail, Outcome::Fail},
    {ErrorCode::InvalidRequiredAcks, Outcome::Fail, Outcome::Fail, Outcome::Fail},
    {ErrorCode::InvalidRecord, Outcome::Fail, Outcome::Fail, Outcome::Fail},
    {SocketFailure::Refused, Outcome::Fail, Outcome::Fail, Outcome::Fail},
    {SocketFailure::ConnectTimeout, Outcome::Fail, Outcome::Fail, Outcome::Fail},
    // With acks=all it is also what a waiting append hears when leadership is lost.
    {ErrorCode::NotLeaderOrFollower, Outcome::Info, Outcome::Fail, Outcome::Fail},
    // Appended, or perhaps.
    {ErrorCode::RequestTimedOut, Outcome::Info, Outcome::Info, Outcome::Info},
    {ErrorCode::NotEnoughReplicasAfterAppend, Outcome::Info, Outcome::Info, Outcome::Info},
    {ErrorCode::UnknownServerError, Outcome::Info, Outcome::Info, Outcome::Info},
    {ErrorCode::KafkaStorageError, Outcome::Info, Outcome::Info, Outcome::Info},
    {ErrorCode::OutOfOrderSequenceNumber, Outcome::Info, Outcome::Info, Outcome::Info},
    {ErrorCode::FencedLeaderEpoch, Outcome::Info, Outcome::Info, Outcome::Info},
    {ErrorCode{999}, Outcome::Info, Outcome::Info, Outcome::Info},
    {SocketFailure::Lost, Outcome::Info, Outcome::Info, Outcome::Info},
    {SocketFailure::Timeout, Outcome::Info, Outcome::Info, Outcome::Info},
    {SocketFailure::Oversized, Outcome::Info, Outcome::Info, Outcome::Info},
    {SocketFailure::Malformed, Outcome::Info, Outcome::Info, Outcome::Info},
};

TEST(Outcome, EveryRowOfTheTable) {
    for (const Row& row : kRows) {
        EXPECT_EQ(produce_outcome(row.end, -1), row.acks_all) << attempt_error(row.end);
        EXPECT_EQ(produce_outcome(row.end, 1), row.acks_one) << attempt_error(row.end);
        EXPECT_EQ(produce_outcome(row.end, 0), row.acks_none) << attempt_error(row.end);
    }
}

TEST(Outcome, OnlyListedCodesAreDefiniteFailures) {
    std::set<int> failures;
    for (int code = -1; code <= 200; ++code) {
        if (produce_outcome(ErrorCode{static_cast<std::int16_t>(code)}, -1) == Outcome::Fail)
            failures.insert(code);
    }
    EXPECT_EQ(failures, (std::set<int>{2, 3, 10, 19, 21, 87}));
}

TEST(Outcome, NothingButAnAcknowledgementIsDefiniteAfterARetry) {
    for (const Row& row : kRows) {
        const Outcome expected = row.acks_all == Outcome::Ok ? Outcome::Ok : Outcome::Info;
        EXPECT_EQ(produce_outcome(row.end, -1, false), expected) << attempt_error(row.end);
    }
}

TEST(Outcome, ErrorsHaveKafkasNames) {
    EXPECT_EQ(attempt_error(ErrorCode::None), "");
    EXPECT_EQ(attempt_error(ErrorCode::NotEnoughReplicas), "NOT_ENOUGH_REPLICAS");
    EXPECT_EQ(attempt_error(SocketFailure::Lost), socket_failure_name(SocketFailure::Lost));
}

BytesView view(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(Values, EncodedWithTheRunAndReadBack) {
    for (const Value value :
         {make_value(1, 1), make_value(3, 977), make_value(50, (std::int64_t{1} << 40) - 1)}) {
        const Bytes bytes = encode_value("0badcafe", value);
        EXPECT_EQ(decode_value("0badcafe", bytes, 7), value);
        EXPECT_EQ(decode_value("0badcaff", bytes, 7), -8) << "another run's record is foreign";
    }
    EXPECT_EQ(as_text(encode_value("ab", make_value(3, 977))), "ab:p3-977");
    const Bytes padded = encode_value("ab", make_value(3, 977), 14);
    EXPECT_EQ(as_text(padded), "ab:p3-977 ....");
    EXPECT_EQ(decode_value("ab", padded, 0), make_value(3, 977));
    EXPECT_EQ(as_text(encode_value("ab", make_value(3, 977), 4)), "ab:p3-977") << "no value is cut";
}

TEST(Values, WhateverElseIsForeignAndDistinctByOffset) {
    for (const char* text :
         {"", "ab", "ab:", "ab:p", "ab:p1", "ab:p1-", "ab:p1-2x", "ab:px-2", "ab:p-1-2", "ab:p1--2", "b:p1-2",
          "ab:q1-2", "ab:p1-1099511627777", "ab:p9999999999-1", "ab:p1-99999999999999999999"}) {
        EXPECT_EQ(decode_value("ab", view(text), 0), -1) << text;
        EXPECT_EQ(decode_value("ab", view(text), 41), -42) << text;
    }
}

}  // namespace
}  // namespace highwater::workloads
