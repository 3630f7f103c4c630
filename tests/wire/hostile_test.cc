// Goal: decode(encode(m)) == m for random messages, and no input of any kind crashes a decoder, makes it
// allocate more than the input justifies, or is accepted with another meaning than what encodes again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "allocation_meter.h"
#include "messages.h"
#include "random_message.h"
#include "wire/frame.h"
#include "wire/record_batch.h"

namespace highwater::test {
namespace {

constexpr std::uint64_t kSeed = 20261130;

/// One byte of input may become a struct of some hundred bytes (an array element of one byte on the wire),
/// doubled by the growth of vectors; error sentences come on top.
std::size_t justified(std::size_t input) { return 512 * input + 4096; }

template <class Message>
Message random_message(Rng& rng, std::int16_t version) {
    Message message;
    RandomMessage(rng, version).fill(message);
    return message;
}

/// Changes, cuts, lengthens or overwrites with a huge number.
void mutate(Rng& rng, Bytes& bytes) {
    for (std::uint64_t n = 1 + rng.below(3); n > 0; --n) {
        if (bytes.empty()) {
            bytes.push_back(static_cast<std::uint8_t>(rng.next()));
            continue;
        }
        const std::size_t at = rng.below(bytes.size());
        switch (rng.below(5)) {
            case 0:
                bytes[at] = static_cast<std::uint8_t>(rng.next());
                break;
            case 1:
                bytes[at] ^= static_cast<std::uint8_t>(1U << rng.below(8));
                break;
            case 2:
                bytes.resize(at);
                break;
            case 3:
                bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                             static_cast<std::uint8_t>(rng.next()));
                break;
            default:
                for (std::size_t i = at; i < std::min(at + 4, bytes.size()); ++i) {
                    bytes[i] = i == at ? 0x7F : 0xFF;
                }
        }
    }
}

Bytes random_bytes(Rng& rng, std::size_t size) {
    Bytes bytes(size);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng.next() >> 56U);
    return bytes;
}

template <class Message>
void decode_hostile(const Bytes& bytes, std::int16_t version, int& accepted) {
    reset_largest_allocation();
    const auto message = wire::decode<Message>(bytes, version);
    ASSERT_LE(largest_allocation(), justified(bytes.size()))
        << Message::kName << " v" << version << " " << to_hex(bytes);
    if (!message) {
        ASSERT_TRUE(message.error().message.starts_with(fmt::format("{} v{}: ", Message::kName, version)))
            << message.error().message;
        return;
    }
    ++accepted;
    const auto again = wire::decode<Message>(wire::encode(*message, version), version);
    ASSERT_TRUE(again) << again.error().message << " " << to_hex(bytes);
    ASSERT_EQ(*again, *message) << Message::kName << " v" << version << " " << to_hex(bytes);
}

template <class F>
void for_each_version(F&& f) {
    for_each_message([&]<class Message>() {
        for (std::int16_t version = Message::kVersions.low; version <= Message::kVersions.high; ++version) {
            f.template operator()<Message>(version);
        }
    });
}

TEST(Codec, random_messages_round_trip_in_every_version) {
    Rng rng(kSeed);
    for_each_version([&]<class Message>(std::int16_t version) {
        for (int i = 0; i < 50; ++i) {
            const auto message = random_message<Message>(rng, version);
            const auto decoded = wire::decode<Message>(wire::encode(message, version), version);
            ASSERT_TRUE(decoded) << decoded.error().message;
            ASSERT_EQ(*decoded, message) << Message::kName << " v" << version;
        }
    });
}

TEST(Codec, every_cut_of_a_message_is_refused) {
    Rng rng(kSeed + 1);
    for_each_version([&]<class Message>(std::int16_t version) {
        const Bytes whole = wire::encode(random_message<Message>(rng, version), version);
        for (std::size_t size = 0; size < whole.size(); ++size) {
            const auto cut = wire::decode<Message>(BytesView(whole).first(size), version);
            ASSERT_FALSE(cut) << Message::kName << " v" << version << " cut to " << size << " of "
                              << to_hex(whole);
        }
        Bytes longer = whole;
        longer.push_back(0);
        const auto refused = wire::decode<Message>(longer, version);
        ASSERT_FALSE(refused);
        ASSERT_NE(refused.error().message.find("1 bytes left over"), std::string::npos)
            << refused.error().message;
    });
}

