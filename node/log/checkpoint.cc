#include "node/log/checkpoint.h"

#include <fmt/format.h>

#include <limits>

#include "node/log/leader_epoch_cache.h"
#include "node/log/text_checkpoint.h"

namespace highwater::node {

std::string format_offset_checkpoint(const OffsetCheckpoint& offsets) {
    std::string text = fmt::format("0\n{}\n", offsets.size());
    for (const auto& [partition, offset] : offsets) {
        text += fmt::format("{} {} {}\n", partition.topic, partition.partition, offset);
    }
    return text;
}

Result<OffsetCheckpoint> parse_offset_checkpoint(std::string_view text, const std::string& file_name) {
    const auto entries = parse_text_checkpoint(text, file_name, 3);
    if (!entries) return tl::make_unexpected(entries.error());
    OffsetCheckpoint offsets;
    for (std::size_t i = 0; i < entries->size(); ++i) {
        const auto& fields = (*entries)[i];
        const auto partition =
            checkpoint_number(fields[1], file_name, i, std::numeric_limits<std::int32_t>::max());
        if (!partition) return tl::make_unexpected(partition.error());
        const auto offset = checkpoint_number(fields[2], file_name, i);
        if (!offset) return tl::make_unexpected(offset.error());
        offsets[{fields[0], static_cast<std::int32_t>(*partition)}] = *offset;
    }
    return offsets;
}

std::string format_epoch_checkpoint(const LeaderEpochCache& cache) {
    std::string text = fmt::format("0\n{}\n", cache.entries().size());
    for (const EpochEntry& entry : cache.entries())
        text += fmt::format("{} {}\n", entry.epoch, entry.start_offset);
    return text;
}

Result<LeaderEpochCache> parse_epoch_checkpoint(std::string_view text, const std::string& file_name) {
    const auto entries = parse_text_checkpoint(text, file_name, 2);
    if (!entries) return tl::make_unexpected(entries.error());
    std::vector<EpochEntry> table;
    for (std::size_t i = 0; i < entries->size(); ++i) {
        const auto epoch =
            checkpoint_number((*entries)[i][0], file_name, i, std::numeric_limits<LeaderEpoch>::max());
        if (!epoch) return tl::make_unexpected(epoch.error());
        const auto start = checkpoint_number((*entries)[i][1], file_name, i);
        if (!start) return tl::make_unexpected(start.error());
        const EpochEntry entry{static_cast<LeaderEpoch>(*epoch), *start};
        if (!table.empty() &&
            (entry.epoch <= table.back().epoch || entry.start_offset <= table.back().start_offset)) {
            return failure(
                fmt::format("{}:{}: epoch {} start {} does not rise", file_name, i + 3, *epoch, *start));
        }
        table.push_back(entry);
    }
    return LeaderEpochCache(std::move(table));
}

}  // namespace highwater::node
