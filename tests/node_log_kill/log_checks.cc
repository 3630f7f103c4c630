#include "tests/node_log_kill/log_checks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "node/log/segment.h"
#include "wire/record_batch.h"

namespace highwater::test {
namespace {

/// Epoch and last sequence of each producer: what a snapshot keeps too.
std::map<ProducerId, std::pair<std::int16_t, std::int32_t>> told(const node::ProducerStates& states) {
    std::map<ProducerId, std::pair<std::int16_t, std::int32_t>> all;
    for (const auto& [id, state] : states.all()) all[id] = {state.epoch, state.last_sequence()};
    return all;
}

void check_reads(const node::PartitionLog& log, const std::vector<KeptBatch>& batches) {
    for (const KeptBatch& batch : batches) {
        for (const Offset from : {batch.first, batch.last}) {
            const auto bytes = log.read(from, log.log_end_offset(), 1);
            ASSERT_TRUE(bytes) << bytes.error().message;
            const auto header = wire::read_batch_header(*bytes);
            ASSERT_TRUE(header) << header.error().message;
            ASSERT_EQ((KeptBatch{header->base_offset, header->last_offset(), header->crc}), batch) << from;
        }
    }
}

}  // namespace

std::vector<KeptBatch> checked_batches(const node::PartitionLog& log) {
    std::vector<KeptBatch> batches;
    node::ProducerStates producers;
    std::vector<node::EpochEntry> epochs;
    EXPECT_EQ(log.log_start_offset(), 0);
    const auto bytes = log.read(0, log.log_end_offset(), std::size_t{1} << 30U);
    EXPECT_TRUE(bytes) << bytes.error().message;
    const auto views = wire::split_batches(bytes ? BytesView(*bytes) : BytesView{});
    EXPECT_TRUE(views) << views.error().message;
    if (!bytes || !views) return batches;
    Offset next = 0;
    std::size_t size = 0;
    for (const wire::BatchView& view : *views) {
        const auto valid = wire::validate_batch(view.bytes);
        EXPECT_TRUE(valid) << valid.error().message;
        const wire::BatchHeader& header = view.header;
        EXPECT_EQ(header.base_offset, next);
        if (epochs.empty() || epochs.back().epoch != header.leader_epoch) {
            EXPECT_TRUE(epochs.empty() || epochs.back().epoch < header.leader_epoch) << header.base_offset;
            epochs.push_back({header.leader_epoch, header.base_offset});
        }
        producers.note(header);
        batches.push_back({header.base_offset, header.last_offset(), header.crc});
        next = header.next_offset();
        size += view.bytes.size();
    }
    EXPECT_EQ(size, bytes->size());
    EXPECT_EQ(size, log.size_bytes());
    EXPECT_EQ(next, log.log_end_offset());
    EXPECT_EQ(log.epochs().entries(), epochs);
    EXPECT_EQ(told(log.producers()), told(producers));
    check_reads(log, batches);
    return batches;
}

void check_indexes(node::FileStorage& storage, const std::string& directory) {
    const auto names = storage.list(directory);
    ASSERT_TRUE(names) << names.error().message;
    for (const std::string& name : *names) {
        if (!name.ends_with(".log")) continue;
        const std::string stem = directory + "/" + name.substr(0, name.size() - 4);
        SCOPED_TRACE(stem);
        const Offset base = std::stoll(name);
        const Bytes log = storage.read_file(stem + ".log")->value_or(Bytes{});
        const auto views = wire::split_batches(log);
        ASSERT_TRUE(views) << views.error().message;
        std::map<Offset, std::pair<std::int32_t, std::int64_t>> by_last;  // position, max timestamp
        std::int32_t position = 0;
        for (const wire::BatchView& view : *views) {
            by_last[view.header.last_offset() - base] = {position, view.header.max_timestamp};
            position += static_cast<std::int32_t>(view.bytes.size());
        }
        const auto index = storage.read_file(stem + ".index");
        const auto times = storage.read_file(stem + ".timeindex");
        ASSERT_TRUE(index && times);
        // None yet: the segment was never left nor flushed, and holds too little for an entry.
        const Bytes entries = index->value_or(Bytes{});
        ASSERT_EQ(entries.size() % 8, 0U);
        for (ByteReader in(entries); in.remaining() > 0;) {
            const std::int32_t relative = in.i32();
            const std::int32_t at = in.i32();
            ASSERT_TRUE(by_last.contains(relative)) << relative;
            EXPECT_EQ(by_last.at(relative).first, at) << relative;
        }
        const Bytes dates = times->value_or(Bytes{});
        ASSERT_EQ(dates.size() % 12, 0U);
        for (ByteReader in(dates); in.remaining() > 0;) {
            const std::int64_t timestamp = in.i64();
            const std::int32_t relative = in.i32();
            ASSERT_TRUE(by_last.contains(relative)) << relative;
            EXPECT_EQ(by_last.at(relative).second, timestamp) << relative;
        }
    }
}

}  // namespace highwater::test
