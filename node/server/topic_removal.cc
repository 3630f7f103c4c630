// Deleted topics: their replicas here go, files and all, and never come back.
#include "node/log/partition_metadata.h"
#include "node/server/broker_state.h"
#include "node/server/cluster_metadata.h"

namespace highwater::node {

void BrokerState::remove_directory(const std::string& directory) {
    const auto files = storage.list(directory);
    Status done = files ? Status{} : Status(tl::make_unexpected(files.error()));
    if (files) {
        // Whose directory this is goes last: half of one must not be taken for a new topic's of that name.
        for (const std::string& file : *files) {
            if (done && file != kPartitionMetadataFile) done = storage.remove_file(directory + "/" + file);
        }
        if (done) done = storage.remove_file(directory + "/" + kPartitionMetadataFile);
        if (done) done = storage.remove_file(directory);
    }
    if (!done) outbox.error(fmt::format("{} cannot be removed: {}", directory, done.error().message));
}

void BrokerState::drop_partition(const TopicPartition& name) {
    finish_produces();
    drain_partition_events();
    for (DelayedProduce& produce : produces) {
        std::erase_if(produce.waiting, [&](const DelayedProduce::Waiting& one) {
            if (one.partition != name) return false;
            auto& answer =
                produce.response.responses[one.topic_index].partition_responses[one.partition_index];
            answer.error_code = wire::ErrorCode::UnknownTopicOrPartition;
            return true;
        });
    }
    partitions.erase(name);
    checkpoints.forget(name);
    outbox.info(fmt::format("{}: its topic was deleted", name.to_string()));
    remove_directory(name.to_string());
}

void BrokerState::drop_removed_topics() {
    std::vector<TopicPartition> gone;
    for (const auto& [name, held] : partitions) {
        if (image.topic(held->id().topic_id) == nullptr) gone.push_back(name);
    }
    for (const TopicPartition& name : gone) drop_partition(name);
}

void BrokerState::remove_strays() {
    const auto directories = storage.list("");
    if (!directories) return outbox.error("looking for deleted topics: " + directories.error().message);
    for (const std::string& directory : *directories) {
        const auto name = TopicPartition::parse(directory);
        if (!name || name->topic == kClusterMetadataTopic) continue;
        const auto text = storage.read_file(directory + "/" + kPartitionMetadataFile);
        // One that cannot be read is told when its partition is opened; without the file nothing says whose
        // it was.
        if (!text || !text->has_value()) continue;
        const auto id = parse_partition_metadata(as_text(**text), kPartitionMetadataFile);
        if (!id || image.topic(*id) != nullptr) continue;
        outbox.info(fmt::format("{}: topic {} was deleted meanwhile", directory, id->to_string()));
        checkpoints.forget(*name);
        remove_directory(directory);
    }
}

}  // namespace highwater::node
