// Goal: whatever brokers say and whenever they go silent, the controller's decisions keep its invariants, and
// its log alone tells all of them. Method: random schedules of registrations, heartbeats, silence,
// AlterPartition requests (right and wrong), stops and controller restarts; after each step the image is
// checked against the one before it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "facts.h"
#include "node/controller/controller.h"
#include "node/log/memory_storage.h"

namespace highwater::node {
namespace {

constexpr BrokerId kBrokers = 4;
constexpr std::int32_t kPartitions = 3;
constexpr int kSteps = 400;

bool contains(const std::vector<BrokerId>& list, BrokerId id) {
    return std::find(list.begin(), list.end(), id) != list.end();
}

class RandomController {
public:
    RandomController(std::uint64_t seed, bool unclean, bool elr) : rng_(seed), unclean_(unclean), elr_(elr) {
        open();
        for (BrokerId id = 1; id <= kBrokers; ++id) {
            incarnations_[id] = rng_.uuid();
            directories_[id] = rng_.uuid();
            do_register(id);
            heartbeat(id, false);
        }
        create_topic();
    }

    void step() {
        const auto id = static_cast<BrokerId>(rng_.between(1, kBrokers));
        const std::uint64_t dice = rng_.below(100);
        if (dice < 35)
            heartbeat(id, false);
        else if (dice < 40)
            heartbeat(id, true);
        else if (dice < 60)
            alter_partition();
        else if (dice < 65)
            restart_broker(id);
        else if (dice < 68)
            do_register(id);
        else if (dice < 70)
            open();
        else
            pass_time();
        check();
    }

    [[nodiscard]] int elections() const { return elections_; }
    [[nodiscard]] int unclean_elections() const { return unclean_elections_; }
    [[nodiscard]] int last_known_elections() const { return last_known_elections_; }
    [[nodiscard]] int elr_elections() const { return elr_elections_; }
    [[nodiscard]] int accepted() const { return accepted_; }

private:
    void open() {
        ControllerSettings settings;
        settings.self = 100;
        settings.broker_session_timeout = seconds(3);
        settings.unclean_leader_election = unclean_;
        settings.eligible_leader_replicas = elr_;
        settings.min_insync_replicas = 2;
        settings.unclean_election_interval = seconds(10);
        const std::optional<MetadataImage> before =
            controller_ ? std::optional(controller_->image()) : std::nullopt;
        const LeaderEpoch epoch = controller_ ? controller_->controller_epoch() : 0;
        controller_.reset();
        storage_.lose_unflushed();
        auto opened = Controller::open(now_, 0, settings, storage_, rng_.fork());
        ASSERT_TRUE(opened.has_value()) << opened.error().message;
        controller_ = std::move(*opened);
        EXPECT_EQ(controller_->controller_epoch(), epoch + 1);
        if (before) {
            EXPECT_EQ(controller_->image().brokers(), before->brokers());
            EXPECT_EQ(controller_->image().topics(), before->topics());
        }
    }

    void create_topic() {
        wire::CreateTopicsRequest request;
        auto& topic = request.topics.emplace_back();
        topic.name = "t";
        topic.num_partitions = kPartitions;
        topic.replication_factor = 3;
        ASSERT_EQ(controller_->handle(now_, 0, request).topics.at(0).error_code, wire::ErrorCode::None);
        check();
    }

    void do_register(BrokerId id) {
        wire::BrokerRegistrationRequest request;
        request.broker_id = id;
        request.cluster_id = Uuid{}.to_string();
        request.incarnation_id = incarnations_[id];
        request.log_dirs = {directories_[id]};
        request.previous_broker_epoch = previous_.try_emplace(id, kUnknownBrokerEpoch).first->second;
        const BrokerImage* known = controller_->image().broker(id);
        const BrokerImage before = known == nullptr ? BrokerImage{} : *known;
        controller_->handle(now_, 0, request);
        if (controller_->image().broker(id)->incarnation == before.incarnation) return;
        if (request.previous_broker_epoch == before.epoch) return;
        for (std::int32_t index = 0; index < kPartitions; ++index) suspects_[index].insert(id);
    }

    void restart_broker(BrokerId id) {
        incarnations_[id] = rng_.uuid();
        previous_[id] = rng_.below(3) == 0 ? controller_->image().broker(id)->epoch : kUnknownBrokerEpoch;
        do_register(id);
    }

