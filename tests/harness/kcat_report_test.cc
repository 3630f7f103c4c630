// What kcat prints of its one record, word by word as version 1.7.1 does, and what is no report.
#include <gtest/gtest.h>

#include "harness/kcat_client.h"

namespace highwater::harness {
namespace {

using workloads::AttemptEnd;
using workloads::LibraryError;

TEST(KcatReport, DeliveredWithItsOffset) {
    const auto reply = kcat_report(
        "% Producing file r (40 bytes)\n% Message delivered to partition 0 (offset 5) on broker 1\n", -1);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->end, AttemptEnd(wire::ErrorCode::None));
    EXPECT_EQ(reply->offset, 5);
    EXPECT_EQ(reply->broker, 1);
}

TEST(KcatReport, FailedWithTheCodeOfTheLibrarysWords) {
    const auto timed_out = kcat_report(
        "% ERROR: Local: All broker connections are down: 3/3 brokers are down\n"
        "% Delivery failed for message: Local: Message timed out\n",
        -1);
    ASSERT_TRUE(timed_out);
    EXPECT_EQ(timed_out->end, AttemptEnd(LibraryError{"_MSG_TIMED_OUT", false}));
    const auto refused =
        kcat_report("% Delivery failed for message: Broker: Not enough in-sync replicas\n", -1);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->end, AttemptEnd(wire::ErrorCode::NotEnoughReplicas));
    const auto news = kcat_report("% Delivery failed for message: words of tomorrow\n", -1);
    ASSERT_TRUE(news);
    EXPECT_EQ(news->end, AttemptEnd(LibraryError{"words of tomorrow", false}));
}

TEST(KcatReport, WithoutAReportNobodyKnows) {
    EXPECT_FALSE(kcat_report("", -1));
    EXPECT_FALSE(kcat_report("% ERROR: Local: All broker connections are down: 3/3 brokers are down\n", -1));
    EXPECT_FALSE(kcat_report("% Message delivered to partition 0 (offset 51) on broker", -1))
        << "killed while writing";
    EXPECT_FALSE(kcat_report("% Message delivered to partition 0 (offset 5)", -1));
    EXPECT_FALSE(kcat_report("% Message delivered to partition 0 (offset )\n", -1));
}

TEST(KcatReport, AnAcknowledgementWithoutAnOffsetIsNone) {
    const auto reply = kcat_report("% Message delivered to partition 0 (offset -1) on broker 1\n", -1);
    ASSERT_TRUE(reply);
    EXPECT_NE(reply->end, AttemptEnd(wire::ErrorCode::None));
    EXPECT_EQ(reply->offset, kUnknownOffset);
}

}  // namespace
}  // namespace highwater::harness
