// highwater-log-bench: a log of one full default segment and a sixteenth of the next, on real files: how fast
// it is written, and how long it takes to open after a clean stop and after a kill -9. Prints figures,
// asserts nothing about them. The files are in the page cache. Usage: highwater-log-bench [SEGMENT_BYTES]
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/time.h"
#include "node/log/file_storage.h"
#include "node/log/partition_log.h"
#include "wire/record_batch.h"

namespace highwater {
namespace {

constexpr int kRepetitions = 3;
constexpr int kRecordsPerBatch = 160;
constexpr std::size_t kValueSize = 100;

/// Of this process, user and system: other work on the machine must not count.
Duration cpu_time() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto of = [](const timeval& time) {
        return seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

struct Taken {
    double wall = 0;
    double cpu = 0;
};

void need(const Status& done) {
    if (!done) throw std::runtime_error(done.error().message);
}

/// A directory of its own, removed at the end.
struct Directory {
    Directory() {
        std::string name = (std::filesystem::temp_directory_path() / "highwater-log-bench-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
        path = name;
    }
    ~Directory() {
        std::error_code ignored;  // nothing to be done about it here
        std::filesystem::remove_all(path, ignored);
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    std::string path;
};

class Bench {
public:
    explicit Bench(std::int32_t segment_bytes) { settings_.segment_bytes = segment_bytes; }

    void run() {
        const Offset recovery_point = write();
        const auto bytes = static_cast<double>(bytes_);
        // A kill leaves what was written: the same files as here, where nothing was closed.
        const Taken from_zero = open({});
        const Taken from_checkpoint = open({.recovery_point = recovery_point});
        {
            auto log = opened({});
            need(log->close());
        }
        const Taken clean = open({.clean = true});
        const auto print = [&](const char* what, const Taken& taken) {
            fmt::print("open {:<52} {:9.2f} ms, CPU {:9.2f} ms, {:8.1f} x clean\n", what, taken.wall * 1e3,
                       taken.cpu * 1e3, taken.cpu / clean.cpu);
        };
        print("after a clean stop", clean);
        print("after kill -9, recovery point of the last checkpoint", from_checkpoint);
        print("after kill -9, recovery point 0", from_zero);
        fmt::print("recovery from 0 reads {:.0f} MB/s of CPU time\n", bytes / 1e6 / from_zero.cpu);
    }

private:
    std::unique_ptr<node::PartitionLog> opened(const node::LogStart& start) {
        auto log = node::PartitionLog::open(storage_, "t-0", settings_, start);
        if (!log) throw std::runtime_error(log.error().message);
        return std::move(*log);
    }

    /// Median of the repetitions, by CPU time.
    Taken open(const node::LogStart& start) {
        std::vector<Taken> all;
        for (int i = 0; i < kRepetitions; ++i) {
            const Instant began = monotonic_now();
            const Duration cpu = cpu_time();
            const auto log = opened(start);
            all.push_back({to_seconds(monotonic_now() - began), to_seconds(cpu_time() - cpu)});
            if (log->size_bytes() != bytes_) throw std::runtime_error("the log has another size now");
        }
        std::sort(all.begin(), all.end(), [](const Taken& a, const Taken& b) { return a.cpu < b.cpu; });
        return all[all.size() / 2];
    }

    /// Returns the recovery point that a checkpoint would say: the last segment's beginning.
    Offset write() {
        wire::BatchSpec spec;
        for (int i = 0; i < kRecordsPerBatch; ++i) {
            wire::Record record;
            record.timestamp = 1700000000000;
            record.value = Bytes(kValueSize, static_cast<std::uint8_t>(i));
            spec.records.push_back(std::move(record));
        }
        const Bytes batch = wire::encode_batch(spec);
        const auto log = opened({});
        const auto target = static_cast<std::uint64_t>(settings_.segment_bytes) / 16 * 17;
        const Instant began = monotonic_now();
        const Duration cpu = cpu_time();
        while (log->size_bytes() < target) {
            const auto appended = log->append_as_leader(batch, 0);
            if (!appended) throw std::runtime_error(appended.error().message);
        }
        const Taken taken{to_seconds(monotonic_now() - began), to_seconds(cpu_time() - cpu)};
        bytes_ = log->size_bytes();
        fmt::print(
            "write {:.2f} GB in {} segments, {} batches: {:.0f} MB/s with the fsync of the full segment, "
            "{:.0f} MB/s of CPU "
            "time\n",
            static_cast<double>(bytes_) / 1e9, log->segment_count(), log->log_end_offset() / kRecordsPerBatch,
            static_cast<double>(bytes_) / 1e6 / taken.wall, static_cast<double>(bytes_) / 1e6 / taken.cpu);
        std::fflush(stdout);
        return log->recovery_point();
    }

    Directory directory_;
    node::FileStorage storage_{directory_.path};
    node::LogSettings settings_;
    std::uint64_t bytes_ = 0;
};

}  // namespace
}  // namespace highwater

int main(int argc, char** argv) {
    try {
        const highwater::node::LogSettings defaults;
        highwater::Bench(argc > 1 ? std::atoi(argv[1]) : defaults.segment_bytes).run();
    } catch (const std::exception& error) {
        fmt::print(stderr, "highwater-log-bench: {}\n", error.what());
        return 70;
    }
    return 0;
}