    void heartbeat(BrokerId id, bool want_shut_down) {
        wire::BrokerHeartbeatRequest request;
        request.broker_id = id;
        request.broker_epoch = controller_->image().broker(id)->epoch;
        request.current_metadata_offset =
            controller_->image().end_offset() - static_cast<Offset>(rng_.below(3));
        request.want_shut_down = want_shut_down;
        const auto response = controller_->handle(now_, 0, request);
        EXPECT_EQ(response.error_code, wire::ErrorCode::None);
        EXPECT_EQ(response.is_fenced, controller_->image().broker(id)->fenced);
        for (const auto& [name, topic] : controller_->image().topics()) {
            for (const auto& [index, partition] : topic.partitions) {
                EXPECT_TRUE(!response.should_shut_down || partition.leader != id) << name << "-" << index;
            }
        }
    }

    void alter_partition() {
        const TopicImage& topic = *controller_->image().topic("t");
        const auto index = static_cast<std::int32_t>(rng_.below(topic.partitions.size()));
        const PartitionImage partition = topic.partitions.at(index);
        wire::AlterPartitionRequest request;
        request.broker_id = rng_.chance(90) ? partition.leader : rng_.pick(partition.replicas);
        const BrokerImage* sender = controller_->image().broker(request.broker_id);
        request.broker_epoch = sender == nullptr ? 0 : sender->epoch;
        auto& topic_data = request.topics.emplace_back();
        topic_data.topic_id = topic.id;
        auto& proposal = topic_data.partitions.emplace_back();
        proposal.partition_index = index;
        proposal.leader_epoch = partition.leader_epoch - (rng_.chance(10) ? 1 : 0);
        proposal.partition_epoch = partition.partition_epoch - (rng_.chance(10) ? 1 : 0);
        for (const BrokerId id : partition.replicas) {
            const bool eligible = controller_->image().broker(id)->active() || rng_.chance(10);
            if (id == partition.leader || (eligible && rng_.chance(80)))
                proposal.new_isr_with_epochs.push_back({id, -1});
        }
        const auto response = controller_->handle(now_, 0, request);
        if (response.error_code != wire::ErrorCode::None) return;
        const auto& answer = response.topics.at(0).partitions.at(0);
        if (answer.error_code != wire::ErrorCode::None) return;
        ++accepted_;
        const PartitionImage& after = *controller_->image().partition({"t", index});
        EXPECT_EQ(answer.isr, after.isr);
        EXPECT_EQ(answer.partition_epoch, after.partition_epoch);
        EXPECT_EQ(answer.leader_epoch, after.leader_epoch);
    }

    void pass_time() {
        now_ = now_ + milliseconds(rng_.between(1, 800));
        if (now_ >= controller_->deadline()) controller_->tick(now_, 0);
    }

    void check() {
        const MetadataImage& image = controller_->image();
        for (const auto& [id, broker] : image.brokers()) {
            EXPECT_LE(broker_epochs_[id], broker.epoch);
            broker_epochs_[id] = broker.epoch;
        }
        for (const ControllerEvent& event : controller_->take_events()) {
            const auto* changed_partition = std::get_if<PartitionChanged>(&event);
            if (changed_partition != nullptr) check_change(*changed_partition);
        }
        for (const auto& [index, partition] : image.topic("t")->partitions) {
            SCOPED_TRACE(image_text(image));
            EXPECT_TRUE(elr_ || !partition.isr.empty());
            EXPECT_TRUE(partition.leader == kNoBroker || contains(partition.isr, partition.leader));
            EXPECT_TRUE(partition.leader == kNoBroker || image.broker(partition.leader)->active());
            bool anybody = false;
            for (const BrokerId id : partition.isr) {
                anybody = anybody || image.broker(id)->active();
                EXPECT_TRUE((!elr_ && partition.isr.size() == 1) || image.broker(id)->active());
            }
            check_eligible(index, partition);
            for (const BrokerId id : partition.isr.empty() ? partition.elr : std::vector<BrokerId>{})
                anybody = anybody || image.broker(id)->active();
            if (partition.isr.empty() && partition.elr.empty())
                anybody = anybody || image.broker(partition.last_known_elr.at(0))->active();
            // Nobody waits for a leader that could be had.
            EXPECT_TRUE(!anybody || partition.leader != kNoBroker);
            EXPECT_EQ(partition, told_[index]);
        }
    }

