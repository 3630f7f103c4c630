// What the transcripts cannot say: failing disks, the bookkeeping of outputs, rules that no transcript can
// reach.
#include "node/replica/partition.h"

#include <gtest/gtest.h>

#include "bench.h"
#include "node/replica/state.h"

namespace highwater::node {
namespace {

using wire::ErrorCode;

constexpr Instant kNow{seconds(1000).count() * 1'000'000'000};

/// A disk that can be made to fail: every write, or every read.
struct Switches {
    bool writes_fail = false;
    bool reads_fail = false;
};

class FailingFile : public AppendFile {
public:
    FailingFile(std::unique_ptr<AppendFile> file, const Switches& switches)
        : file_(std::move(file)), switches_(switches) {}
    [[nodiscard]] std::uint64_t size() const override { return file_->size(); }
    Status append(BytesView bytes) override { return fails() ? failure("disk full") : file_->append(bytes); }
    [[nodiscard]] Result<Bytes> read(std::uint64_t position, std::size_t count) const override {
        if (switches_.reads_fail) return failure("bad sector");
        return file_->read(position, count);
    }
    Status truncate(std::uint64_t size) override {
        return fails() ? failure("disk full") : file_->truncate(size);
    }
    Status flush() override { return fails() ? failure("disk full") : file_->flush(); }

private:
    [[nodiscard]] bool fails() const { return switches_.writes_fail; }
    std::unique_ptr<AppendFile> file_;
    const Switches& switches_;
};

class FailingStorage : public Storage {
public:
    Result<std::unique_ptr<AppendFile>> open(const std::string& path) override {
        Result<std::unique_ptr<AppendFile>> file = memory_.open(path);
        if (!file) return file;
        return std::make_unique<FailingFile>(std::move(*file), switches);
    }
    Result<std::optional<Bytes>> read_file(const std::string& path) override {
        return memory_.read_file(path);
    }
    Status replace_file(const std::string& path, BytesView content, Durability durability) override {
        if (switches.writes_fail) return failure("disk full");
        return memory_.replace_file(path, content, durability);
    }
    Status remove_file(const std::string& path) override { return memory_.remove_file(path); }
    Result<std::vector<std::string>> list(const std::string& directory) override {
        return memory_.list(directory);
    }

    void lose_power() { memory_.lose_unflushed(); }

    Switches switches;

private:
    MemoryStorage memory_;
};

class PartitionTest : public testing::Test {
protected:
    PartitionTest() {
        for (BrokerId id = 1; id <= 3; ++id) cluster_.brokers[id] = {.epoch = id * 10, .fenced = false};
    }

    std::unique_ptr<Partition> make(Offset high_watermark = 0) {
        PartitionSettings settings;
        settings.self = 1;
        return std::make_unique<Partition>(TopicIdPartition{.topic_id = {}, .topic = "t", .partition = 0},
                                           settings, PartitionLog::open(storage_, "t-0").value(),
                                           high_watermark, cluster_);
    }
    static PartitionRegistration registration(BrokerId leader, LeaderEpoch epoch, std::vector<BrokerId> isr) {
        return {.replicas = {1, 2, 3},
                .isr = std::move(isr),
                .leader = leader,
                .leader_epoch = epoch,
                .partition_epoch = epoch};
    }
    static FollowerFetch fetch_of(BrokerId replica, Offset offset, LeaderEpoch epoch,
                                  LeaderEpoch last_epoch) {
        return {.replica = replica,
                .broker_epoch = replica * 10,
                .current_leader_epoch = epoch,
                .fetch_offset = offset,
                .last_fetched_epoch = last_epoch,
                .max_bytes = 1'000'000};
    }
    template <class Fact>
    static int count(const std::vector<PartitionEvent>& events) {
        int found = 0;
        for (const PartitionEvent& event : events) found += std::holds_alternative<Fact>(event.fact) ? 1 : 0;
        return found;
    }

    FailingStorage storage_;
    TestCluster cluster_;
};

// The high watermark does not advance below min.insync.replicas, so a correct node never gets here: the rule
// is kept for nodes whose high watermark does.
TEST(ProduceResult, AsksMinIsrAfterTheAppend) {
    EXPECT_EQ(produce_result(5, 4, 3, 2), std::nullopt);
    EXPECT_EQ(produce_result(5, 5, 2, 2), ErrorCode::None);
    EXPECT_EQ(produce_result(5, 9, 3, 2), ErrorCode::None);
    EXPECT_EQ(produce_result(5, 5, 1, 2), ErrorCode::NotEnoughReplicasAfterAppend);
}

TEST_F(PartitionTest, ClampsTheCheckpointedHighWatermark) {
    EXPECT_EQ(make(7)->high_watermark(), 0);
    EXPECT_EQ(make(-1)->high_watermark(), 0);
}

TEST_F(PartitionTest, WithoutMetadataItAnswersNobody) {
    const auto partition = make();
    EXPECT_EQ(partition->role(), Role::None);
    EXPECT_EQ(partition->append(kNow, producer_batches(1), -1).error, ErrorCode::NotLeaderOrFollower);
    EXPECT_EQ(partition->fetch_for_follower(kNow, fetch_of(2, 0, kNoEpoch, kNoEpoch)).error,
              ErrorCode::NotLeaderOrFollower);
    EXPECT_EQ(partition->fetch_for_follower(kNow, fetch_of(2, 0, 0, kNoEpoch)).error,
              ErrorCode::UnknownLeaderEpoch);
    EXPECT_EQ(partition->fetch_for_consumer(kNow, {.max_bytes = 100}).error, ErrorCode::NotLeaderOrFollower);
    EXPECT_FALSE(partition->fetch_position());
    EXPECT_EQ(partition->take_proposal(), std::nullopt);
}

TEST_F(PartitionTest, WritesItsEpochStartThroughThePowerLoss) {
    auto partition = make();
    partition->apply_registration(kNow, registration(1, 4, {1}));
    const auto text = storage_.read_file("t-0/leader-epoch-checkpoint").value();
    ASSERT_TRUE(text.has_value());
    EXPECT_EQ(as_text(*text), "0\n1\n4 0\n");
}

TEST_F(PartitionTest, AnswersWithinTheByteBudget) {
    const auto partition = make();
    partition->apply_registration(kNow, registration(1, 1, {1}));
    const std::size_t one = producer_batches(1).size();
    partition->append(kNow, producer_batches(3), 1);
    const auto bytes = [&](std::size_t budget) {
        return partition->fetch_for_consumer(kNow, {.fetch_offset = 0, .max_bytes = budget}).records.size();
    };
    EXPECT_EQ(bytes(0), 0U);
    EXPECT_EQ(bytes(1), one);
    EXPECT_EQ(bytes(2 * one), 2 * one);
    EXPECT_EQ(bytes(100 * one), 3 * one);
}

TEST_F(PartitionTest, RevisionRisesWithWhateverADelayedFetchWaitsFor) {
    const auto partition = make();
    std::uint64_t seen = partition->revision();
    const auto expect_rise = [&](const char* what) {
        EXPECT_GT(partition->revision(), seen) << what;
        seen = partition->revision();
    };
    partition->apply_registration(kNow, registration(1, 1, {1, 2}));
    expect_rise("role");
    partition->append(kNow, producer_batches(1), 1);
    expect_rise("log end");
    partition->fetch_for_follower(kNow, fetch_of(2, 1, 1, 1));
    expect_rise("high watermark");
    partition->fetch_for_follower(kNow, fetch_of(2, 1, 1, 1));
    EXPECT_EQ(partition->revision(), seen);
    partition->apply_registration(kNow, registration(2, 2, {1, 2}));
    expect_rise("epoch");
}

TEST_F(PartitionTest, TellsTheProgressOfItsReplicas) {
    const auto partition = make();
    partition->apply_registration(kNow, registration(1, 1, {1, 2}));
    partition->append(kNow, producer_batches(1), 1);
    partition->fetch_for_follower(kNow + seconds(1), fetch_of(3, 0, 1, kNoEpoch));
    const std::vector<ReplicaProgress> progress = partition->replica_progress(kNow + seconds(2));
    ASSERT_EQ(progress.size(), 2U);
    EXPECT_EQ(progress[0].log_end_offset, kUnknownOffset);
    EXPECT_EQ(progress[0].behind, seconds(2)) << "in the ISR at the election: caught up then";
    EXPECT_EQ(progress[1].log_end_offset, 0);
    EXPECT_EQ(progress[1].behind, Duration::max()) << "never caught up";
}

TEST_F(PartitionTest, ProposalCarriesTheBrokerEpochsOfTheFetches) {
    const auto partition = make();
    partition->apply_registration(kNow, registration(1, 1, {1, 2}));
    partition->fetch_for_follower(kNow, fetch_of(3, 0, 1, kNoEpoch));
    const auto proposal = partition->take_proposal();
    ASSERT_TRUE(proposal.has_value());
    using Member = AlterPartitionProposal::Member;
    const std::vector<Member> expected = {{1, 10}, {2, kUnknownBrokerEpoch}, {3, 30}};
    EXPECT_EQ(proposal->isr, expected) << "replica 2 has not fetched in this epoch";
}

TEST_F(PartitionTest, FailedAppendTakesThePartitionOffline) {
    const auto partition = make();
    partition->apply_registration(kNow, registration(1, 1, {1, 2}));
    const AppendOutcome first = partition->append(kNow, producer_batches(1), -1);
    ASSERT_TRUE(first.waiting.has_value());
    storage_.switches.writes_fail = true;
    partition->take_events();
    EXPECT_EQ(partition->append(kNow, producer_batches(1), -1).error, ErrorCode::KafkaStorageError);
    EXPECT_TRUE(partition->offline());

    const std::vector<PartitionEvent> events = partition->take_events();
    EXPECT_EQ(count<WentOffline>(events), 1);
    EXPECT_EQ(count<ProduceAnswered>(events), 2) << "the one that waited and the new one";
    const std::vector<FinishedProduce> finished = partition->take_finished();
    ASSERT_EQ(finished.size(), 1U);
    EXPECT_EQ(finished[0].ticket, *first.waiting);
    EXPECT_EQ(finished[0].error, ErrorCode::KafkaStorageError);

    // Working again or not: it stays offline, whoever asks, until it is opened anew.
    storage_.switches.writes_fail = false;
    EXPECT_EQ(partition->append(kNow, producer_batches(1), 1).error, ErrorCode::KafkaStorageError);
    EXPECT_EQ(partition->fetch_for_follower(kNow, fetch_of(2, 1, 1, 1)).error, ErrorCode::KafkaStorageError);
    EXPECT_EQ(partition->fetch_for_consumer(kNow, {.max_bytes = 100}).error, ErrorCode::KafkaStorageError);
    EXPECT_EQ(partition->list_offset(-1, -1, kNoEpoch).error, ErrorCode::KafkaStorageError);
    partition->tick(kNow + seconds(100));
    partition->apply_registration(kNow, registration(2, 2, {1, 2}));
    EXPECT_FALSE(partition->fetch_position());
    EXPECT_EQ(partition->take_proposal(), std::nullopt);
    EXPECT_EQ(count<WentOffline>(partition->take_events()), 0) << "said once";
}

TEST_F(PartitionTest, DoesNotLeadWithoutItsEpochOnDisk) {
    const auto partition = make();
    storage_.switches.writes_fail = true;
    partition->apply_registration(kNow, registration(1, 1, {1}));
    EXPECT_TRUE(partition->offline());
    EXPECT_NE(partition->role(), Role::Leader);
    EXPECT_EQ(count<RoleTaken>(partition->take_events()), 0);
}

TEST_F(PartitionTest, FailedReadOrFlushTakesThePartitionOffline) {
    const auto reader = make();
    reader->apply_registration(kNow, registration(1, 1, {1}));
    reader->append(kNow, producer_batches(1), 1);
    storage_.switches.reads_fail = true;
    EXPECT_EQ(reader->fetch_for_consumer(kNow, {.max_bytes = 100}).error, ErrorCode::KafkaStorageError);
    EXPECT_TRUE(reader->offline());

    storage_.switches.reads_fail = false;
    const auto flusher = make();
    EXPECT_TRUE(flusher->flush().has_value());
    storage_.switches.writes_fail = true;
    EXPECT_FALSE(flusher->flush().has_value());
    EXPECT_TRUE(flusher->offline());
}

TEST_F(PartitionTest, FollowerRefusesBrokenRecords) {
    MemoryStorage leader_storage;
    const auto leader_log = PartitionLog::open(leader_storage, "t-0").value();
    ASSERT_TRUE(leader_log->append_as_leader(producer_batches(2), 1).has_value());
    const Bytes good = leader_log->read(0, 2, 1'000'000).value();

    const auto follower = make();
    follower->apply_registration(kNow, registration(2, 1, {1, 2}));
    const FetchPosition asked = follower->fetch_position().value();
    FetchAnswer answer{
        .high_watermark = 2, .log_start_offset = 0, .diverging = std::nullopt, .records = good};
    answer.records.back() ^= 1U;
    EXPECT_FALSE(follower->apply_fetch_response(kNow, asked, answer)) << "a flipped bit in the second batch";
    answer.records = leader_log->read(1, 2, 1'000'000).value();
    EXPECT_FALSE(follower->apply_fetch_response(kNow, asked, answer))
        << "it does not start where the log ends";
    EXPECT_EQ(follower->log().log_end_offset(), 0);
    EXPECT_EQ(follower->high_watermark(), 0);
    EXPECT_FALSE(follower->offline());

    // A leader that fills a byte budget may cut its last batch short.
    answer.records = good;
    answer.records.resize(good.size() - 5);
    EXPECT_TRUE(follower->apply_fetch_response(kNow, asked, answer));
    EXPECT_EQ(follower->log().log_end_offset(), 1);
    EXPECT_EQ(follower->high_watermark(), 1);
}

/// What comes back would lie below a high watermark that was reached with other records.
TEST_F(PartitionTest, APowerLossDoesNotBringBackWhatAFollowerCut) {
    {
        const auto partition = make();
        partition->apply_registration(kNow, registration(1, 1, {1}));
        ASSERT_EQ(partition->append(kNow, producer_batches(3), 1).error, ErrorCode::None);
        ASSERT_TRUE(partition->flush());
        partition->apply_registration(kNow, registration(2, 2, {2}));
        const FetchPosition asked = partition->fetch_position().value();
        partition->apply_fetch_response(kNow, asked,
                                        {.high_watermark = 1,
                                         .log_start_offset = 0,
                                         .diverging = OffsetAndEpoch{.offset = 1, .epoch = 1},
                                         .records = {}});
        ASSERT_EQ(partition->log().log_end_offset(), 1);
    }
    storage_.lose_power();
    EXPECT_EQ(make()->log().log_end_offset(), 1);
}

TEST_F(PartitionTest, FollowerThatCannotWriteGoesOffline) {
    MemoryStorage leader_storage;
    const auto leader_log = PartitionLog::open(leader_storage, "t-0").value();
    ASSERT_TRUE(leader_log->append_as_leader(producer_batches(1), 1).has_value());
    const auto follower = make();
    follower->apply_registration(kNow, registration(2, 1, {1, 2}));
    const FetchPosition asked = follower->fetch_position().value();
    storage_.switches.writes_fail = true;
    EXPECT_FALSE(follower->apply_fetch_response(kNow, asked,
                                                {.high_watermark = 1,
                                                 .log_start_offset = 0,
                                                 .diverging = std::nullopt,
                                                 .records = leader_log->read(0, 1, 1'000'000).value()}));
    EXPECT_TRUE(follower->offline());
}

}  // namespace
}  // namespace highwater::node
