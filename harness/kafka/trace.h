// What a run of Kafka can be seen to do from outside, in the words of our own nodes' trace
// (docs/run-format.md): the controllers' metadata log, the replicas' segment files, and lines that brokers
// log. Lines of brokers carry "outside": true: their times are later than what they tell of, by a look or a
// millisecond.
#pragma once

#include <condition_variable>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "harness/cluster.h"
#include "harness/kafka/broker_log.h"
#include "harness/kafka/decisions.h"
#include "harness/kafka/metadata_log.h"
#include "harness/kafka/segment_tail.h"

namespace highwater::harness {

struct WatchedProcess {
    BrokerId id = kNoBroker;
    /// Its trace file and stdout.log are here.
    std::string node_dir;
    std::string data_dir;
};

struct KafkaTraceOptions {
    std::string topic;
    std::int32_t partitions = 1;
    std::vector<WatchedProcess> controllers;
    std::vector<WatchedProcess> brokers;
};

/// Watches from its construction until stop(), in a thread of its own, a few hundred times a second.
class KafkaTrace {
public:
    explicit KafkaTrace(KafkaTraceOptions options);
    ~KafkaTrace();
    KafkaTrace(const KafkaTrace&) = delete;
    KafkaTrace& operator=(const KafkaTrace&) = delete;

    /// What a client was told by the broker that it had asked.
    void answered(Instant at, const Produce& produce);
    void sampled(BrokerId broker, const ReplicaSample& sample);
    /// The harness starts it, for the `incarnation`-th time.
    void started(BrokerId id, std::int32_t incarnation);

    /// Looks once more, at files that nobody writes any more. Harmless the second time.
    void stop();
    static std::string file_of(const std::string& node_dir) { return node_dir + "/trace-outside.jsonl"; }

private:
    /// One replica's log, followed.
    struct Replica {
        std::int32_t partition = 0;
        SegmentTail tail;
        std::optional<Offset> told_end;
        /// A look that began then still found told_end.
        Instant unchanged_until;
        /// Of the last log-end line.
        Instant told_at;
    };
    struct Broker {
        WatchedProcess process;
        std::vector<Replica> replicas;
        std::uint64_t log_read = 0;
    };

    void watch();
    void look(bool last);
    void look_at(Broker& broker, Replica& replica, bool last);
    void read_log(Broker& broker);
    void tell(const WatchedProcess& process, Instant at, const std::string& members);
    void tell_logged(Broker& broker, const LoggedEvent& event);
    static std::string truncation_members(Broker& broker, const LoggedEvent& event);
    /// nullptr: it is none of ours.
    [[nodiscard]] const WatchedProcess* process_of(BrokerId broker) const;
    [[nodiscard]] Instant at_wall_ms(std::int64_t ms) const;

    KafkaTraceOptions options_;
    MetadataLog metadata_;
    Decisions decisions_;
    std::vector<Broker> brokers_;
    /// The last sample of each broker that was told.
    std::map<BrokerId, ReplicaSample> samples_;
    /// Guards what is written: by the watching thread, clients and observers.
    std::mutex writing_;
    std::map<BrokerId, std::int32_t> incarnations_;
    /// Lines so far, by process.
    std::map<BrokerId, std::int64_t> told_;
    std::map<BrokerId, std::ofstream> files_;
    /// Monotonic nanoseconds at the beginning of 1970, as both clocks stood at the start.
    std::int64_t epoch_ns_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace highwater::harness
