// A partition's files, followed while they grow, roll, are cut and vanish.
#include "harness/kafka/segment_tail.h"

#include <filesystem>

#include "log_files.h"

namespace highwater::harness {
namespace {

TEST(SegmentTailTest, NothingThereYet) {
    SegmentTail tail("/nonexistent/t-0", false);
    EXPECT_FALSE(tail.poll().changed);
    EXPECT_FALSE(tail.log_end());
}

TEST(SegmentTailTest, GrowsByWholeBatches) {
    const LogDirectory log;
    SegmentTail tail(log.path(), true);
    log.write(0, {});
    EXPECT_TRUE(tail.poll().changed);
    EXPECT_EQ(tail.log_end(), 0);
    const Bytes first = batch_of(0, 0, 3);
    log.write(0, first);
    auto progress = tail.poll();
    EXPECT_TRUE(progress.changed);
    EXPECT_EQ(progress.batches, std::vector<Bytes>{first});
    EXPECT_EQ(tail.log_end(), 3);
    EXPECT_FALSE(tail.poll().changed);
    const Bytes second = batch_of(3, 2, 1);
    log.write(0, Bytes(second.begin(), second.end() - 1));
    EXPECT_FALSE(tail.poll().changed) << "its last byte is missing";
    log.write(0, {second.back()});
    EXPECT_TRUE(tail.poll().changed);
    EXPECT_EQ(tail.log_end(), 4);
    EXPECT_EQ(tail.epochs(), (std::vector<OffsetAndEpoch>{{0, 0}, {3, 2}}));
}

TEST(SegmentTailTest, GoesOnInTheNextSegment) {
    const LogDirectory log;
    SegmentTail tail(log.path(), false);
    log.write(0, batch_of(0, 0, 2));
    log.write(2, batch_of(2, 1, 1));
    tail.poll();
    EXPECT_EQ(tail.log_end(), 3);
    log.write(2, batch_of(3, 1, 1));
    EXPECT_TRUE(tail.poll().changed);
    EXPECT_EQ(tail.log_end(), 4);
}

TEST(SegmentTailTest, ACutIsSeen) {
    const LogDirectory log;
    SegmentTail tail(log.path(), false);
    const Bytes first = batch_of(0, 0, 2);
    log.write(0, first);
    log.write(0, batch_of(2, 0, 2));
    tail.poll();
    std::filesystem::resize_file(log.segment(0), first.size());
    const auto progress = tail.poll();
    EXPECT_TRUE(progress.cut);
    EXPECT_EQ(tail.log_end(), 2);
}

TEST(SegmentTailTest, ACutThatWasFilledAgainIsSeen) {
    const LogDirectory log;
    SegmentTail tail(log.path(), false);
    const Bytes first = batch_of(0, 0, 2);
    log.write(0, first);
    log.write(0, batch_of(2, 0, 1));
    tail.poll();
    std::filesystem::resize_file(log.segment(0), first.size());
    log.write(0, batch_of(2, 1, 1));  // as long, by another leader
    const auto progress = tail.poll();
    EXPECT_TRUE(progress.cut);
    EXPECT_EQ(tail.log_end(), 3);
    EXPECT_EQ(tail.epochs(), (std::vector<OffsetAndEpoch>{{0, 0}, {2, 1}}));
}

TEST(SegmentTailTest, AWipedLogIsNone) {
    const LogDirectory log;
    SegmentTail tail(log.path(), false);
    log.write(0, batch_of(0, 0, 2));
    tail.poll();
    std::filesystem::remove(log.segment(0));
    EXPECT_TRUE(tail.poll().changed);
    EXPECT_FALSE(tail.log_end());
}

TEST(SegmentTailTest, ZerosBehindTheEndAreNoBatch) {
    const LogDirectory log;
    SegmentTail tail(log.path(), false);
    log.write(0, batch_of(0, 0, 2));
    log.write(0, Bytes(4096, 0));
    tail.poll();
    EXPECT_EQ(tail.log_end(), 2);
}

}  // namespace
}  // namespace highwater::harness
