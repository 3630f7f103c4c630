// The numbers behind the shell's limits, without sockets: how often a warning may be written, and what others
// may cost.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "node/broker/admission.h"
#include "node/broker/log_limit.h"

namespace highwater::node {
namespace {

constexpr Instant kStart{1'000'000'000};

int written(LogLimit& limit, Instant at, int times, const std::string& text) {
    int count = 0;
    for (int i = 0; i < times; ++i)
        count += limit.admit(at, fmt::format(fmt::runtime(text), i)).write ? 1 : 0;
    return count;
}

TEST(LogLimit, AFloodOfOneKindIsCutShortAndCounted) {
    LogLimit limit;
    EXPECT_EQ(written(limit, kStart, 1000, "WARN closing connection {}: bad"), LogLimit::kBurst);
    const auto next = limit.admit(kStart + seconds(1), "WARN closing connection 7: worse");
    EXPECT_TRUE(next.write);
    ASSERT_TRUE(next.before);
    EXPECT_EQ(*next.before, "WARN 980 lines like the next one were left out");
    EXPECT_EQ(written(limit, kStart + seconds(1), 10, "WARN closing connection {}: bad"), 0);
    EXPECT_EQ(written(limit, kStart + seconds(100), 1000, "WARN closing connection {}: bad"),
              LogLimit::kBurst);
}

TEST(LogLimit, OtherKindsAndLevelsAreNotAffected) {
    LogLimit limit;
    written(limit, kStart, 1000, "WARN closing connection {}: bad");
    EXPECT_TRUE(limit.admit(kStart, "WARN the controller did not answer").write);
    EXPECT_EQ(written(limit, kStart, 100, "ERROR {}"), 100);
    EXPECT_EQ(written(limit, kStart, 100, "INFO {}"), 100);
}

TEST(LogLimit, WhatAPeerChoosesMakesNoEndlessNumberOfKinds) {
    LogLimit limit;
    int count = 0;
    for (int i = 0; i < 10000; ++i) {
        const std::string name{static_cast<char>('a' + i % 26), static_cast<char>('a' + i / 26 % 26),
                               static_cast<char>('a' + i / 676)};
        count += limit.admit(kStart, "WARN " + name).write ? 1 : 0;
    }
    EXPECT_LE(count, static_cast<int>(LogLimit::kKinds) + LogLimit::kBurst);
}

TEST(Admission, CountsConnectionsByAddressAndInAll) {
    Limits limits;
    limits.max_connections = 3;
    limits.max_connections_per_ip = 2;
    Admission admission(limits);
    EXPECT_FALSE(admission.refusal("127.0.0.1", false));
    admission.opened(2, "127.0.0.1", false);
    admission.opened(4, "127.0.0.1", false);
    EXPECT_TRUE(admission.refusal("127.0.0.1", false));
    EXPECT_TRUE(admission.refusal("127.0.0.1", true)) << "per address it makes no difference who comes";
    EXPECT_FALSE(admission.refusal("127.0.0.2", false));
    admission.opened(6, "127.0.0.2", false);
    EXPECT_TRUE(admission.refusal("127.0.0.3", false));
    EXPECT_FALSE(admission.refusal("127.0.0.3", true));
    admission.closed(2);
    admission.closed(2);
    EXPECT_FALSE(admission.refusal("127.0.0.1", false));
    EXPECT_EQ(admission.count(), 2U);
}

TEST(Admission, OneConnectionMayHaveSoManyRequestsUnanswered) {
    Limits limits;
    limits.pipelined_requests = 2;
    Admission admission(limits);
    admission.opened(2, "127.0.0.1", false);
    admission.begun(2, 10);
    EXPECT_TRUE(admission.may_begin(2));
    admission.begun(2, 20);
    EXPECT_FALSE(admission.may_begin(2));
    admission.answered(2, 1);
    EXPECT_TRUE(admission.may_begin(2));
    EXPECT_EQ(admission.bytes(), 20U) << "the first is answered first";
    admission.closed(2);
    EXPECT_EQ(admission.bytes(), 0U);
}

TEST(Admission, BytesOfAllHoldBackClientsButNotPeers) {
    Limits limits;
    limits.queued_request_bytes = 100;
    Admission admission(limits);
    admission.opened(2, "127.0.0.1", false);
    admission.opened(4, "127.0.0.2", false);
    admission.opened(6, "127.0.0.3", true);
    admission.begun(2, 99);
    EXPECT_TRUE(admission.may_begin(4));
    admission.begun(4, 50);
    EXPECT_TRUE(admission.full());
    EXPECT_FALSE(admission.may_begin(2));
    EXPECT_FALSE(admission.may_begin(4));
    EXPECT_TRUE(admission.may_begin(6));
    admission.answered(2, 0);
    EXPECT_TRUE(admission.may_begin(4));
    // The server's own connections are not counted.
    EXPECT_TRUE(admission.may_begin(1));
    admission.begun(1, 1000);
    EXPECT_FALSE(admission.full());
}

}  // namespace
}  // namespace highwater::node
