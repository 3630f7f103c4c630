// Goal: no schedule of fetches, lost and late answers, elections, ISR changes and restarts loses an
// acknowledged record or shows two records at one committed offset. Method: three replicas under a small
// model of the controller, driven by a seed; what was acknowledged and what was seen below a high watermark
// is remembered outside of them. The same schedules must find the deliberate bug, else they prove nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>

#include "base/rng.h"
#include "bench.h"

namespace highwater::node {
namespace {

using wire::ErrorCode;

constexpr int kReplicas = 3;

/// The epoch of the record at `offset`; with the offset it names one record.
LeaderEpoch epoch_at(const PartitionLog& log, Offset offset) {
    LeaderEpoch epoch = kNoEpoch;
    if (offset >= log.log_end_offset()) return epoch;
    for (const EpochEntry& entry : log.epochs().entries()) {
        if (entry.start_offset <= offset) epoch = entry.epoch;
    }
    return epoch;
}

class RandomCluster {
public:
    RandomCluster(std::uint64_t seed, Bugs bugs) : rng_(seed), bugs_(bugs) {
        min_isr_ = static_cast<std::int32_t>(rng_.between(1, 2));
        calm_ = static_cast<std::uint64_t>(rng_.between(15, 100));
        registration_ = {
            .replicas = {1, 2, 3}, .isr = {1, 2, 3}, .leader = 1, .leader_epoch = 0, .partition_epoch = 0};
        for (BrokerId id = 1; id <= kReplicas; ++id) {
            cluster_.brokers[id] = {.epoch = id, .fenced = false};
            open(id, 0);
        }
        publish();
    }

    void step() {
        const BrokerId id = any_replica();
        Node& node = at(id);
        now_ = now_ + milliseconds(rng_.between(0, 400));
        if (rng_.below(calm_) == 0) {
            if (rng_.chance(50))
                restart(id);
            else
                elect(rng_.pick(registration_.isr));
        }
        switch (rng_.below(16)) {
            case 0:
                node.partition->tick(now_);
                break;
            case 1:
            case 2:
                ask_controller(node);
                break;
            case 3:
                answer_leader(node);
                break;
            case 4:
                lose_answer(node);
                break;
            case 5:
            case 6:
                deliver_metadata(node);
                break;
            case 7:
            case 8:
                append(node);
                break;
            case 9:
            case 10:
                deliver_response(node);
                break;
            default:
                fetch(id, rng_.chance(70));
                break;
        }
        check();
    }

    /// Everything arrives again: all replicas must end alike, in sync, everything committed. One more record
    /// is written: an epoch without records stands in its leader's table only.
    void heal() {
        for (int round = 0; round < 60; ++round) {
            now_ = now_ + milliseconds(200);
            if (round == 30) append(at(registration_.leader));
            for (BrokerId id = 1; id <= kReplicas; ++id) {
                Node& node = at(id);
                while (!node.metadata.empty()) deliver_metadata(node);
                deliver_response(node);
                fetch(id, true);
                node.partition->tick(now_);
                node.partition->retry_proposal();
                ask_controller(node);
                answer_leader(node);
            }
            check();
        }
        for (BrokerId id = 1; id <= kReplicas; ++id) {
            const Partition& replica = *at(id).partition;
            const Partition& leader = *at(registration_.leader).partition;
            expect(replica.log().log_end_offset() == leader.log().log_end_offset(), "log ends differ");
            expect(replica.high_watermark() == leader.log().log_end_offset(), "high watermark is stuck");
            expect(replica.log().epochs().entries() == leader.log().epochs().entries(),
                   "epoch tables differ");
            const auto bytes = [](const Partition& of) {
                return of.log().read(0, of.log().log_end_offset(), 100'000'000).value();
            };
            expect(bytes(replica) == bytes(leader), "logs differ");
        }
        expect(registration_.isr.size() == kReplicas, "the ISR is not full");
    }

