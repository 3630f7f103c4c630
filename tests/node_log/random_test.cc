// Goal: a log under random appends, truncations, kills and power losses is always the list of batches that a
// model of ten lines says it is. A failure prints its seed.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"
#include "batches.h"
#include "node/log/partition_log.h"
#include "storages.h"
#include "wire/record_batch.h"

namespace highwater::test {
namespace {

struct ModelBatch {
    Offset base = 0;
    Offset last = 0;
    LeaderEpoch epoch = 0;
    Bytes bytes;
};

class Model {
public:
    std::vector<ModelBatch> batches;

    [[nodiscard]] Offset end() const { return batches.empty() ? 0 : batches.back().last + 1; }
    void truncate_to(Offset offset) {
        std::erase_if(batches, [&](const ModelBatch& held) { return held.last >= offset; });
    }
    [[nodiscard]] Bytes read(Offset from, Offset limit, std::size_t max_bytes) const {
        Bytes read;
        for (const ModelBatch& held : batches) {
            if (held.last < from) continue;
            if (held.last >= limit || (!read.empty() && read.size() + held.bytes.size() > max_bytes)) break;
            read.insert(read.end(), held.bytes.begin(), held.bytes.end());
        }
        return read;
    }
    [[nodiscard]] std::vector<node::EpochEntry> epochs() const {
        std::vector<node::EpochEntry> entries;
        for (const ModelBatch& held : batches) {
            if (entries.empty() || entries.back().epoch != held.epoch)
                entries.push_back({held.epoch, held.base});
        }
        return entries;
    }
};

class RandomRun {
public:
    RandomRun(node::Storage& storage, node::MemoryStorage* memory, std::uint64_t seed)
        : storage_(storage), memory_(memory), rng_(seed) {
        // Segments of a few batches, indexes that know some of them, and sometimes Kafka's own sizes.
        if (seed % 4 == 0) return;
        settings_.segment_bytes = static_cast<std::int32_t>(rng_.between(150, 1500));
        settings_.index_interval_bytes = static_cast<std::int32_t>(rng_.between(0, 300));
        if (seed % 4 == 1) settings_.flush_interval_messages = rng_.between(1, 9);
    }

    void run(int steps) {
        log_ = open_log(storage_, settings_);
        for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
            SCOPED_TRACE(testing::Message() << "step " << step);
            one_step();
            compare();
        }
        reopen();
        compare();
    }

private:
    void one_step() {
        switch (rng_.below(11)) {
            case 10:
                return close_and_reopen();
            case 0:
            case 1:
            case 2:
                return append_as_leader();
            case 3:
            case 4:
                return append_as_follower();
            case 5:
                return become_leader();
            case 6:
                return truncate();
            case 7:
                return flush();
            case 8:
                return reopen();
            default:
                return rng_.below(3) == 0 ? lose_power() : reopen();
        }
    }

    std::vector<std::string> values() {
        std::vector<std::string> values(1 + rng_.below(4));
        for (std::string& value : values)
            value = std::string(rng_.below(20), static_cast<char>('a' + rng_.below(26)));
        return values;
    }
    Bytes hold(const std::vector<std::string>& values, Offset base) {
        model_.batches.push_back(
            {base, base + static_cast<Offset>(values.size()) - 1, epoch_, batch(values, base, epoch_)});
        return model_.batches.back().bytes;
    }