    void check_eligible(std::int32_t index, const PartitionImage& partition) {
        for (const BrokerId id : partition.isr) suspects_[index].erase(id);
        for (const BrokerId id : partition.elr) {
            EXPECT_FALSE(contains(partition.isr, id));
            // Back from an unclean stop it may have lost anything, until it was in the ISR again.
            EXPECT_FALSE(suspects_[index].contains(id));
        }
        if (!elr_ || partition.isr.size() >= 2) {
            EXPECT_TRUE(partition.elr.empty());
        }
        EXPECT_EQ(partition.last_known_elr.empty(), partition.leader != kNoBroker || !elr_);
    }

    /// Events alone tell the partition, one epoch at a time.
    void check_change(const PartitionChanged& event) {
        PartitionImage& told = told_[event.partition.partition];
        EXPECT_EQ(event.partition_epoch, told.partition_epoch + 1);
        EXPECT_EQ(event.leader_epoch,
                  told.leader_epoch + (event.elected || event.cause == "created" ? 1 : 0));
        EXPECT_EQ(event.elected, event.cause != "created" && event.leader != told.leader);
        const bool outside = event.elected && event.leader != kNoBroker && !contains(told.isr, event.leader);
        if (outside && !contains(told.elr, event.leader)) {
            EXPECT_TRUE(event.unclean);
        }
        if (event.last_known_leader) {
            EXPECT_TRUE(event.unclean && elr_ && told.isr.empty());
            EXPECT_EQ(told.last_known_elr, std::vector<BrokerId>{event.leader});
        }
        if (event.unclean) {
            EXPECT_TRUE(outside && (unclean_ || event.last_known_leader));
            EXPECT_EQ(event.isr, std::vector<BrokerId>{event.leader});
        }
        elections_ += event.elected ? 1 : 0;
        unclean_elections_ += event.unclean && !event.last_known_leader ? 1 : 0;
        last_known_elections_ += event.last_known_leader ? 1 : 0;
        elr_elections_ += outside && !event.unclean ? 1 : 0;
        const PartitionImage& now = controller_->image().topic("t")->partitions.at(event.partition.partition);
        told.replicas = now.replicas;
        told.leader_recovery_state = now.leader_recovery_state;  // not told
        told.leader = event.leader;
        told.leader_epoch = event.leader_epoch;
        told.partition_epoch = event.partition_epoch;
        told.isr = event.isr;
        told.elr = event.elr;
        told.last_known_elr = event.last_known_elr;
    }

    Rng rng_;
    bool unclean_;
    bool elr_;
    std::map<BrokerId, BrokerEpoch> previous_;
    std::map<std::int32_t, std::set<BrokerId>> suspects_;
    MemoryStorage storage_;
    Instant now_{seconds(5).count() * 1'000'000'000};
    std::unique_ptr<Controller> controller_;
    std::map<BrokerId, Uuid> incarnations_;
    std::map<BrokerId, Uuid> directories_;
    std::map<BrokerId, BrokerEpoch> broker_epochs_;
    std::map<std::int32_t, PartitionImage> told_;
    int elections_ = 0;
    int unclean_elections_ = 0;
    int last_known_elections_ = 0;
    int elr_elections_ = 0;
    int accepted_ = 0;
};

TEST(RandomController, KeepsItsInvariants) {
    int elections = 0;
    int unclean_elections = 0;
    int accepted = 0;
    int last_known_elections = 0;
    int elr_elections = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomController controller(seed, seed % 2 == 0, seed % 4 < 2);
        for (int i = 0; i < kSteps; ++i) {
            controller.step();
            ASSERT_FALSE(testing::Test::HasFailure()) << "step " << i;
        }
        elections += controller.elections();
        unclean_elections += controller.unclean_elections();
        accepted += controller.accepted();
        last_known_elections += controller.last_known_elections();
        elr_elections += controller.elr_elections();
    }
    // The schedules reach what they are for.
    EXPECT_GT(elections, 500);
    EXPECT_GT(unclean_elections, 20);
    EXPECT_GT(accepted, 500);
    EXPECT_GT(last_known_elections, 5);
    EXPECT_GT(elr_elections, 20);
}

}  // namespace
}  // namespace highwater::node
