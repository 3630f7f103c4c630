#include "batches.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "wire/record_batch.h"

namespace highwater::test {

Bytes batch(const std::vector<std::string>& values, Offset base_offset, LeaderEpoch epoch) {
    wire::BatchSpec spec;
    spec.base_offset = base_offset;
    spec.leader_epoch = epoch;
    for (const std::string& value : values) {
        wire::Record record;
        record.timestamp = 1000;
        record.value = Bytes(value.begin(), value.end());
        spec.records.push_back(std::move(record));
    }
    return wire::encode_batch(spec);
}

Bytes joined(const std::vector<Bytes>& parts) {
    Bytes all;
    for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

std::string records_of(BytesView batches) {
    const auto views = wire::split_batches(batches);
    if (!views) return views.error().message;
    std::string text;
    std::size_t whole = 0;
    for (const wire::BatchView& view : *views) {
        whole += view.bytes.size();
        if (!text.empty()) text += " |";
        const auto records = wire::decode_records(view.bytes);
        if (!records) return records.error().message;
        for (const wire::Record& record : *records) {
            text += fmt::format("{}{}:{}", text.empty() ? "" : " ", record.offset, as_text(*record.value));
        }
    }
    if (whole != batches.size()) text += fmt::format(" + {} bytes", batches.size() - whole);
    return text;
}

std::string records_of(const node::PartitionLog& log) {
    const auto bytes = log.read(log.log_start_offset(), log.log_end_offset(), 1U << 30U);
    return bytes ? records_of(*bytes) : bytes.error().message;
}

std::string epochs_of(const node::LeaderEpochCache& cache) {
    std::string text;
    for (const node::EpochEntry& entry : cache.entries()) {
        text += fmt::format("{}{}@{}", text.empty() ? "" : " ", entry.epoch, entry.start_offset);
    }
    return text;
}

std::unique_ptr<node::PartitionLog> open_log(node::Storage& storage, const node::LogSettings& settings,
                                             const node::LogStart& start) {
    auto log = node::PartitionLog::open(storage, "t-0", settings, start);
    if (!log) throw std::runtime_error(log.error().message);
    return std::move(*log);
}

void lead(node::PartitionLog& log, LeaderEpoch epoch, const std::vector<std::string>& values) {
    const auto appended = log.append_as_leader(batch(values), epoch);
    ASSERT_TRUE(appended) << appended.error().message;
}

}  // namespace highwater::test
