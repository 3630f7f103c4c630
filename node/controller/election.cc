// Who leads: clean from the ISR in assignment order, unclean only where it is enabled, nobody otherwise (ELR is off: the
// last member of an ISR stays in it).
#include <algorithm>

#include "base/assert.h"
#include "node/controller/state.h"

namespace highwater::node {
namespace {

bool contains(const std::vector<BrokerId>& ids, BrokerId id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

}  // namespace

bool Controller::State::electable(const MetadataImage& view, BrokerId id) {
    const BrokerImage* broker = view.broker(id);
    return broker != nullptr && !broker->fenced && !broker->in_controlled_shutdown;
}

bool Controller::State::unclean_enabled(const TopicImage& topic) const {
    const auto config = topic.configs.find("unclean.leader.election.enable");
    return config == topic.configs.end() ? settings.unclean_leader_election : config->second == "true";
}

Controller::State::Change Controller::State::choose(const MetadataImage& view, const TopicImage& topic,
                                                    const PartitionImage& partition, BrokerId leaving) const {
    Change change;
    std::vector<BrokerId> isr = partition.isr;
    std::erase(isr, leaving);
    if (isr.empty()) isr = partition.isr;
    const auto may_lead = [&](BrokerId id) { return id != leaving && electable(view, id); };
    // A leader that is still valid stays: an election would cost its clients for nothing.
    if (!contains(isr, partition.leader) || !may_lead(partition.leader)) {
        BrokerId leader = kNoBroker;
        for (const BrokerId replica : partition.replicas) {
            if (contains(isr, replica) && may_lead(replica)) {
                leader = replica;
                break;
            }
        }
        if (leader == kNoBroker && unclean_enabled(topic)) {
            const auto live = std::find_if(partition.replicas.begin(), partition.replicas.end(), may_lead);
            if (live != partition.replicas.end()) {
                leader = *live;
                isr = {leader};
                change.unclean = true;
                change.recovery = static_cast<std::int8_t>(1);  // RECOVERING until the leader says otherwise
            }
        }
        if (leader != partition.leader) change.leader = leader;
    }
    if (isr != partition.isr) change.isr = isr;
    return change;
}

void Controller::State::report_change(const TopicPartition& partition, const Change& change, const std::string& cause) {
    const PartitionImage& now = *image.partition(partition);
    PartitionChanged event;
    event.partition = partition;
    event.leader = now.leader;
    event.leader_epoch = now.leader_epoch;
    event.partition_epoch = now.partition_epoch;
    event.isr = now.isr;
    event.elected = change.leader != kNoLeaderChange;
    event.unclean = change.unclean;
    event.cause = cause;
    events.emplace_back(std::move(event));
}

void Controller::State::change_partitions(std::int64_t wall_ms, BrokerId leaving, const std::string& cause,
                                          std::vector<wire::MetadataRecord> first) {
    // Choices are made on the image that `first` (a fence, a registration …) leaves; all of it is one batch, so that no
    // crash can keep one without the other.
    MetadataImage view = image;
    for (const wire::MetadataRecord& record : first) {
        const Status good = view.apply(view.end_offset(), record);
        HW_ASSERT(good.has_value(), "{}", good ? "" : good.error().message);
    }
    std::vector<wire::MetadataRecord> records = std::move(first);
    std::vector<std::pair<TopicPartition, Change>> changes;
    for (const auto& [name, topic] : view.topics()) {
        for (const auto& [index, partition] : topic.partitions) {
            const bool affected = partition.leader == kNoBroker ||
                                  (leaving != kNoBroker && (contains(partition.isr, leaving) || partition.leader == leaving));
            if (!affected) continue;
            const Change change = choose(view, topic, partition, leaving);
            if (change.empty()) continue;
            wire::PartitionChangeRecord record;
            record.partition_id = index;
            record.topic_id = topic.id;
            record.isr = change.isr;
            record.leader = change.leader;
            record.leader_recovery_state = change.recovery;
            records.emplace_back(std::move(record));
            changes.emplace_back(TopicPartition{name, index}, change);
        }
    }
    write(wall_ms, records);
    for (const auto& [partition, change] : changes) report_change(partition, change, cause);
}

}  // namespace highwater::node
