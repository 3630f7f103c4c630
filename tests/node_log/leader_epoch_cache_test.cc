// Goal: the epoch cache answers as Kafka's does, row by row. Divergence between replicas is found by nothing
// else.
#include "node/log/leader_epoch_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "batches.h"

namespace highwater::test {
namespace {

using node::EpochEntry;
using node::LeaderEpochCache;

const std::vector<EpochEntry> kThree{{2, 5}, {4, 9}, {7, 20}};

TEST(LeaderEpochCache, EndOffsetForAnswersEveryRowOfTheRule) {
    struct Row {
        const char* rule;
        std::vector<EpochEntry> entries;
        LeaderEpoch asked;
        std::optional<OffsetAndEpoch> expected;
    };
    constexpr Offset kLogEnd = 33;
    const std::vector<Row> rows{
        {"nothing known", {}, 3, std::nullopt},
        {"no epoch asked", kThree, kNoEpoch, std::nullopt},
        {"the latest epoch ends at the log's end", kThree, 7, OffsetAndEpoch{kLogEnd, 7}},
        {"the only epoch is the latest", {{0, 0}}, 0, OffsetAndEpoch{kLogEnd, 0}},
        {"nothing above an epoch that is not the latest", kThree, 8, std::nullopt},
        {"nothing at or below: the start of the first higher", kThree, 1, OffsetAndEpoch{5, 1}},
        {"epoch 0 below the first", kThree, 0, OffsetAndEpoch{5, 0}},
        {"a known epoch ends where the next begins", kThree, 2, OffsetAndEpoch{9, 2}},
        {"the one before the latest", kThree, 4, OffsetAndEpoch{20, 4}},
        {"an unknown epoch: the one below and its end", kThree, 3, OffsetAndEpoch{9, 2}},
        {"an unknown epoch just below the latest", kThree, 6, OffsetAndEpoch{20, 4}},
        {"the latest epoch without records", {{2, 5}, {9, kLogEnd}}, 9, OffsetAndEpoch{kLogEnd, 9}},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(LeaderEpochCache(row.entries).end_offset_for(row.asked, kLogEnd), row.expected) << row.rule;
    }
}

TEST(LeaderEpochCache, AssignKeepsBothFieldsRising) {
    struct Row {
        const char* rule;
        std::vector<EpochEntry> entries;
        EpochEntry assigned;
        bool changed;
        const char* expected;
    };
    const std::vector<Row> rows{
        {"the first", {}, {3, 0}, true, "3@0"},
        {"a later epoch further on", kThree, {8, 25}, true, "2@5 4@9 7@20 8@25"},
        {"the same again", kThree, {7, 20}, false, "2@5 4@9 7@20"},
        {"the latest epoch further on keeps its first start", kThree, {7, 30}, false, "2@5 4@9 7@20"},
        {"the latest epoch earlier", kThree, {7, 15}, true, "2@5 4@9 7@15"},
        {"a later epoch at the start of the latest, which had no records",
         kThree,
         {8, 20},
         true,
         "2@5 4@9 8@20"},
        {"a later epoch before several", kThree, {8, 7}, true, "2@5 8@7"},
        {"a later epoch before all", kThree, {8, 0}, true, "8@0"},
        {"an older epoch removes the later ones", kThree, {5, 25}, true, "2@5 4@9 5@25"},
        {"a known older epoch moves", kThree, {4, 25}, true, "2@5 4@25"},
        {"an older epoch within the log", kThree, {3, 8}, true, "2@5 3@8"},
    };
    for (const Row& row : rows) {
        LeaderEpochCache cache(row.entries);
        EXPECT_EQ(cache.assign(row.assigned.epoch, row.assigned.start_offset), row.changed) << row.rule;
        EXPECT_EQ(epochs_of(cache), row.expected) << row.rule;
    }
}

TEST(LeaderEpochCache, TruncateFromEndRemovesWhatStartsThereOrBeyond) {
    struct Row {
        Offset end;
        bool changed;
        const char* expected;
    };
    for (const Row& row : std::vector<Row>{{21, false, "2@5 4@9 7@20"},
                                           {20, true, "2@5 4@9"},
                                           {10, true, "2@5 4@9"},
                                           {9, true, "2@5"},
                                           {5, true, ""},
                                           {0, true, ""}}) {
        LeaderEpochCache cache(kThree);
        EXPECT_EQ(cache.truncate_from_end(row.end), row.changed) << row.end;
        EXPECT_EQ(epochs_of(cache), row.expected) << row.end;
    }
}

TEST(LeaderEpochCache, LatestAndStarts) {
    EXPECT_EQ(LeaderEpochCache().latest_epoch(), std::nullopt);
    const LeaderEpochCache cache(kThree);
    EXPECT_EQ(cache.latest_epoch(), 7);
    EXPECT_EQ(cache.start_of(4), 9);
    EXPECT_EQ(cache.start_of(3), std::nullopt);
    EXPECT_EQ(cache.start_of(8), std::nullopt);
}

TEST(LeaderEpochCacheDeathTest, EntriesThatDoNotRiseAreAMistakeOfTheCaller) {
    EXPECT_DEATH(LeaderEpochCache({{1, 5}, {1, 9}}), "rise in both fields");
    EXPECT_DEATH(LeaderEpochCache({{1, 5}, {2, 5}}), "rise in both fields");
}

}  // namespace
}  // namespace highwater::test
