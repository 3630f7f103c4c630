#include "harness/kafka/broker_log.h"

#include <algorithm>
#include <charconv>

#include "base/partition.h"

namespace highwater::harness {
namespace {

/// Walks through one line; every step that does not find what it looks for makes the whole fail.
class Words {
public:
    explicit Words(std::string_view text) : rest_(text) {}

    [[nodiscard]] bool ok() const { return ok_; }
    /// To just behind the next `text`.
    Words& after(std::string_view text) {
        const std::size_t at = rest_.find(text);
        if (at == std::string_view::npos) {
            ok_ = false;
            rest_ = {};
        } else {
            rest_.remove_prefix(at + text.size());
        }
        return *this;
    }
    template <class Number>
    Number number() {
        Number value{};
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc{}) ok_ = false;
        if (ok_) rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return value;
    }
    /// "1,2,3" or "1, 2, 3", in any order.
    std::vector<BrokerId> ids() {
        std::vector<BrokerId> ids;
        while (ok_ && !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
            ids.push_back(number<BrokerId>());
            if (!rest_.starts_with(',')) break;
            rest_.remove_prefix(1);
            if (rest_.starts_with(' ')) rest_.remove_prefix(1);
        }
        std::sort(ids.begin(), ids.end());
        return ids;
    }
    std::string_view word() {
        const std::string_view word = rest_.substr(0, rest_.find(' '));
        rest_.remove_prefix(word.size());
        return word;
    }

private:
    std::string_view rest_;
    bool ok_ = true;
};

bool has(std::string_view line, std::string_view text) { return line.find(text) != std::string_view::npos; }

void take_partition(std::string_view name, LoggedEvent& event) {
    const auto parsed = TopicPartition::parse(name);
    if (!parsed) return;
    event.topic = parsed->topic;
    event.partition = parsed->partition;
}

/// "[Broker id=1] Leader t-0 with topic id … starts at leader epoch 0 from offset 0 with partition epoch 0,
/// high watermark 0, ISR [1,2,3], …", "[Broker id=3] Follower t-0 starts at leader epoch 0 from offset 0 with
/// partition epoch 0 and high watermark 0. Current leader is 1. …"
bool take_role(Words words, bool leads, LoggedEvent& event) {
    event.kind = TraceKind::Role;
    event.role = leads ? "leader" : "follower";
    words.after(leads ? "] Leader " : "] Follower ");
    take_partition(words.word(), event);
    event.epoch = words.after("starts at leader epoch ").number<LeaderEpoch>();
    event.log_end_offset = words.after("from offset ").number<Offset>();
    event.partition_epoch = words.after("with partition epoch ").number<PartitionEpoch>();
    event.high_watermark = words.after("high watermark ").number<Offset>();
    if (leads)
        event.isr = words.after("ISR [").ids();
    else
        event.leader = words.after("Current leader is ").number<BrokerId>();
    return words.ok();
}

/// "[Partition t-0 broker=1] Shrinking ISR from 1,2,3 to 1,2. Leader: (highWatermark: 24, endOffset: 25). …"
bool take_proposal(Words words, LoggedEvent& event) {
    event.kind = TraceKind::IsrProposed;
    take_partition(words.after("[Partition ").word(), event);
    event.isr_from = words.after(" ISR from ").ids();
    event.isr = words.after(" to ").ids();
    event.high_watermark = words.after("highWatermark: ").number<Offset>();
    event.log_end_offset = words.after("endOffset: ").number<Offset>();
    for (Words more = words; words.ok() && more.after("(brokerId: ").ok();) {
        TraceReplica& replica = event.lagging.emplace_back();
        replica.id = more.number<BrokerId>();
        replica.log_end_offset = more.after("endOffset: ").number<Offset>();
        replica.behind =
            milliseconds(event.wall_ms - more.after("lastCaughtUpTimeMs: ").number<std::int64_t>());
        if (!more.ok()) return false;
    }
    return words.ok();
}

/// "[Partition t-0 broker=1] ISR updated to 1,2,3  and version updated to 2"; under min ISR "1
/// (under-min-isr)".
bool take_commit(Words words, LoggedEvent& event) {
    event.kind = TraceKind::IsrCommitted;
    take_partition(words.after("[Partition ").word(), event);
    event.isr = words.after("ISR updated to ").ids();
    event.partition_epoch = words.after("version updated to ").number<PartitionEpoch>();
    return words.ok();
}

/// "[Broker id=1] Skipped the become-leader state change for t-0 with topic id …, partition registration
/// PartitionRegistration(…, isr=[1, 2], …, leader=1, …, leaderEpoch=0, partitionEpoch=1) …"; older releases
/// have "partition state …PartitionState(…, leader=1, leaderEpoch=0, isr=[1, 2], partitionEpoch=1, …)".
bool take_registration(Words words, LoggedEvent& event) {
    event.kind = TraceKind::Registration;
    take_partition(words.after(" state change for ").word(), event);
    Words isr = words;
    Words leader = words;
    Words epoch = words;
    Words partition_epoch = words;
    event.isr = isr.after(", isr=[").ids();
    event.leader = leader.after(", leader=").number<BrokerId>();
    event.epoch = epoch.after(", leaderEpoch=").number<LeaderEpoch>();
    event.partition_epoch = partition_epoch.after(", partitionEpoch=").number<PartitionEpoch>();
    return isr.ok() && leader.ok() && epoch.ok() && partition_epoch.ok();
}

/// "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating partition t-0 with
/// TruncationState(offset=19, completed=true) due to leader epoch and offset EpochEndOffset(errorCode=0,
/// partition=0, leaderEpoch=0, endOffset=19)"
bool take_truncation(Words words, LoggedEvent& event) {
    event.kind = TraceKind::Truncate;
    event.leader = words.after(" leaderId=").number<BrokerId>();
    take_partition(words.after("Truncating partition ").word(), event);
    event.log_end_offset = words.after("TruncationState(offset=").number<Offset>();
    event.diverging.epoch = words.after("leaderEpoch=").number<LeaderEpoch>();
    event.diverging.offset = words.after("endOffset=").number<Offset>();
    return words.ok();
}

}  // namespace

std::optional<LoggedEvent> parse_broker_log(std::string_view line) {
    LoggedEvent event;
    Words words(line);
    event.wall_ms = words.number<std::int64_t>();
    if (!words.ok()) return std::nullopt;
    bool taken = false;
    if (has(line, "starts at leader epoch ")) {
        taken = take_role(words, has(line, "] Leader "), event);
    } else if (has(line, "] Skipped the become-")) {
        taken = take_registration(words, event);
    } else if (has(line, "] Shrinking ISR from ")) {
        taken = take_proposal(words, event);
    } else if (has(line, "] ISR updated to ")) {
        taken = take_commit(words, event);
    } else if (has(line, "] Truncating partition ") && has(line, " due to leader epoch and offset ")) {
        taken = take_truncation(words, event);
    } else if (has(line, "] Transition from STARTED to SHUTTING_DOWN") ||
               has(line, "Terminating process due to signal SIGTERM")) {
        event.kind = TraceKind::ShuttingDown;
        return event;
    }
    if (!taken || event.partition < 0) return std::nullopt;
    return event;
}

}  // namespace highwater::harness
