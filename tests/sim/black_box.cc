#include "tests/sim/black_box.h"

#include <fmt/format.h>

namespace highwater::sim {

void BlackBox::found(const std::string& kind, const TopicPartition& partition, const std::string& detail) {
    anomalies_.push_back({kind, fmt::format("{}: {}", partition.to_string(), detail)});
}

void BlackBox::visible(const TopicPartition& partition, Offset offset, std::uint64_t value) {
    const Seen& seen = seen_[partition];
    for (const auto* told : {&seen.acknowledged, &seen.read}) {
        const auto other = told->find(offset);
        if (other == told->end() || other->second == value) continue;
        found("inconsistent-offset", partition,
              fmt::format("{} and {} were visible at {}", other->second, value, offset));
        return;
    }
}

void BlackBox::acknowledged(const TopicPartition& partition, Offset offset, std::uint64_t value) {
    visible(partition, offset, value);
    seen_[partition].acknowledged.emplace(offset, value);
}

void BlackBox::read(const TopicPartition& partition, Offset offset, std::uint64_t value) {
    ++reads_;
    visible(partition, offset, value);
    seen_[partition].read.emplace(offset, value);
}

void BlackBox::judge(const TopicPartition& partition, const std::vector<LogRecord>& log) {
    const auto gone = [&](Offset offset, std::uint64_t value) {
        return offset >= static_cast<Offset>(log.size()) ||
               log[static_cast<std::size_t>(offset)].value != value;
    };
    const Seen& seen = seen_[partition];
    for (const auto& [offset, value] : seen.acknowledged) {
        if (!gone(offset, value)) continue;
        found("lost-committed", partition,
              fmt::format("{} was acknowledged with acks=all at {}", value, offset));
        break;
    }
    for (const auto& [offset, value] : seen.read) {
        if (!gone(offset, value)) continue;
        found("dirty-read", partition, fmt::format("{} was read at {}", value, offset));
        break;
    }
    std::set<std::uint64_t> values;
    for (const LogRecord& record : log) {
        if (values.insert(record.value).second) continue;
        found("duplicate", partition, fmt::format("{} is there twice", record.value));
        break;
    }
}

}  // namespace highwater::sim