    void append_as_leader() {
        Bytes sent;
        for (std::uint64_t count = 1 + rng_.below(3); count > 0; --count) {
            const std::vector<std::string> some = values();
            sent = joined({sent, batch(some)});
            hold(some, model_.end());
        }
        const Offset base = bases().back();
        ASSERT_TRUE(log_->append_as_leader(sent, epoch_));
        appended(base);
    }
    void append_as_follower() {
        Bytes sent;
        for (std::uint64_t count = 1 + rng_.below(3); count > 0; --count) {
            if (rng_.below(4) == 0) ++epoch_;
            const Offset hole = sent.empty() || rng_.below(5) != 0 ? 0 : 7;
            sent = joined({sent, hold(values(), model_.end() + hole)});
        }
        const Offset base = bases().back();
        ASSERT_TRUE(log_->append_as_follower(sent));
        appended(base);
    }
    void become_leader() {
        ++epoch_;
        ASSERT_TRUE(log_->assign_epoch(epoch_, log_->log_end_offset()));
        pending_epoch_ = true;
    }
    void truncate() {
        const Offset to = rng_.between(model_.end() / 2, model_.end() + 2);
        const std::vector<Offset> before = bases();
        ASSERT_TRUE(log_->truncate_to(to));
        model_.truncate_to(to);
        // A power loss undoes the cut within a segment, but brings no segment back.
        if (const std::size_t left = bases().size(); left < before.size())
            std::erase_if(flushed_.batches,
                          [&](const ModelBatch& held) { return held.base >= before[left]; });
        pending_epoch_ = false;
    }
    void flush() {
        ASSERT_TRUE(log_->flush());
        flushed_ = model_;
        highest_recovery_point_ = std::max(highest_recovery_point_, log_->recovery_point());
    }
    /// What checkpoints may say: anything from what was durable then down to nothing.
    void reopen() {
        const node::LogStart start{.recovery_point = rng_.between(0, highest_recovery_point_)};
        log_ = open_log(storage_, settings_, start);
        ASSERT_EQ(log_->recovered_cut_bytes(), 0U);
        pending_epoch_ = false;
    }
    void close_and_reopen() {
        ASSERT_TRUE(log_->close());
        flushed_ = model_;
        log_ = open_log(storage_, settings_, {.clean = true, .recovery_point = log_->recovery_point()});
        ASSERT_EQ(log_->recovery_point(), model_.end());
        pending_epoch_ = false;
    }
    void lose_power() {
        if (memory_ == nullptr) return;
        memory_->lose_unflushed();
        model_ = flushed_;
        reopen();
    }
    /// First offset of every segment.
    std::vector<Offset> bases() {
        std::vector<Offset> found;
        const auto names = storage_.list("t-0");
        for (const std::string& name : *names) {
            if (name.ends_with(".log")) found.push_back(std::stoll(name));
        }
        return found;
    }
    /// Rolls and log.flush.interval.messages flush as well.
    void appended(Offset last_base) {
        pending_epoch_ = false;
        const Offset base = bases().back();
        if (log_->recovery_point() == model_.end()) {
            flushed_ = model_;
        } else if (base != last_base) {
            flushed_ = model_;
            std::erase_if(flushed_.batches, [&](const ModelBatch& held) { return held.base >= base; });
        }
        highest_recovery_point_ = std::max(highest_recovery_point_, log_->recovery_point());
    }

    void compare() {
        ASSERT_EQ(log_->log_end_offset(), model_.end());
        std::vector<node::EpochEntry> epochs = model_.epochs();
        if (pending_epoch_) epochs.push_back({epoch_, model_.end()});
        ASSERT_EQ(epochs_of(log_->epochs()), epochs_of(node::LeaderEpochCache(epochs)));
        const Offset from = rng_.between(0, model_.end());
        const Offset limit = rng_.between(0, model_.end() + 3);
        const std::size_t max_bytes = rng_.below(500);
        const auto read = log_->read(from, limit, max_bytes);
        ASSERT_TRUE(read) << read.error().message;
        ASSERT_EQ(to_hex(*read), to_hex(model_.read(from, limit, max_bytes)))
            << "from " << from << " limit " << limit << " max " << max_bytes;
    }

    node::Storage& storage_;
    node::MemoryStorage* memory_;
    Rng rng_;
    std::unique_ptr<node::PartitionLog> log_;
    Model model_;
    Model flushed_;
    node::LogSettings settings_;
    Offset highest_recovery_point_ = 0;
    LeaderEpoch epoch_ = 0;
    /// The latest epoch has an entry at the log's end and no record.
    bool pending_epoch_ = false;
};

TEST(RandomLog, InMemoryWithPowerLosses) {
    for (std::uint64_t seed = 1; seed <= 200 && !HasFailure(); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        InMemory kind;
        RandomRun(kind.storage, &kind.storage, seed).run(150);
    }
}

TEST(RandomLog, OnFiles) {
    for (std::uint64_t seed = 1; seed <= 5 && !HasFailure(); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        OnFiles kind;
        RandomRun(kind.storage, nullptr, seed).run(100);
    }
}

}  // namespace
}  // namespace highwater::test
