// The parts without sockets: addresses, frames, rules, meters, the kernel's socket table.
#include <gtest/gtest.h>

#include "nemesis/address_plan.h"
#include "nemesis/frame_cutter.h"
#include "nemesis/meter.h"
#include "nemesis/rule_set.h"
#include "nemesis/tcp_table.h"

namespace highwater::nemesis {
namespace {

TEST(AddressPlan, NamesBothEndsOfEveryLink) {
    const AddressPlan plan(7);
    const Members members{{1, 2}, {100}, {150}};
    EXPECT_EQ(plan.address(1, 2), "127.7.1.2");
    EXPECT_EQ(plan.real_address(2), "127.7.2.2");
    EXPECT_EQ(plan.hosts_file(2, members),
              "127.0.0.1 localhost\n127.7.2.1 b1\n127.7.2.2 b2\n127.7.2.100 c100\n");
    std::vector<std::string> links;
    for (const Link& link : AddressPlan::links(members)) {
        links.push_back(std::to_string(link.source) + "->" + std::to_string(link.destination) + ":" +
                        std::to_string(link.port));
    }
    EXPECT_EQ(links, (std::vector<std::string>{"1->2:19091", "1->100:19094", "2->1:19091", "2->100:19094",
                                               "150->1:19092", "150->2:19092"}));
}

TEST(SlotClaim, IsExclusiveWhileHeld) {
    auto first = SlotClaim::claim();
    ASSERT_TRUE(first) << first.error().message;
    const int slot = first->plan().slot();
    {
        auto second = SlotClaim::claim();
        ASSERT_TRUE(second) << second.error().message;
        EXPECT_NE(second->plan().slot(), slot);
    }
    const SlotClaim moved = std::move(*first);
    auto third = SlotClaim::claim();
    ASSERT_TRUE(third);
    EXPECT_NE(third->plan().slot(), slot);
}

Bytes frame(std::int32_t length, std::int16_t api, std::int32_t correlation_id, std::size_t padding) {
    ByteWriter out;
    out.i32(length);
    out.i16(api);
    out.i16(0);
    out.i32(correlation_id);
    out.raw(Bytes(padding, 0xAA));
    return out.take();
}

/// Feeds in chunks of `step` and returns "api[!]" for each frame, ! where it ends, with all bytes checked.
std::string cut(const Bytes& stream, std::size_t step, FrameCutter& cutter) {
    std::vector<Piece> pieces;
    for (std::size_t at = 0; at < stream.size(); at += step) {
        cutter.feed(BytesView(stream).subspan(at, std::min(step, stream.size() - at)), Instant{1}, pieces);
    }
    cutter.finish(pieces);
    std::string text;
    Bytes joined;
    for (const Piece& piece : pieces) {
        joined.insert(joined.end(), piece.bytes.begin(), piece.bytes.end());
        if (piece.starts_frame) text += std::to_string(piece.api_key);
        if (piece.unframed && !text.ends_with('?')) text += '?';
        if (piece.ends_frame) text += '!';
    }
    EXPECT_EQ(joined, stream);
    return text;
}

TEST(FrameCutter, FindsFramesHoweverTheyCome) {
    Bytes stream;
    for (const Bytes& part : {frame(8, 1, 10, 0), frame(108, 0, 11, 100), frame(8, 3, 12, 0)}) {
        stream.insert(stream.end(), part.begin(), part.end());
    }
    ByteWriter responses;
    for (const std::int32_t id : {10, 12, 99}) {
        responses.i32(6);
        responses.i32(id);
        responses.i16(0);
    }
    for (std::size_t step = 1; step <= stream.size(); ++step) {
        Unanswered unanswered;
        FrameCutter requests(FrameCutter::Stream::Requests, unanswered);
        EXPECT_EQ(cut(stream, step, requests), "1!0!3!") << step;
        FrameCutter answers(FrameCutter::Stream::Responses, unanswered);
        EXPECT_EQ(cut(responses.bytes(), step, answers), "1!3!-1!") << step;
    }
}

TEST(FrameCutter, PassesShortFramesAndGarbage) {
    Unanswered unanswered;
    FrameCutter requests(FrameCutter::Stream::Requests, unanswered);
    ByteWriter stream;
    stream.i32(0);
    stream.i32(3);
    stream.raw(Bytes{1, 2, 3});
    stream.raw(frame(8, 1, 10, 0));
    stream.i32(-5);
    stream.raw(Bytes(40, 7));
    EXPECT_EQ(cut(stream.bytes(), 1, requests), "-1!-1!1!?");
    FrameCutter unfinished(FrameCutter::Stream::Requests, unanswered);
    EXPECT_EQ(cut(Bytes{0, 0, 0, 9, 0}, 2, unfinished), "?");
}

TEST(FrameCutter, ForgetsRequestsThatGetNoAnswer) {
    Unanswered unanswered;
    for (std::int32_t i = 0; i < 100'000; ++i) unanswered.add({i, 0, Instant{i}});
    EXPECT_EQ(unanswered.answer(0), std::nullopt);
    EXPECT_EQ(unanswered.answer(99'998)->came, Instant{99'998});
    EXPECT_EQ(unanswered.answer(99'000), std::nullopt);
    EXPECT_TRUE(unanswered.answer(99'999).has_value());
}

TEST(RuleSet, JudgesByPathPartAndApi) {
    const Members members{{1, 2}, {}, {}};
    RuleSet rules;
    ASSERT_TRUE(rules.add({.id = "d",
                           .source = 1,
                           .destination = 2,
                           .kind = FaultKind::Delay,
                           .delay = milliseconds(10),
                           .jitter = milliseconds(2)},
                          members));
    ASSERT_TRUE(rules.add({.id = "e",
                           .source = 1,
                           .destination = 2,
                           .kind = FaultKind::Delay,
                           .delay = milliseconds(5),
                           .part = FramePart::Request},
                          members));
    ASSERT_TRUE(
        rules.add({.id = "h", .source = 1, .destination = 2, .kind = FaultKind::Hold, .api = "67"}, members));
    const Path requests{1, 2, FramePart::Request};
    const Path responses{1, 2, FramePart::Response};
    EXPECT_EQ(rules.judge(requests, 1).delay, milliseconds(15));
    EXPECT_EQ(rules.judge(requests, 1).jitter, milliseconds(2));
    EXPECT_EQ(rules.judge(responses, 1).delay, milliseconds(10));
    EXPECT_EQ(rules.judge({2, 1, FramePart::Request}, 67).delay, Duration::zero());
    EXPECT_TRUE(rules.judge(responses, 67).hold);
    EXPECT_FALSE(rules.judge(responses, 1).hold);
    // The connection itself is touched by rules for all APIs only.
    EXPECT_FALSE(rules.judge(requests, kUnknownApi).hold);
    ASSERT_TRUE(rules.remove("h"));
    EXPECT_FALSE(rules.judge(responses, 67).hold);
}

TEST(LatenessMeter, BoundsQuantilesWithinASixteenth) {
    LatenessMeter meter;
    EXPECT_EQ(meter.summary().count, 0U);
    EXPECT_EQ(meter.summary().max, Duration::zero());
    for (int i = 1; i <= 1000; ++i) meter.add(std::chrono::microseconds(i));
    const Lateness lateness = meter.summary();
    EXPECT_EQ(lateness.count, 1000U);
    EXPECT_NEAR(to_millis(lateness.p50), 0.5, 0.5 / 15);
    EXPECT_NEAR(to_millis(lateness.p99), 0.99, 0.99 / 15);
    EXPECT_EQ(lateness.max, milliseconds(1));
}

TEST(PathMeter, CountsFramesSinceAMoment) {
    PathMeter meter;
    for (int i = 0; i < 3000; ++i) meter.frame_passed(1, FramePart::Request, Instant{i});
    EXPECT_EQ(meter.stats.frames, 3000U);
    EXPECT_EQ(meter.frames_since(Instant{2990}), 10U);
    EXPECT_EQ(meter.frames_since(Instant{0}), PathMeter::kRecent);
}

TEST(TcpTable, ReadsIpv4AndIpv4InIpv6) {
    const auto sockets = parse_tcp_table(
        "  sl  local_address rem_address   st tx_queue rx_queue\n"
        "   0: 0101017F:4A93 FA01017F:C001 01 00000000:00000000 00:00000000\n"
        "   1: 0000000000000000FFFF00000202017F:4A94 00000000000000000000000000000000:0000 0A 0\n"
        "   2: 0000000000000000FFFF00000202017F:4A94 0000000000000000FFFF00000100007F:D431 01 0\n"
        "   3: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:C000 01 0\n"
        "garbage\n");
    ASSERT_EQ(sockets.size(), 2U);
    EXPECT_EQ(sockets[0].local.to_string(), "127.1.1.1:19091");
    EXPECT_EQ(sockets[0].remote.to_string(), "127.1.1.250:49153");
    EXPECT_EQ(sockets[0].state, TcpState::Established);
    EXPECT_EQ(sockets[1].local.to_string(), "127.1.2.2:19092");
    EXPECT_EQ(sockets[1].remote.to_string(), "127.0.0.1:54321");
}

}  // namespace
}  // namespace highwater::nemesis
