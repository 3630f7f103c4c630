// Goal: numbers survive writer -> reader, and reading past the end fails for good instead of crashing.
#include "base/bytes.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/crc32c.h"
#include "base/rng.h"
#include "base/uuid.h"

namespace highwater {
namespace {

TEST(Bytes, varints_round_trip_at_every_width) {
    for (unsigned shift = 0; shift < 64; ++shift) {
        const std::uint64_t bit = 1ULL << shift;
        // Unsigned arithmetic: the negative of the smallest number is itself.
        for (const std::uint64_t pattern : {bit, ~bit + 1, bit - 1}) {
            const auto number = static_cast<std::int64_t>(pattern);
            ByteWriter writer;
            writer.varint(number);
            writer.uvarint(static_cast<std::uint64_t>(number));
            ByteReader reader(writer.bytes());
            EXPECT_EQ(reader.varint(), number);
            EXPECT_EQ(reader.uvarint(), static_cast<std::uint64_t>(number));
            EXPECT_FALSE(reader.failed());
            EXPECT_TRUE(reader.at_end());
        }
    }
}

TEST(Bytes, reading_past_the_end_fails_and_stays_failed) {
    const Bytes three{1, 2, 3};
    ByteReader reader(three);
    EXPECT_EQ(reader.i16(), 0x0102);
    EXPECT_EQ(reader.i32(), 0);
    EXPECT_TRUE(reader.failed());
    EXPECT_EQ(reader.u8(), 0) << "no read succeeds after a failed one";
}

TEST(Bytes, endless_varint_is_an_error) {
    const Bytes bytes(11, 0xFF);
    ByteReader reader(bytes);
    EXPECT_EQ(reader.uvarint(), 0U);
    EXPECT_TRUE(reader.failed());
}

TEST(Bytes, hex_refuses_what_is_no_hex) {
    EXPECT_EQ(to_hex(from_hex("00ff7A").value()), "00ff7a");
    EXPECT_FALSE(from_hex("abc").has_value());
    EXPECT_FALSE(from_hex("zz").has_value());
}

TEST(Crc32c, check_value) { EXPECT_EQ(crc32c(as_bytes_view("123456789")), 0xE3069283U); }

TEST(Uuid, text_form_is_kafkas) {
    const auto uuid = Uuid::parse("Yag0zed1TaqtJD_IdOE8Ag");
    ASSERT_TRUE(uuid.has_value());
    EXPECT_EQ(uuid->to_string(), "Yag0zed1TaqtJD_IdOE8Ag");
    EXPECT_EQ(Uuid{}.to_string(), "AAAAAAAAAAAAAAAAAAAAAA");
    EXPECT_FALSE(Uuid::parse("short").has_value());
    EXPECT_FALSE(Uuid::parse("Yag0zed1TaqtJD/IdOE8Ag").has_value());
}

TEST(Rng, same_seed_same_sequence) {
    Rng one(7);
    Rng two(7);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(one.next(), two.next());
    EXPECT_NE(Rng(7).next(), Rng(8).next());
    for (int i = 0; i < 1000; ++i) {
        const std::int64_t value = one.between(-2, 2);
        EXPECT_TRUE(value >= -2 && value <= 2);
    }
}

}  // namespace
}  // namespace highwater
