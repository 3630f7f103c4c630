// Goal: headers have the version the protocol asks for, ApiVersions its exceptions; what a listener offers
// can be spoken.
#include "wire/frame.h"

#include <gtest/gtest.h>

#include "messages.h"
#include "wire/error_code.h"

namespace highwater::test {
namespace {

using wire::ApiKey;
using wire::ErrorCode;
using wire::ListenerKind;

std::string request_hex(const wire::RequestHeader& header) {
    ByteWriter out;
    wire::write_request_header(out, header);
    return to_hex(out.bytes());
}
std::string response_hex(ApiKey key, std::int16_t version) {
    ByteWriter out;
    wire::write_response_header(out, key, version, 7);
    return to_hex(out.bytes());
}

TEST(Frame, request_header_is_flexible_from_the_messages_flexible_version_on) {
    EXPECT_EQ(request_hex({ApiKey::Fetch, 11, 7, "ab"}), "0001000b0000000700026162");
    EXPECT_EQ(request_hex({ApiKey::Fetch, 12, 7, "ab"}), "0001000c000000070002616200");
    EXPECT_EQ(request_hex({ApiKey::BrokerHeartbeat, 1, 7, std::nullopt}), "003f000100000007ffff00");
    EXPECT_EQ(request_hex({ApiKey::ApiVersions, 3, 7, ""}), "0012000300000007000000");
}

TEST(Frame, response_header_is_flexible_too_but_for_api_versions) {
    EXPECT_EQ(response_hex(ApiKey::Fetch, 11), "00000007");
    EXPECT_EQ(response_hex(ApiKey::Fetch, 12), "0000000700");
    EXPECT_EQ(response_hex(ApiKey::ApiVersions, 2), "00000007");
    EXPECT_EQ(response_hex(ApiKey::ApiVersions, 3), "00000007");
}

TEST(Frame, requests_and_responses_read_back) {
    wire::BrokerHeartbeatRequest heartbeat;
    heartbeat.broker_id = 3;
    const Bytes frame = wire::encode_request(heartbeat, 1, 42, "broker-3");
    const auto request = wire::decode_request_header(frame);
    ASSERT_TRUE(request) << request.error().message;
    EXPECT_EQ(request->header.api_key, ApiKey::BrokerHeartbeat);
    EXPECT_EQ(request->header.api_version, 1);
    EXPECT_EQ(request->header.correlation_id, 42);
    EXPECT_EQ(request->header.client_id, "broker-3");
    EXPECT_EQ(wire::decode<wire::BrokerHeartbeatRequest>(request->body, 1), heartbeat);
    EXPECT_EQ(wire::peek_request_header(frame)->correlation_id, 42);

    wire::BrokerHeartbeatResponse answer;
    answer.is_fenced = true;
    const Bytes response = wire::encode_response(answer, 1, 42);
    EXPECT_EQ(wire::decode_response<wire::BrokerHeartbeatResponse>(response, 1, 42), answer);
    EXPECT_EQ(wire::decode_response<wire::BrokerHeartbeatResponse>(response, 1, 43).error().message,
              "response to correlation id 42, expected 43");
}

TEST(Frame, tagged_fields_of_headers_are_skipped) {
    auto request = from_hex(
        "003f000100000007ffff"
        "0105021122"
        "aa");
    EXPECT_EQ(to_hex(wire::decode_request_header(*request)->body), "aa");
    auto response = from_hex(
        "00000007"
        "0105021122"
        "bb");
    EXPECT_EQ(to_hex(wire::decode_response_header(*response, ApiKey::Fetch, 12)->body), "bb");
    auto lying = from_hex(
        "00000007"
        "0105ff1122");
    EXPECT_FALSE(wire::decode_response_header(*lying, ApiKey::Fetch, 12));
}

TEST(Frame, bad_headers_are_refused) {
    const auto refusal = [](std::string_view hex) {
        return wire::decode_request_header(*from_hex(hex)).error().message;
    };
    EXPECT_EQ(refusal("0001000b000000"), "a request of 7 bytes has no header");
    EXPECT_EQ(refusal("0063000b00000001ffff"), "api 99 v11 is not spoken here");
    EXPECT_EQ(refusal("0001000b0000000100056162"), "Fetch v11: the request header is cut short");
    EXPECT_EQ(refusal("0001000b00000001fff06162"), "Fetch v11: a client id of -16 bytes");
}

TEST(Frame, length_prefix) {
    const Bytes frame = *from_hex("aabbcc");
    const Bytes prefixed = wire::with_length_prefix(frame);
    EXPECT_EQ(to_hex(prefixed), "00000003aabbcc");
    EXPECT_EQ(wire::read_length_prefix(prefixed, 3), 3U);
    EXPECT_EQ(wire::read_length_prefix(prefixed, 2).error().message,
              "a frame of 3 bytes; at most 2 are taken");
    EXPECT_FALSE(wire::read_length_prefix(*from_hex("ffffffff"), 100));
    EXPECT_FALSE(wire::read_length_prefix(*from_hex("000000"), 100));
}

TEST(ApiTable, an_offered_version_can_be_spoken_and_is_flexible_where_its_message_is) {
    for_each_message(ApiMessages{}, []<class Message>() {
        const wire::ApiInfo* api = wire::find_api(Message::kApiKey);
        ASSERT_NE(api, nullptr) << Message::kName;
        EXPECT_EQ(api->flexible_since, Message::kFlexibleSince) << Message::kName;
        EXPECT_TRUE(Message::kName.starts_with(api->name)) << Message::kName;
        for (const wire::Versions& offered : {api->client, api->internal}) {
            for (std::int16_t version = offered.low; version <= offered.high; ++version) {
                // Offered because librdkafka looks for them, never sent.
                if (api->key == ApiKey::Produce && version < 3) continue;
                EXPECT_TRUE(Message::kVersions.has(version)) << Message::kName << " v" << version;
            }
        }
    });
}

TEST(ApiTable, api_versions_at_an_unknown_version_is_answered_at_version_0_with_the_full_list) {
    for (const ListenerKind listener : {ListenerKind::Client, ListenerKind::Internal}) {
        const auto known = wire::answer_api_versions(listener, 2);
        EXPECT_EQ(known.encode_at, 2);
        EXPECT_EQ(known.response.error_code, ErrorCode::None);
        const auto unknown = wire::answer_api_versions(listener, 5);
        EXPECT_EQ(unknown.encode_at, 0);
        EXPECT_EQ(unknown.response.error_code, ErrorCode::UnsupportedVersion);
        EXPECT_EQ(unknown.response.api_keys, known.response.api_keys);
        EXPECT_FALSE(known.response.api_keys.empty());
        for (const auto& api : known.response.api_keys) {
            EXPECT_TRUE(wire::offers(listener, static_cast<ApiKey>(api.api_key), api.max_version));
            EXPECT_FALSE(wire::offers(listener, static_cast<ApiKey>(api.api_key),
                                      static_cast<std::int16_t>(api.max_version + 1)));
        }
    }
    EXPECT_FALSE(wire::offers(ListenerKind::Client, ApiKey::AlterPartition, 3));
    EXPECT_TRUE(wire::offers(ListenerKind::Internal, ApiKey::AlterPartition, 3));
}

TEST(ErrorCode, names_are_kafkas_and_parse_back) {
    EXPECT_EQ(wire::error_name(ErrorCode::NotLeaderOrFollower), "NOT_LEADER_OR_FOLLOWER");
    EXPECT_EQ(wire::error_name(ErrorCode::None), "NONE");
    EXPECT_EQ(wire::error_name(ErrorCode::UnknownServerError), "UNKNOWN_SERVER_ERROR");
    EXPECT_EQ(wire::error_name(ErrorCode::IneligibleReplica), "INELIGIBLE_REPLICA");
    EXPECT_EQ(wire::error_name(static_cast<ErrorCode>(1234)), "UNKNOWN(1234)");
    for (int number = -1; number <= 136; ++number) {
        const auto code = static_cast<ErrorCode>(number);
        const std::string name = wire::error_name(code);
        EXPECT_FALSE(name.starts_with("UNKNOWN(")) << number;
        EXPECT_EQ(wire::parse_error_name(name), code) << name;
    }
    EXPECT_EQ(wire::parse_error_name("NOT_A_CODE"), std::nullopt);
}

}  // namespace
}  // namespace highwater::test