    [[nodiscard]] const std::string& violation() const { return violation_; }
    [[nodiscard]] std::size_t acked() const { return acked_.size(); }

private:
    struct Node {
        std::unique_ptr<MemoryStorage> storage = std::make_unique<MemoryStorage>();
        std::unique_ptr<Partition> partition;
        std::deque<PartitionRegistration> metadata;
        std::optional<std::pair<FetchPosition, FetchAnswer>> response;
        std::optional<std::pair<AlterPartitionProposal, AlterPartitionAnswer>> answer;
    };

    Node& at(BrokerId id) { return nodes_.at(static_cast<std::size_t>(id - 1)); }
    BrokerId any_replica() { return static_cast<BrokerId>(rng_.between(1, kReplicas)); }
    void expect(bool holds, const std::string& what) {
        if (!holds && violation_.empty()) violation_ = what;
    }

    void open(BrokerId id, Offset checkpointed) {
        PartitionSettings settings{
            .self = id, .replica_lag_time_max = seconds(2), .min_insync_replicas = min_isr_, .bugs = bugs_};
        Node& node = at(id);
        node.partition = std::make_unique<Partition>(
            TopicIdPartition{.topic_id = {}, .topic = "t", .partition = 0}, settings,
            PartitionLog::open(*node.storage, "t-0").value(), checkpointed, cluster_);
    }

    // -- the controller --------------------------------------------------
    void publish() {
        for (Node& node : nodes_) node.metadata.push_back(registration_);
    }

    void elect(BrokerId leader) {
        registration_.leader = leader;
        ++registration_.leader_epoch;
        ++registration_.partition_epoch;
        publish();
    }

    ErrorCode alter_isr(BrokerId sender, const AlterPartitionProposal& proposal) {
        if (proposal.leader_epoch < registration_.leader_epoch) return ErrorCode::FencedLeaderEpoch;
        if (sender != registration_.leader) return ErrorCode::InvalidRequest;
        if (proposal.partition_epoch < registration_.partition_epoch) return ErrorCode::InvalidUpdateVersion;
        std::vector<BrokerId> isr;
        for (const auto& member : proposal.isr) {
            if (member.broker_epoch != kUnknownBrokerEpoch &&
                member.broker_epoch != cluster_.brokers.at(member.id).epoch) {
                return ErrorCode::IneligibleReplica;
            }
            isr.push_back(member.id);
        }
        registration_.isr = std::move(isr);
        ++registration_.partition_epoch;
        publish();
        return ErrorCode::None;
    }

    // -- what happens --------------------------------------------------
    /// Killed and started again at once: the page cache survives, the checkpointed high watermark may be old.
    void restart(BrokerId id) {
        Node& node = at(id);
        const Offset checkpointed = rng_.between(0, node.partition->high_watermark());
        node.partition.reset();
        node.response.reset();
        node.answer.reset();
        node.metadata.clear();
        open(id, checkpointed);
        cluster_.brokers[id].epoch = ++last_broker_epoch_;
        if (registration_.isr.size() > 1) std::erase(registration_.isr, id);
        if (registration_.leader == id) {
            elect(registration_.isr.front());
        } else {
            ++registration_.partition_epoch;
            publish();
        }
    }

    void ask_controller(Node& node) {
        if (node.answer) return;
        const auto proposal = node.partition->take_proposal();
        if (!proposal) return;
        const auto sender = static_cast<BrokerId>(&node - nodes_.data() + 1);
        AlterPartitionAnswer answer;
        answer.error = alter_isr(sender, *proposal);
        answer.leader = registration_.leader;
        answer.leader_epoch = registration_.leader_epoch;
        answer.partition_epoch = registration_.partition_epoch;
        answer.isr = registration_.isr;
        node.answer.emplace(*proposal, answer);
    }

    void answer_leader(Node& node) {
        if (!node.answer) return;
        node.partition->apply_alter_partition_answer(now_, node.answer->first, node.answer->second);
        node.answer.reset();
    }

    void lose_answer(Node& node) {
        if (!node.answer) return;
        node.answer.reset();
        node.partition->retry_proposal();
    }

