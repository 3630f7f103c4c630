// Goal: an invariant that no deliberate bug breaks first can fail all the same. Method: the invariant is
// shown a world that no correct node would make: real replicas, each driven by hand, with made-up facts and
// metadata.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>

#include "base/assert.h"
#include "node/log/memory_storage.h"
#include "tests/sim/metadata_invariants.h"
#include "tests/sim/partition_invariants.h"
#include "tests/support/requests.h"

namespace highwater::sim {
namespace {

const TopicPartition kPartition{"orders", 0};

/// All of its broker's requests get through, everybody lives.
class World : public Inspector, public node::ClusterView {
public:
    explicit World(std::int32_t min_isr = 1)
        : invariants(kPartition, {1, 2, 3}, min_isr, *this, violations), metadata(violations) {}

    /// What `broker` shows is a replica whose own id is `self`.
    node::Partition& open(BrokerId broker, BrokerId self, std::int32_t min_isr = 1) {
        node::PartitionSettings settings;
        settings.self = self;
        settings.replica_lag_time_max = kReplicaLag;
        settings.min_insync_replicas = min_isr;
        storages_[broker] = std::make_unique<node::MemoryStorage>();
        auto log = node::PartitionLog::open(*storages_[broker], "orders-0");
        HW_ASSERT(log);
        replicas_[broker] =
            std::make_unique<node::Partition>(TopicIdPartition{{}, kPartition.topic, kPartition.partition},
                                              settings, std::move(*log), 0, *this);
        return *replicas_[broker];
    }
    node::Partition& open(BrokerId broker) { return open(broker, broker); }

    /// The controller's word, and everybody's who has a replica.
    void lead(BrokerId leader, const std::vector<BrokerId>& isr, LeaderEpoch epoch = 0) {
        node::PartitionChanged change;
        change.partition = kPartition;
        change.leader = leader;
        change.leader_epoch = epoch;
        change.partition_epoch = ++partition_epoch_;
        change.isr = isr;
        invariants.on_change(now, change);
        for (auto& [broker, replica] : replicas_) {
            replica->apply_registration(now, {{1, 2, 3}, isr, leader, epoch, partition_epoch_});
            step(broker);
        }
    }
    void append(BrokerId leader, std::uint64_t value) {
        replicas_.at(leader)->append(now, test::batch_of({value}, 0), 1);
        step(leader);
    }
    /// A step in which the replica says what it did, and this.
    void step(BrokerId broker, const std::vector<node::PartitionFact>& made_up = {}) {
        const std::vector<node::PartitionEvent> events = replicas_.at(broker)->take_events();
        std::vector<const node::PartitionFact*> facts;
        for (const node::PartitionEvent& event : events) facts.push_back(&event.fact);
        for (const node::PartitionFact& fact : made_up) facts.push_back(&fact);
        invariants.observe(now, broker, facts);
        invariants.check(now);
    }
    void watch_for(Duration span) {
        for (const Instant end = now + span; now < end; now = now + milliseconds(250)) invariants.watch(now);
    }
    /// "" or the name of the first that was broken.
    [[nodiscard]] std::string broken() const {
        return violations.empty() ? "" : violations.front().invariant;
    }

    [[nodiscard]] const node::Partition* partition(BrokerId broker, const TopicPartition&) const override {
        const auto found = replicas_.find(broker);
        return found == replicas_.end() ? nullptr : found->second.get();
    }
    [[nodiscard]] const node::MetadataImage* image() const override { return nullptr; }
    [[nodiscard]] const node::MetadataImage* image_of(BrokerId) const override { return nullptr; }
    [[nodiscard]] bool steps_freely(BrokerId) const override { return true; }
    [[nodiscard]] bool reaches_controller(BrokerId) const override { return true; }
    [[nodiscard]] std::optional<node::BrokerView> broker(BrokerId id) const override {
        return node::BrokerView{.epoch = id, .fenced = false};
    }