TEST(Codec, hostile_bytes_are_refused_or_mean_what_they_encode_to) {
    Rng rng(kSeed + 2);
    int accepted = 0;
    int tried = 0;
    for_each_version([&]<class Message>(std::int16_t version) {
        for (int i = 0; i < 60; ++i, ++tried) {
            Bytes bytes = random_bytes(rng, rng.below(80));
            if (i % 4 != 0) {
                bytes = wire::encode(random_message<Message>(rng, version), version);
                mutate(rng, bytes);
            }
            decode_hostile<Message>(bytes, version, accepted);
            if (::testing::Test::HasFatalFailure()) return;
        }
    });
    fmt::print("{} hostile inputs, {} of them accepted\n", tried, accepted);
    EXPECT_GT(accepted, 0);
    EXPECT_LT(accepted, tried);
}

TEST(Codec, hostile_metadata_records_headers_and_batches_never_crash) {
    Rng rng(kSeed + 3);
    for (int i = 0; i < 5000; ++i) {
        Bytes bytes = random_bytes(rng, rng.below(120));
        if (bytes.size() > 3 && rng.chance(70)) {
            bytes[0] = 1;
            bytes[1] = static_cast<std::uint8_t>(rng.below(30));
            bytes[2] = static_cast<std::uint8_t>(rng.below(4));
        }
        reset_largest_allocation();
        if (const auto record = wire::decode_metadata_record(bytes)) {
            const auto again = wire::encode_metadata_record(record->record, record->version);
            ASSERT_TRUE(wire::decode_metadata_record(again));
        }
        if (const auto request = wire::decode_request_header(bytes)) {
            ASSERT_LE(request->body.size(), bytes.size());
        }
        static_cast<void>(wire::decode_response_header(bytes, wire::ApiKey::Fetch, 17));
        static_cast<void>(wire::split_batches(bytes));
        static_cast<void>(wire::decode_records(bytes));
        ASSERT_LE(largest_allocation(), justified(bytes.size()));
    }
}

TEST(Codec, errors_name_message_version_field_and_byte) {
    ByteWriter out;
    out.i32(-1);  // replica id
    out.i32(500);
    out.i32(1);
    out.i32(1000);
    out.i8(0);
    out.i32(0x7FFFFFFF);  // topics: two thousand million of them
    const auto request = wire::decode<wire::FetchRequest>(out.bytes(), 4);
    ASSERT_FALSE(request);
    EXPECT_EQ(request.error().message,
              "FetchRequest v4: field topics at byte 21: a length beyond the end of the message");
    const auto version = wire::decode<wire::FetchRequest>(out.bytes(), 3);
    ASSERT_FALSE(version);
    EXPECT_EQ(version.error().message, "FetchRequest has no version 3");
}

TEST(Codec, unknown_tagged_fields_are_skipped) {
    wire::BrokerHeartbeatResponse response;
    response.is_fenced = true;
    Bytes bytes = wire::encode(response, 1);
    ASSERT_EQ(bytes.back(), 0) << "no tagged field of its own";
    bytes.pop_back();
    const Bytes unknown{2, 7, 3, 1, 2, 3, 9, 0};  // tag 7 of three bytes, tag 9 of none
    bytes.insert(bytes.end(), unknown.begin(), unknown.end());
    const auto decoded = wire::decode<wire::BrokerHeartbeatResponse>(bytes, 1);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, response);
}

TEST(Codec, long_text_is_cut_where_the_version_cannot_carry_it) {
    wire::CreateTopicsResponse response;
    response.topics.emplace_back().error_message = std::string(40000, 'x');
    const auto old = wire::decode<wire::CreateTopicsResponse>(wire::encode(response, 4), 4);
    ASSERT_TRUE(old) << old.error().message;
    EXPECT_EQ(old->topics.front().error_message, std::string(32767, 'x'));
    const auto flexible = wire::decode<wire::CreateTopicsResponse>(wire::encode(response, 5), 5);
    ASSERT_TRUE(flexible) << flexible.error().message;
    EXPECT_EQ(flexible->topics.front().error_message, response.topics.front().error_message);
}

}  // namespace
}  // namespace highwater::test