    /// In order; those in between may never be seen, as when a broker reads several at once.
    void deliver_metadata(Node& node) {
        if (node.metadata.empty()) return;
        if (node.metadata.size() > 1 && rng_.chance(30)) node.metadata.pop_front();
        node.partition->apply_registration(now_, node.metadata.front());
        node.metadata.pop_front();
    }

    void append(Node& node) {
        if (node.partition->role() != Role::Leader) return;
        node.partition->append(now_, producer_batches(static_cast<int>(rng_.between(1, 2))), -1);
    }

    void fetch(BrokerId id, bool deliver) {
        Node& node = at(id);
        const std::optional<FetchPosition> position = node.partition->fetch_position();
        if (!position || node.response) return;
        const FollowerFetch request{.replica = id,
                                    .broker_epoch = cluster_.brokers.at(id).epoch,
                                    .current_leader_epoch = position->leader_epoch,
                                    .fetch_offset = position->fetch_offset,
                                    .last_fetched_epoch = position->last_fetched_epoch,
                                    .log_start_offset = 0,
                                    .max_bytes = static_cast<std::size_t>(rng_.between(1, 200))};
        node.response.emplace(*position, at(position->leader).partition->fetch_for_follower(now_, request));
        if (deliver) deliver_response(node);
    }

    void deliver_response(Node& node) {
        if (!node.response) return;
        node.partition->apply_fetch_response(now_, node.response->first, node.response->second);
        node.response.reset();
    }

    // -- what must hold --------------------------------------------------
    void check() {
        for (BrokerId id = 1; id <= kReplicas; ++id) {
            Partition& replica = *at(id).partition;
            replica.take_events();
            for (const FinishedProduce& produce : replica.take_finished()) {
                if (produce.error != ErrorCode::None) continue;
                acked_[produce.base_offset] = epoch_at(replica.log(), produce.base_offset);
            }
            for (Offset offset = 0; offset < replica.high_watermark(); ++offset) {
                const LeaderEpoch epoch = epoch_at(replica.log(), offset);
                const auto [seen, first] = committed_.emplace(offset, epoch);
                expect(seen->second == epoch,
                       fmt::format("two records committed at {}: epochs {} and {} (replica {})", offset,
                                   seen->second, epoch, id));
            }
        }
        for (const BrokerId member : registration_.isr) {
            for (const auto& [offset, epoch] : acked_) {
                expect(epoch_at(at(member).partition->log(), offset) == epoch,
                       fmt::format("{} of epoch {} is acknowledged, but not in replica {}", offset, epoch,
                                   member));
            }
        }
    }

    Rng rng_;
    Bugs bugs_;
    std::int32_t min_isr_ = 1;
    /// Elections and restarts happen once in so many steps.
    std::uint64_t calm_ = 1;
    Instant now_{0};
    TestCluster cluster_;
    std::array<Node, kReplicas> nodes_;
    PartitionRegistration registration_;
    BrokerEpoch last_broker_epoch_ = kReplicas;
    std::map<Offset, LeaderEpoch> acked_;
    std::map<Offset, LeaderEpoch> committed_;
    std::string violation_;
};

constexpr std::uint64_t kSeeds = 400;
constexpr int kSteps = 400;

TEST(RandomSchedules, LoseNothingAndConverge) {
    std::size_t acked = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        RandomCluster cluster(seed, {});
        for (int step = 0; step < kSteps; ++step) cluster.step();
        cluster.heal();
        ASSERT_EQ(cluster.violation(), "") << "seed " << seed;
        acked += cluster.acked();
    }
    EXPECT_GT(acked, 5 * kSeeds) << "too little was acknowledged to prove anything";
}

TEST(RandomSchedules, FindTheBugThatAcknowledgesTooEarly) {
    Bugs bugs;
    bugs.add(Bug::AckOnAppend);
    std::uint64_t found = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        RandomCluster cluster(seed, bugs);
        for (int step = 0; step < kSteps && cluster.violation().empty(); ++step) cluster.step();
        if (!cluster.violation().empty()) ++found;
    }
    EXPECT_GT(found, kSeeds / 10);
}

}  // namespace
}  // namespace highwater::node