    Instant now{1'000'000'000};
    std::vector<Violation> violations;
    PartitionInvariants invariants;
    MetadataInvariants metadata;

private:
    std::map<BrokerId, std::unique_ptr<node::MemoryStorage>> storages_;
    std::map<BrokerId, std::unique_ptr<node::Partition>> replicas_;
    PartitionEpoch partition_epoch_ = -1;
};

node::FollowerFetch fetch_of(BrokerId replica, Offset offset) {
    node::FollowerFetch fetch;
    fetch.replica = replica;
    fetch.broker_epoch = replica;
    fetch.current_leader_epoch = 0;
    fetch.fetch_offset = offset;
    return fetch;
}

// -- what must not last
// -------------------------------------------------------------------------------------------

/// The leader waits for a second member, of which the invariant knows no need.
TEST(InvariantCanFail, HwStalled) {
    World world(1);
    world.open(1, 1, 2);
    world.lead(1, {1});
    world.append(1, 7);
    world.watch_for(seconds(5));
    EXPECT_EQ(world.broken(), "");
    world.watch_for(seconds(2));
    EXPECT_EQ(world.broken(), "HwStalled");
}

/// Nobody ticks this leader.
TEST(InvariantCanFail, LaggardInIsr) {
    World world;
    world.open(1);
    world.lead(1, {1, 2});
    world.append(1, 7);
    world.watch_for(seconds(10));
    EXPECT_EQ(world.broken(), "");
    world.watch_for(seconds(2));
    EXPECT_EQ(world.broken(), "LaggardInIsr");
}

/// Nobody sends this leader's proposal.
TEST(InvariantCanFail, PendingForever) {
    World world;
    node::Partition& leader = world.open(1);
    world.lead(1, {1});
    leader.fetch_for_follower(world.now, fetch_of(2, 0));
    world.step(1);
    world.watch_for(seconds(10));
    EXPECT_EQ(world.broken(), "");
    world.watch_for(seconds(2));
    EXPECT_EQ(world.broken(), "PendingForever");
}

// -- what a replica is and says
// -----------------------------------------------------------------------------------

/// Broker 1 shows a replica that follows broker 1.
TEST(InvariantCanFail, FetcherShape) {
    World world;
    world.open(1, 2);
    world.lead(1, {1, 2});
    EXPECT_EQ(world.broken(), "FetcherShape");
}

TEST(InvariantCanFail, NoCommittedRecordLostGlobally) {
    World world;
    world.open(1);
    world.lead(1, {1});
    world.append(1, 7);
    node::ProduceAnswered answer;
    answer.epoch = 0;
    answer.first_offset = answer.last_offset = 0;
    answer.high_watermark = 1;
    answer.isr = answer.maximal_isr = {1};
    world.step(1, {answer});
    EXPECT_EQ(world.broken(), "");
    world.step(1, {node::Truncated{0, 2, 1, 0, {}}});
    EXPECT_EQ(world.broken(), "NoCommittedRecordLostGlobally");
}

/// Another log than the process before left.
TEST(InvariantCanFail, LogKept) {
    World world;
    world.open(1);
    world.lead(1, {1});
    world.append(1, 7);
    world.invariants.stopped(1);
    EXPECT_EQ(world.broken(), "");
    world.open(1);
    world.step(1);
    EXPECT_EQ(world.broken(), "LogKept");
}

/// One fact, told by a leader that has done nothing wrong before.
std::string broken_by(const node::PartitionFact& fact) {
    World world(2);
    world.open(1);
    world.lead(1, {1, 2});
    EXPECT_EQ(world.broken(), "");
    world.step(1, {fact});
    return world.broken();
}

TEST(InvariantCanFail, ByWhatALeaderSays) {
    node::IsrProposed shrink;
    shrink.from = {1, 2};
    shrink.to = {1};
    EXPECT_EQ(broken_by(shrink), "IsrFlap");

    node::HighWatermarkMoved alone;
    alone.role = node::Role::Leader;
    alone.to = 1;
    alone.log_end_offset = 1;
    alone.isr = {1};
    alone.effective_min_isr = 2;
    EXPECT_EQ(broken_by(alone), "VisibleUnderMinIsr");

    EXPECT_EQ(broken_by(node::WentOffline{"disk"}), "Online");
}

TEST(InvariantCanFail, OneLeaderPerEpoch) {
    World world;
    world.open(1);
    world.open(2);
    world.lead(1, {1, 2});
    EXPECT_EQ(world.broken(), "");
    node::RoleTaken second;
    second.role = node::Role::Leader;
    second.leader = 2;
    second.epoch = 0;
    world.step(2, {second});
    EXPECT_EQ(world.broken(), "OneLeaderPerEpoch");
}

// -- what the controller decides
// ----------------------------------------------------------------------------------

TEST(InvariantCanFail, EpochMonotone) {
    World world;
    world.lead(1, {1, 2}, 3);
    EXPECT_EQ(world.broken(), "");
    world.lead(2, {1, 2}, 3);
    EXPECT_EQ(world.broken(), "EpochMonotone");
}

/// Broker `fenced` (0: nobody), 1 leads [1,2].
node::MetadataImage image_with(BrokerId fenced) {
    node::MetadataImage image;
    const auto apply = [&](const wire::MetadataRecord& record) {
        const Status applied = image.apply(image.end_offset(), record);
        HW_ASSERT(applied, "{}", applied.error().message);
    };
    for (const BrokerId id : {1, 2, 3}) {
        wire::RegisterBrokerRecord broker;
        broker.broker_id = id;
        broker.broker_epoch = id;
        broker.fenced = id == fenced;
        apply(broker);
    }
    wire::TopicRecord topic;
    topic.name = kPartition.topic;
    topic.topic_id.bytes[0] = 1;
    apply(topic);
    wire::PartitionRecord partition;
    partition.topic_id = topic.topic_id;
    partition.partition_id = 0;
    partition.replicas = {1, 2, 3};
    partition.isr = {1, 2};
    partition.leader = 1;
    partition.leader_epoch = 0;
    partition.partition_epoch = 0;
    apply(partition);
    return image;
}

std::string broken_by(const node::MetadataImage& image) {
    World world;
    world.lead(1, {1, 2});
    world.invariants.check_image(world.now, image);
    return world.broken();
}

TEST(InvariantCanFail, ByWhomTheControllerFenced) {
    EXPECT_EQ(broken_by(image_with(0)), "");
    EXPECT_EQ(broken_by(image_with(3)), "");
    EXPECT_EQ(broken_by(image_with(1)), "FencedLeader");
    EXPECT_EQ(broken_by(image_with(2)), "FencedNotInIsr");
}

/// What became of leader 1 with ISR [1,2] in a cluster with eligible leader replicas.
struct Eligible {
    BrokerId leader = 1;
    std::vector<BrokerId> isr{};
    std::vector<BrokerId> elr{};
    std::vector<BrokerId> last_known{};
};

node::MetadataImage image_of(const Eligible& now) {
    node::MetadataImage image = image_with(0);
    wire::FeatureLevelRecord feature;
    feature.name = node::kEligibleLeaderReplicas;
    feature.feature_level = 1;
    wire::PartitionChangeRecord change;
    change.topic_id.bytes[0] = 1;
    change.partition_id = 0;
    change.isr = now.isr;
    change.eligible_leader_replicas = now.elr;
    change.last_known_elr = now.last_known;
    if (now.leader != 1) change.leader = now.leader;
    for (const wire::MetadataRecord& record : {wire::MetadataRecord{feature}, wire::MetadataRecord{change}}) {
        const Status applied = image.apply(image.end_offset(), record);
        HW_ASSERT(applied, "{}", applied.error().message);
    }
    return image;
}

std::string broken_by(const Eligible& now, std::optional<node::BrokerRegistered> registers = std::nullopt,
                      bool last_known_leader = false) {
    World world(2);
    world.lead(1, {1, 2});
    if (registers) world.invariants.registered(*registers);
    node::PartitionChanged change;
    change.partition = kPartition;
    change.leader = now.leader;
    change.elected = now.leader != 1;
    change.leader_epoch = change.elected ? 1 : 0;
    change.partition_epoch = 1;
    change.isr = now.isr;
    change.elr = now.elr;
    change.last_known_elr = now.last_known;
    change.unclean = change.last_known_leader = last_known_leader;
    world.invariants.on_change(world.now, change);
    if (world.broken().empty()) world.invariants.check_image(world.now, image_of(now));
    return world.broken();
}

TEST(InvariantCanFail, ElrShape) {
    EXPECT_EQ(broken_by(Eligible{.isr = {1}, .elr = {2}}), "");
    EXPECT_EQ(broken_by(Eligible{.isr = {1}}), "ElrShape");
    EXPECT_EQ(broken_by(Eligible{.isr = {1, 2}, .elr = {3}}), "ElrShape");
    EXPECT_EQ(broken_by(Eligible{.leader = kNoBroker, .elr = {1, 2}, .last_known = {1}}), "");
    EXPECT_EQ(broken_by(Eligible{.leader = kNoBroker, .elr = {1, 2}}), "ElrShape");
    EXPECT_EQ(broken_by(Eligible{.isr = {1}, .elr = {2}, .last_known = {1}}), "ElrShape");
}

TEST(InvariantCanFail, UncleanExclusionOfWhoIsEligible) {
    const node::BrokerRegistered clean{2, 20, {}, true};
    const node::BrokerRegistered unclean{2, 20, {}, false};
    EXPECT_EQ(broken_by(Eligible{.isr = {1}, .elr = {2}}, clean), "");
    EXPECT_EQ(broken_by(Eligible{.isr = {1}}, unclean), "");
    EXPECT_EQ(broken_by(Eligible{.isr = {1}, .elr = {2}}, unclean), "UncleanExclusion");
    EXPECT_EQ(broken_by(Eligible{.isr = {1, 2}}, clean), "UncleanExclusion");
}

/// Somebody was in the ISR.
TEST(InvariantCanFail, TheLastKnownLeaderBeforeItsTime) {
    EXPECT_EQ(broken_by(Eligible{.leader = 3, .isr = {3}}, std::nullopt, true), "LeaderInIsr");
}

TEST(InvariantCanFail, MetadataLogMatching) {
    World other;
    other.metadata.decided(other.now, image_with(0));
    other.metadata.applied(other.now, 1, image_with(0));
    EXPECT_EQ(other.broken(), "");
    other.metadata.applied(other.now, 2, image_with(3));
    EXPECT_EQ(other.broken(), "MetadataLogMatching");

    World back;
    back.metadata.decided(back.now, image_with(0));
    back.metadata.decided(back.now, node::MetadataImage{});
    EXPECT_EQ(back.broken(), "MetadataLogMatching");
}

}  // namespace
}  // namespace highwater::sim
