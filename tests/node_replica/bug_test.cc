// Goal: each deliberate bug of the replica does what its line in node/bugs.def says, tells the trace that it
// did, and the correct node does not. Method: the least script of commands (bench.h) that reaches the unsafe
// state, played with the bug and without it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bench.h"
#include "node/log/bugs.h"

namespace highwater::node {
namespace {

using Script = std::vector<std::string>;

/// A script played on a bench of its own; every replica it makes has the bug.
class Played {
public:
    Played(Script script, const std::string& bug) {
        for (std::string& command : script) {
            if (command.starts_with("new ") && !bug.empty()) command += " bugs=" + bug;
        }
        output_ = bench_.run(script);
        EXPECT_EQ(output_.find("error: "), std::string::npos) << output_;
    }
    [[nodiscard]] bool says(const std::string& text) const { return output_.find(text) != std::string::npos; }
    [[nodiscard]] const std::string& output() const { return output_; }
    const Partition& replica(const std::string& name) { return bench_.replica(name); }

private:
    Bench bench_;
    std::string output_;
};

using Unsafe = bool (*)(Played&);

/// `breaks`: the invariant that the replica itself finds broken, "" if only a view of several can tell.
void expect_bug(Bug bug, const Script& script, Unsafe unsafe, const std::string& breaks = "") {
    const BugInfo& info = kBugs.at(static_cast<std::size_t>(bug));
    Played correct(script, "");
    EXPECT_FALSE(unsafe(correct)) << correct.output();
    EXPECT_FALSE(correct.says("bug ")) << correct.output();
    EXPECT_FALSE(correct.says("breaks ")) << correct.output();
    for (const std::string_view spelling : {info.name, info.id}) {
        Played broken(script, std::string(spelling));
        EXPECT_TRUE(unsafe(broken)) << broken.output();
        EXPECT_TRUE(broken.says(fmt::format("bug {} acted (1)", info.name))) << broken.output();
        if (!breaks.empty()) {
            EXPECT_TRUE(broken.says("breaks " + breaks)) << broken.output();
        }
    }
}

bool acknowledged(Played& played) { return played.says("ticket #1 done: NONE"); }
const std::vector<EpochEntry>& table(Played& played, const std::string& name) {
    return played.replica(name).log().epochs().entries();
}

TEST(Bug, Z01AckOnAppend) {
    expect_bug(Bug::AckOnAppend,
               {"new A", "registration A leader=1 isr=1,2 epoch=1 partition-epoch=1", "append A acks=-1"},
               acknowledged, "AckQuorum");
}

TEST(Bug, Z02HwLeo) {
    expect_bug(
        Bug::HwLeo, {"new A", "registration A leader=1 isr=1,2 epoch=1 partition-epoch=1", "append A acks=1"},
        [](Played& played) { return played.replica("A").high_watermark() == 1; }, "ValidHighWatermark");
}

// Replica 3 has nothing; what 2 has counts as committed, and 3 may be elected.
TEST(Bug, Z03HwMax) {
    expect_bug(Bug::HwMax,
               {"new A", "registration A leader=1 isr=1,2,3 epoch=1 partition-epoch=1", "append A acks=-1",
                "follower-fetch A replica=3 offset=0 epoch=1",
                "follower-fetch A replica=2 offset=1 epoch=1 last-epoch=1"},
               acknowledged, "ValidHighWatermark");
}

TEST(Bug, Z06ServeAboveHw) {
    expect_bug(
        Bug::ServeAboveHw,
        {"new A", "registration A leader=1 isr=1,2 epoch=1 partition-epoch=1", "append A acks=1",
         "consumer-fetch A offset=0"},
        [](Played& played) { return played.says("served 0..0 at HW 0"); }, "FetchAboveHw");
}

// Nobody but the new leader may have its last two records.
TEST(Bug, Z07HwLeoOnElect) {
    expect_bug(
        Bug::HwLeoOnElect,
        {"new A log=1x2 hw=0", "registration A leader=1 isr=1,2 epoch=2 partition-epoch=2",
         "consumer-fetch A offset=0"},
        [](Played& played) { return played.says("served 0..1"); }, "ValidHighWatermark");
}

// The former leader A has a record of its own at offset 2; B takes A's fetch offset 3 for a copy of its
// record there.
TEST(Bug, Z10DivergeUpdatesLeo) {
    expect_bug(
        Bug::DivergeUpdatesLeo,
        {"new A log=1x3 hw=2", "new B log=1x2 hw=2",
         "registration A B leader=2 isr=1,2 epoch=2 partition-epoch=2", "append B acks=-1", "fetch A hold"},
        [](Played& played) {
            return acknowledged(played) && played.replica("A").log().epochs().latest_epoch() == 1;
        });
}

// A's record at offset 0 never left A; B writes another one there, and A learns that offset 0 is committed.
TEST(Bug, Z11PurgKeep) {
    expect_bug(Bug::PurgKeep,
               {"new A", "new B", "registration A B leader=1 isr=1,2 epoch=1 partition-epoch=1",
                "append A acks=-1", "registration A B leader=2 isr=1,2 epoch=2 partition-epoch=2",
                "append B acks=1", "fetch A", "fetch A", "fetch A", "fetch A"},
               acknowledged, "AckQuorum");
}

// Offset 1 is committed: A knows, B does not yet. B follows A again, then leads.
TEST(Bug, Z20TruncToHw) {
    expect_bug(Bug::TruncToHw,
               {"new A log=1x2 hw=2", "new B log=1x2 hw=1",
                "registration A B leader=1 isr=1,2 epoch=2 partition-epoch=2",
                "registration A B leader=2 isr=1,2 epoch=3 partition-epoch=3", "fetch A", "fetch A"},
               [](Played& played) { return played.replica("B").log().log_end_offset() == 1; });
}

TEST(Bug, Z22NoTrunc) {
    expect_bug(
        Bug::NoTrunc,
        {"new A log=1x3", "new B log=1x2", "registration A B leader=2 isr=1,2 epoch=2 partition-epoch=2",
         "append B acks=1", "fetch A", "fetch A"},
        [](Played& played) { return table(played, "A") != table(played, "B"); });
}

// The same; and the leader adds its next record to what A has of its own, and takes both for copies.
TEST(Bug, Z23NoDivergeCheck) {
    expect_bug(
        Bug::NoDivergeCheck,
        {"new A log=1x3", "new B log=1x2", "registration A B leader=2 isr=1,2 epoch=2 partition-epoch=2",
         "append B acks=-1 records=2", "fetch A", "fetch A"},
        [](Played& played) { return acknowledged(played) && table(played, "A") != table(played, "B"); });
}

// The leader knows epoch 1 up to offset 3, the follower never had epoch 1 and keeps two records of epoch 2.
TEST(Bug, Z24Kip101Only) {
    expect_bug(Bug::Kip101Only,
               {"new A log=0x1,1x2", "new B log=0x1,2x4",
                "registration A B leader=1 isr=1,2 epoch=3 partition-epoch=3", "append A acks=-1", "fetch B",
                "fetch B", "fetch B", "fetch B", "fetch B"},
               [](Played& played) { return !acknowledged(played) && table(played, "B").back().epoch == 2; });
}

// B led epoch 2 without writing: its table says more than its log.
TEST(Bug, Z28EcNoTrunc) {
    expect_bug(
        Bug::EcNoTrunc,
        {"new A log=1x2", "new B log=1x2,2x0", "registration A B leader=1 isr=1,2 epoch=3 partition-epoch=3",
         "append A acks=-1", "fetch B", "fetch B", "fetch B", "fetch B"},
        [](Played& played) { return !acknowledged(played); });
}

// The controller may still elect replica 3.
TEST(Bug, Z40EagerShrink) {
    expect_bug(
        Bug::EagerShrink,
        {"new A lag=10s", "registration A leader=1 isr=1,2,3 epoch=1 partition-epoch=1", "append A acks=-1",
         "advance 11s", "follower-fetch A replica=2 offset=1 epoch=1 last-epoch=1", "tick A"},
        acknowledged, "ValidHighWatermark");
}

// The controller may have committed the expand already.
TEST(Bug, Z41NoMaximalExpand) {
    expect_bug(Bug::NoMaximalExpand,
               {"new A lag=10s", "registration A leader=1 isr=1,2 epoch=1 partition-epoch=1",
                "follower-fetch A replica=3 offset=0 epoch=1", "proposal A", "append A acks=-1",
                "follower-fetch A replica=2 offset=1 epoch=1 last-epoch=1"},
               acknowledged, "ValidHighWatermark");
}

// The shrink's answer came before its metadata; when that arrives, replica 3 is being added again.
const Script kLateMetadata = {"new A lag=10s",
                              "registration A leader=1 isr=1,2,3 epoch=1 partition-epoch=1",
                              "append A acks=1",
                              "advance 11s",
                              "follower-fetch A replica=2 offset=1 epoch=1 last-epoch=1",
                              "tick A",
                              "alter-partition-answer A ok",
                              "follower-fetch A replica=3 offset=1 epoch=1 last-epoch=1",
                              "proposal A",
                              "registration A leader=1 isr=1,2 epoch=1 partition-epoch=2",
                              "append A acks=-1",
                              "advance 11s",
                              "follower-fetch A replica=2 offset=2 epoch=1 last-epoch=1"};

TEST(Bug, Z42MdEqualClears) { expect_bug(Bug::MdEqualClears, kLateMetadata, acknowledged); }

// Metadata that says nothing new of this partition, because something else changed, is not that bug.
TEST(Bug, Z42NeedsNewsOfThePartition) {
    Script script = kLateMetadata;
    const std::string late = script[9];
    script.insert(script.begin() + 7, late);
    Played played(script, "md_equal_clears");
    EXPECT_FALSE(acknowledged(played)) << played.output();
    EXPECT_FALSE(played.says("bug md_equal_clears")) << played.output();
}

TEST(Bug, Z43ExpandNoCheck) {
    expect_bug(Bug::ExpandNoCheck,
               {"new A log=1x3 hw=3", "registration A leader=1 isr=1,2 epoch=2 partition-epoch=2",
                "follower-fetch A replica=3 offset=1 epoch=2 last-epoch=1"},
               [](Played& played) { return played.says("proposes ISR 1,2 -> 1,2,3"); });
}

// What A's predecessor committed lies below the start of A's epoch, not below A's own, older high watermark.
TEST(Bug, Z44ExpandNoLess) {
    expect_bug(Bug::ExpandNoLess,
               {"new A log=1x3 hw=1", "registration A leader=1 isr=1,2 epoch=2 partition-epoch=2",
                "follower-fetch A replica=3 offset=1 epoch=2 last-epoch=1"},
               [](Played& played) { return played.says("proposes ISR 1,2 -> 1,2,3"); });
}

TEST(Bug, EachIsKnownByNameAndId) {
    std::string all;
    for (const BugInfo& info : kBugs) {
        for (const std::string_view spelling : {info.name, info.id}) {
            const Result<Bugs> parsed = Bugs::parse(spelling);
            ASSERT_TRUE(parsed.has_value()) << spelling;
            ASSERT_EQ(parsed->list().size(), 1U) << spelling;
            EXPECT_TRUE(parsed->has(info.bug)) << spelling;
            EXPECT_EQ(parsed->to_string(), info.name);
        }
        EXPECT_FALSE(info.origin.empty());
        EXPECT_FALSE(info.mechanism.empty());
        all += fmt::format("{}{}", all.empty() ? "" : ",", info.id);
    }
    EXPECT_EQ(Bugs::parse(all)->list().size(), kBugs.size());
    EXPECT_GE(kBugs.size(), 20U);
    EXPECT_FALSE(Bugs::parse("hw_leo,no_such_bug").has_value());
}

}  // namespace
}  // namespace highwater::node
