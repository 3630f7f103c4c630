// Deleted topics: their replicas here go, files and all, and never come back.
#include <charconv>

#include "node/log/partition_metadata.h"
#include "node/server/broker_state.h"

namespace highwater::node {
namespace {

/// "orders-eu-3"; nullopt for anything else, the controllers' own log included.
std::optional<TopicPartition> partition_of(const std::string& directory) {
    const std::size_t dash = directory.rfind('-');
    if (dash == std::string::npos || dash == 0 || dash + 1 == directory.size()) return std::nullopt;
    std::int32_t index = 0;
    const char* const end = directory.data() + directory.size();
    const auto parsed = std::from_chars(directory.data() + dash + 1, end, index);
    if (parsed.ec != std::errc{} || parsed.ptr != end || index < 0) return std::nullopt;
    if (directory.starts_with("__cluster_metadata-")) return std::nullopt;
    return TopicPartition{directory.substr(0, dash), index};
}

}  // namespace

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
    loaded_checkpoint.erase(name);
    outbox.info(fmt::format("{}: its topic was deleted", name.to_string()));
    remove_directory(name.to_string());
}

void BrokerState::drop_removed_topics() {
    std::vector<TopicPartition> gone;
    for (const auto& [name, held] : partitions) {
        if (image.topic(held->id().topic_id) == nullptr) gone.push_back(name);
    }
    for (const TopicPartition& name : gone) drop_partition(name);
    std::erase_if(unopened, [&](const auto& entry) { return image.partition(entry.first) == nullptr; });
}

void BrokerState::remove_strays() {
    const auto directories = storage.list("");
    if (!directories) return outbox.error("looking for deleted topics: " + directories.error().message);
    for (const std::string& directory : *directories) {
        const auto name = partition_of(directory);
        if (!name) continue;
        const auto text = storage.read_file(directory + "/" + kPartitionMetadataFile);
        // One that cannot be read is told when its partition is opened; without the file nothing says whose
        // it was.
        if (!text || !text->has_value()) continue;
        const auto id = parse_partition_metadata(as_text(**text), kPartitionMetadataFile);
        if (!id || image.topic(*id) != nullptr) continue;
        outbox.info(fmt::format("{}: topic {} was deleted meanwhile", directory, id->to_string()));
        loaded_checkpoint.erase(*name);
        remove_directory(directory);
    }
}

}  // namespace highwater::node
