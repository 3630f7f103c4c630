// The white-box invariants of replication, checked after every step of any broker or controller, by their
// usual names. They look at the real objects (logs, high watermarks, ISRs) and at what the objects say they
// did, and keep what was once true: which record was committed, acknowledged or served at an offset. Records
// are (epoch, value) pairs.
//
// A replica that lost power is exempt from what is said of ISR members until it registers again: the
// controller does not know of the loss before.
//
// An unclean election in epoch u is allowed to lose records. From it on only leaders of epoch >= u commit
// anything; when the first of them takes office, everything kept is cut to what its log holds; and a replica
// counts again once it led in, or followed, an epoch >= u.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/partition.h"
#include "base/time.h"
#include "node/controller/metadata_image.h"
#include "node/replica/partition.h"
#include "node/server/server.h"

namespace highwater::sim {

struct LogRecord {
    LeaderEpoch epoch = kNoEpoch;
    std::uint64_t value = 0;
    friend bool operator==(const LogRecord&, const LogRecord&) = default;
};

struct Violation {
    std::string invariant;
    std::string detail;
    Instant at;
};

/// What the invariants may look at.
class Inspector {
public:
    virtual ~Inspector() = default;
    /// nullptr if the broker does not run or has no such replica.
    [[nodiscard]] virtual const node::Partition* partition(BrokerId broker,
                                                           const TopicPartition& id) const = 0;
    /// The running controller's; nullptr if there is none.
    [[nodiscard]] virtual const node::MetadataImage* image() const = 0;
    /// What this broker has applied; nullptr if it does not run.
    [[nodiscard]] virtual const node::MetadataImage* image_of(BrokerId broker) const = 0;
    /// It runs and is not paused.
    [[nodiscard]] virtual bool steps_freely(BrokerId broker) const = 0;
    /// And so does the controller, and no fault is between them.
    [[nodiscard]] virtual bool reaches_controller(BrokerId broker) const = 0;
};

/// Records that were promised to someone at an offset (acknowledged or served): every later leader must have
/// them.
class Promises {
public:
    /// False if something else was promised there before.
    bool add(Offset offset, const LogRecord& record);
    /// Forgets what `log` does not hold.
    void cut_to(const std::vector<LogRecord>& log);
    /// The first offset in [from, end) whose promise `log` breaks.
    [[nodiscard]] std::optional<Offset> first_broken(const std::vector<LogRecord>& log) const;
    /// Changes whenever first_broken may answer differently for the same log.
    [[nodiscard]] std::uint64_t revision() const { return revision_; }
    [[nodiscard]] const std::map<Offset, LogRecord>& all() const { return records_; }

private:
    std::map<Offset, LogRecord> records_;
    std::uint64_t revision_ = 0;
};

/// A replica's log as it was read after each change, and what is remembered of its state.
struct ReplicaView {
    BrokerId broker = kNoBroker;
    std::vector<LogRecord> log;
    /// First offset of each epoch that has records, as the epoch cache must have it.
    std::vector<node::EpochEntry> epochs;
    /// log[0, matched) equals committed.
    Offset matched = 0;
    /// Highest epoch it led in or followed.
    LeaderEpoch conformed = kNoEpoch;
    /// It lost what was not flushed and has not registered since: what it lacks is known to be lacking, and
    /// its registration takes it out of every ISR.
    bool lost_power = false;
    /// The next process may find less than the last one left.
    bool may_be_shorter = false;
    /// Its newest registration, once it registered after a power loss.
    BrokerEpoch registered_after_loss = kUnknownBrokerEpoch;
    /// A new incarnation registered and has not been an ISR member since.
    bool restarted = false;
    /// The same, after a stop that was not clean.
    bool restarted_unclean = false;
    /// Changes with the log; what first_broken was last asked with.
    std::uint64_t revision = 0;
    std::uint64_t checked_revision = 0;
    std::uint64_t checked_acked = 0;
    std::uint64_t checked_served = 0;

    // Last seen state of the running process; reset when it starts anew.
    const node::Partition* running = nullptr;
    node::Role role = node::Role::None;
    LeaderEpoch epoch = kNoEpoch;
    PartitionEpoch partition_epoch = -1;
    Offset high_watermark = 0;
    std::uint64_t partition_revision = 0;
    /// When it took this role, and who has been in its ISR ever since.
    Instant role_taken{0};
    std::vector<BrokerId> since_election;

    [[nodiscard]] Offset end() const { return static_cast<Offset>(log.size()); }
};

class PartitionInvariants;
class MetadataInvariants;

class Invariants {
public:
    /// `effective_min_isr`: min(min.insync.replicas, replicas) of every partition.
    Invariants(const Inspector& inspector, const std::vector<TopicPartition>& partitions,
               const std::vector<BrokerId>& brokers, std::int32_t effective_min_isr);
    ~Invariants();

    /// A broker or controller made a step that produced these events.
    void after_step(Instant now, BrokerId node, const std::vector<node::Event>& events);
    /// The process is gone. Its log stays, and must be found again by the next one.
    void stopped(BrokerId node);
    /// After stopped(): what it had not flushed is gone.
    void lost_power(BrokerId node);
    /// Looks at what must not last; call it every quarter of a second or so.
    void watch(Instant now);

    /// In the order found; empty while all is well.
    [[nodiscard]] const std::vector<Violation>& violations() const { return violations_; }
    [[nodiscard]] bool violated(const std::string& invariant) const;
    [[nodiscard]] const ReplicaView& replica(BrokerId broker, const TopicPartition& id) const;
    [[nodiscard]] const Promises& acknowledged(const TopicPartition& id) const;
    /// Highest offset that is committed for sure.
    [[nodiscard]] Offset committed(const TopicPartition& id) const;
    [[nodiscard]] int unclean_elections() const;

private:
    void on_decision(Instant now, const node::ControllerEvent& event);

    const Inspector& inspector_;
    std::vector<Violation> violations_;
    std::map<TopicPartition, std::unique_ptr<PartitionInvariants>> partitions_;
    std::unique_ptr<MetadataInvariants> metadata_;
};

}  // namespace highwater::sim
