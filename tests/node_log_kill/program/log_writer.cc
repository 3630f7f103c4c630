// One life of a log, to be ended by SIGKILL: appends of several idempotent producers, flushes, checkpoints,
// new epochs, truncations, at random and without an end. Says on its output, one line each and only when it
// is so:
//   opened END | appended FIRST:LAST:CRC… | flushed END | checkpointed OFFSET | cutting OFFSET | cut END
// Usage: highwater-log-writer DIRECTORY SEED. Exit code 1 after a line "error …".
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/rng.h"
#include "node/log/checkpoint.h"
#include "node/log/file_storage.h"
#include "node/log/partition_log.h"
#include "tests/node_log_kill/life.h"
#include "wire/record_batch.h"

namespace highwater::test {
namespace {

void say(std::string line) {
    line += '\n';
    if (::write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::exit(2);
}

[[noreturn]] void give_up(const std::string& why) {
    say("error " + why);
    std::exit(1);
}

void need(const Status& done) {
    if (!done) give_up(done.error().message);
}

class Life {
public:
    Life(const std::string& directory, std::uint64_t seed) : storage_(directory), rng_(seed) {
        node::LogStart start;
        const auto text = storage_.read_file(kRecoveryPoints);
        if (!text) give_up(text.error().message);
        if (*text) {
            const auto points = node::parse_offset_checkpoint(as_text(**text), kRecoveryPoints);
            if (!points) give_up(points.error().message);
            start.recovery_point = points->at({"t", 0});
        }
        auto opened = node::PartitionLog::open(storage_, "t-0", kLifeSettings, start);
        if (!opened) give_up(opened.error().message);
        log_ = std::move(*opened);
        say(fmt::format("opened {}", log_->log_end_offset()));
        new_epoch();
    }

    void step() {
        const std::uint64_t what = rng_.below(100);
        if (what < 80) return append();
        if (what < 88) return flush();
        if (what < 93) return checkpoint();
        if (what < 96) return new_epoch();
        cut();
    }

private:
    /// One to five records of `producer`, beginning with `sequence`.
    Bytes batch_of(ProducerId producer, std::int32_t sequence) {
        wire::BatchSpec spec;
        spec.producer_id = producer;
        spec.producer_epoch = 0;
        spec.base_sequence = sequence;
        const std::int64_t count = rng_.between(1, 5);
        // A kill within a large write leaves a part of it.
        const std::int64_t longest = rng_.chance(5) ? 1000000 : 300;
        for (std::int64_t i = 0; i < count; ++i) {
            wire::Record record;
            record.timestamp = clock_ += rng_.between(-3, 20);
            record.value = Bytes(static_cast<std::size_t>(rng_.between(1, longest)),
                                 static_cast<std::uint8_t>(rng_.below(256)));
            spec.records.push_back(std::move(record));
        }
        return wire::encode_batch(spec);
    }

    void append() {
        Bytes batches;
        const std::int64_t last = rng_.between(100, 102);
        for (ProducerId producer = 100; producer <= last; ++producer) {
            const node::ProducerState* state = log_->producers().find(producer);
            const std::int32_t sequence = state == nullptr ? 0 : state->last_sequence() + 1;
            const Bytes next = batch_of(producer, sequence);
            batches.insert(batches.end(), next.begin(), next.end());
        }
        const auto appended = log_->append_as_leader(batches, epoch_);
        if (!appended) give_up(appended.error().message);
        if (appended->error != wire::ErrorCode::None || appended->duplicate)
            give_up("refused: " + appended->refusal);
        const auto held = log_->read(appended->first_offset, log_->log_end_offset(), std::size_t{1} << 30U);
        if (!held) give_up(held.error().message);
        const auto views = wire::split_batches(*held);
        if (!views) give_up(views.error().message);
        std::string line = "appended";
        for (const wire::BatchView& view : *views) {
            line +=
                fmt::format(" {}:{}:{}", view.header.base_offset, view.header.last_offset(), view.header.crc);
        }
        say(line);
    }

    void flush() {
        need(log_->flush());
        say(fmt::format("flushed {}", log_->recovery_point()));
    }

    void checkpoint() {
        const Offset point = log_->recovery_point();
        const std::string text = node::format_offset_checkpoint({{{"t", 0}, point}});
        need(storage_.replace_file(kRecoveryPoints, as_bytes_view(text), node::Durability::Flushed));
        say(fmt::format("checkpointed {}", point));
    }

    void new_epoch() {
        epoch_ = std::max(epoch_, log_->epochs().latest_epoch().value_or(-1)) +
                 static_cast<LeaderEpoch>(rng_.between(1, 2));
        need(log_->assign_epoch(epoch_, log_->log_end_offset()));
    }

    void cut() {
        const Offset end = log_->log_end_offset();
        const Offset to = rng_.between(std::max<Offset>(0, end - 30), end);
        say(fmt::format("cutting {}", to));
        need(log_->truncate_to(to));
        say(fmt::format("cut {}", log_->log_end_offset()));
    }

    node::FileStorage storage_;
    Rng rng_;
    std::unique_ptr<node::PartitionLog> log_;
    LeaderEpoch epoch_ = -1;
    std::int64_t clock_ = 1700000000000;
};

}  // namespace
}  // namespace highwater::test

int main(int argc, char** argv) {
    if (argc != 3) return 64;
    highwater::test::Life life(argv[1], std::strtoull(argv[2], nullptr, 10));
    while (true) life.step();
}
