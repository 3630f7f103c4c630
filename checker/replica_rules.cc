// The invariants of the replication protocol over the merged trace, at every line: what each replica's log
// holds is followed from line to line, and compared with what leaders called committed and with what the
// controller calls in sync. Kinds: unexplained-truncation, follower-hw-above-leader, acked-outside-isr, and
// the invariants by their own names (docs/anomalies.md).
#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "checker/log_shape.h"
#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

struct Replica {
    bool known = false;
    std::int32_t incarnation = 0;
    Instant started;
    std::string role;
    BrokerId leader = kNoBroker;
    LeaderEpoch epoch = kNoEpoch;
    Offset high_watermark = 0;
    LogShape log;
    /// Applied a first non-diverging response in this epoch and incarnation.
    bool confirmed = false;
    /// Highest epoch that it led or followed so: its log is one of that lineage.
    LeaderEpoch lineage = kNoEpoch;
    /// A recorded fault took part of its log: the controller may count on it a little longer.
    bool lossy = false;
    /// What it wrote as leader since its start, whatever became of it.
    struct Written {
        Offset first = 0;
        Offset end = 0;
        LeaderEpoch epoch = kNoEpoch;
    };
    std::vector<Written> written{};

    void wrote(Offset first, Offset end, LeaderEpoch in) {
        if (written.empty() || written.back().epoch != in)
            written.push_back({.first = first, .end = end, .epoch = in});
        written.back().end = end;
    }
    /// The epoch of the record that it means when it acknowledges this offset: one that waited since an
    /// earlier term of its own keeps the epoch of that term.
    [[nodiscard]] LeaderEpoch meant_by_ack(Offset offset) const {
        for (auto at = written.rbegin(); at != written.rend(); ++at) {
            if (at->first <= offset && offset < at->end) return at->epoch;
        }
        return log.epoch_at(offset);  // sent again, and first written by somebody else
    }
};

struct Office {
    BrokerId node = kNoBroker;
    Offset high_watermark = 0;
};

class ReplicaRules {
public:
    ReplicaRules(const Context& context, Findings& findings, std::int32_t number)
        : context_(context), findings_(findings), number_(number), trace_(context.trace_of(number)) {}

    void run() {
        for (const TraceEvent& line : context_.input.trace->events) {
            if (line.at > context_.end) break;
            if (line.outside) continue;  // seen too late for an order with what others did
            if (line.kind == TraceKind::Start && line.role != "controller") started(line);
            if (line.kind == TraceKind::Fence) fenced_.insert(line.broker);
            if (line.kind == TraceKind::Unfence) fenced_.erase(line.broker);
            if (line.partition == number_) apply(line);
        }
    }

    /// After run(): of each replica outside the ISR, where its log and the leader's part.
    [[nodiscard]] std::map<BrokerId, std::string> partings() const {
        std::map<BrokerId, std::string> texts;
        const auto leader = replicas_.find(leader_);
        if (leader == replicas_.end()) return texts;
        for (const auto& [id, replica] : replicas_) {
            if (contains(isr_, id)) continue;
            const Offset both = std::min(replica.log.end(), leader->second.log.end());
            const auto at = replica.log.first_difference(leader->second.log, both);
            if (!at) continue;
            texts[id] = fmt::format("offset {} of epoch {} there, of epoch {} at the leader", *at,
                                    replica.log.epoch_at(*at), leader->second.log.epoch_at(*at));
        }
        return texts;
    }

private:
    void apply(const TraceEvent& line) {
        if (line.kind == TraceKind::Partition)
            decided(line);
        else if (line.kind == TraceKind::Role)
            role_taken(line);
        else if (line.kind == TraceKind::Append)
            appended(line);
        else if (line.kind == TraceKind::Truncate)
            truncated(line);
        else if (line.kind == TraceKind::Following)
            confirmed(line);
        else if (line.kind == TraceKind::Hw)
            moved(line);
        else if (line.kind == TraceKind::Ack)
            acked(line);
        else if (line.kind == TraceKind::Serve)
            served(line);
    }

    void started(const TraceEvent& line) {
        Replica& replica = replicas_[line.node];
        replica.incarnation = line.incarnation;
        replica.written.clear();
        replica.started = line.at;
        replica.role.clear();
        replica.confirmed = false;
    }

    // -- the controller

    void decided(const TraceEvent& line) {
        const auto broken = [&](const char* rule, const std::string& how) {
            report(rule, line, kUnknownOffset,
                   fmt::format("the controller wrote leader {}, epoch {}, ISR {} at {}, {}", line.leader,
                               line.epoch, ids_text(line.isr), time_text(context_, line.at), how));
        };
        if (decided_) {
            if (line.epoch < epoch_ || (line.leader != leader_ && line.epoch <= epoch_))
                broken("EpochMonotone", fmt::format("after leader {} in epoch {}", leader_, epoch_));
            if (line.partition_epoch >= 0 && line.partition_epoch <= partition_epoch_)
                broken("EpochMonotone",
                       fmt::format("partition epoch {} after {}", line.partition_epoch, partition_epoch_));
        }
        if (line.leader != kNoBroker && !contains(line.isr, line.leader))
            broken("LeaderInIsr", "but that leader is not in that ISR");
        if (line.leader != kNoBroker && fenced_.contains(line.leader))
            broken("FencedLeader", "a fenced broker");
        std::vector<BrokerId> joined;
        for (const BrokerId member : line.isr) {
            if (!contains(isr_, member)) joined.push_back(member);
            if ((line.isr.size() > 1 || context_.meta.elr) && fenced_.contains(member))
                broken("FencedNotInIsr", fmt::format("with the fenced broker {}", member));
            if (!contains(isr_, member)) in_sync_since_[member] = line.at;
            if (Replica& replica = replicas_[member]; replica.lossy && !contains(isr_, member))
                replica.lossy = false;
        }
        decided_ = true;
        leader_ = line.leader;
        epoch_ = line.epoch;
        partition_epoch_ = line.partition_epoch;
        isr_ = line.isr;
        elr_ = line.elr;
        if (line.unclean) begin_lineage(line.epoch);
        for (const BrokerId member : joined) complete(line, member);
    }

    /// Who joins may be elected from now on, also if the high watermark stands still until then.
    void complete(const TraceEvent& line, BrokerId member) {
        const auto found = replicas_.find(member);
        if (cut_pending_ || found == replicas_.end() || !settled(found->second)) return;
        const auto at = committed_.first_difference(found->second.log, committed_.end());
        if (!at) return;
        report(
            "CandidateCompleteness", line, *at,
            fmt::format(
                "broker {} was taken into the ISR {} of leader {} (epoch {}) at {} with LEO {} and lacks a "
                "committed record: offset {} of epoch {}",
                member, ids_text(line.isr), line.leader, line.epoch, time_text(context_, line.at),
                found->second.log.end(), *at, committed_.epoch_at(*at)),
            member);
    }

    /// From an unclean election on only leaders of that epoch or later say what is committed.
    void begin_lineage(LeaderEpoch epoch) {
        lineage_ = epoch;
        cut_pending_ = true;
    }

    [[nodiscard]] bool settled(const Replica& replica) const {
        return replica.known && !replica.lossy && (lineage_ == kNoEpoch || replica.lineage >= lineage_);
    }

    // -- a replica's log

    void role_taken(const TraceEvent& line) {
        Replica& replica = replicas_[line.node];
        if (replica.known && line.epoch < replica.epoch) {
            report("EpochMonotone", line, kUnknownOffset,
                   fmt::format("broker {} went from epoch {} to {} at {}", line.node, replica.epoch,
                               line.epoch, time_text(context_, line.at)));
        }
        check_table(line);
        if (replica.known && line.log_end_offset < replica.log.end()) shrunk(line, replica);
        replica.known = true;
        replica.incarnation = line.incarnation;
        if (replica.epoch != line.epoch || replica.role != line.role) replica.confirmed = false;
        replica.role = line.role;
        replica.leader = line.leader;
        replica.epoch = line.epoch;
        replica.log = LogShape(line.table, line.log_end_offset);
        replica.high_watermark = line.high_watermark;
        check_hw_in_log(line, line.high_watermark, line.log_end_offset);
        if (line.role == "leader") took_office(line, replica);
    }

    void check_table(const TraceEvent& line) {
        for (std::size_t i = 1; i < line.table.size(); ++i) {
            const OffsetAndEpoch& a = line.table[i - 1];
            const OffsetAndEpoch& b = line.table[i];
            if (a.epoch < b.epoch && a.offset < b.offset) continue;
            // An epoch without records gives way to the next at its offset.
            report("EpochsInLogNondecreasing", line, b.offset,
                   fmt::format("broker {} has epoch {} from {} and then epoch {} from {} at {}", line.node,
                               a.epoch, a.offset, b.epoch, b.offset, time_text(context_, line.at)));
        }
    }

    /// Over a restart, or while nobody told: only a fault that takes data explains it.
    void shrunk(const TraceEvent& line, Replica& replica) {
        const DataLoss* loss = trace_.loss_at(line);
        if (loss != nullptr && loss->fault != kNoOp) {
            replica.lossy = true;
            if (loss->sole_in_sync && !context_.meta.elr) begin_lineage(epoch_ + 1);
            return;
        }
        report("unexplained-truncation", line, line.log_end_offset,
               fmt::format("the log of broker {} ended at {} and then at {} ({}, epoch {}, {}), without a "
                           "divergence answer or a fault that takes data",
                           line.node, replica.log.end(), line.log_end_offset, trace_kind_name(line.kind),
                           line.epoch, time_text(context_, line.at)));
    }

    void took_office(const TraceEvent& line, Replica& replica) {
        replica.lineage = std::max(replica.lineage, line.epoch);
        const auto [office, fresh] = offices_.try_emplace(line.epoch, Office{line.node, line.high_watermark});
        if (!fresh && office->second.node != line.node) {
            report("OneLeaderPerEpoch", line, kUnknownOffset,
                   fmt::format("brokers {} and {} both lead in epoch {} ({})", office->second.node, line.node,
                               line.epoch, time_text(context_, line.at)));
        }
        office->second.high_watermark = std::max(office->second.high_watermark, line.high_watermark);
        if (cut_pending_ && line.epoch >= lineage_) {
            cut_pending_ = false;
            keep_common(committed_, replica.log);
            keep_common(seen_, replica.log);
            return;
        }
        if (line.epoch != epoch_ || line.epoch < lineage_) return;
        lacks("LeaderCompleteness", line, committed_, replica, "a committed record");
        lacks("ConsistentRead", line, seen_, replica, "a record that a consumer has read");
    }

    static void keep_common(LogShape& records, const LogShape& log) {
        if (const auto at = records.first_difference(log, records.end())) records.cut(*at);
    }

    bool lacks(const char* rule, const TraceEvent& line, const LogShape& records, const Replica& replica,
               const char* what) {
        const auto at = records.first_difference(replica.log, records.end());
        if (!at) return false;
        report(rule, line, *at,
               fmt::format(
                   "broker {} took office in epoch {} at {} with LEO {} and lacks {}: offset {} of epoch {}",
                   line.node, line.epoch, time_text(context_, line.at), replica.log.end(), what, *at,
                   records.epoch_at(*at)));
        return true;
    }

    void appended(const TraceEvent& line) {
        Replica& replica = replicas_[line.node];
        if (replica.known && line.first < replica.log.end()) shrunk(line, replica);
        replica.log.cut(line.first);
        replica.log.jump(line.first);
        replica.known = true;
        if (replica.role == "follower" || !line.acks) {
            const auto leader = replicas_.find(replica.leader);
            static const LogShape nothing;
            replica.log.copy(leader == replicas_.end() ? nothing : leader->second.log, line.log_end_offset,
                             line.epoch);
            return;
        }
        replica.wrote(line.first, line.log_end_offset, line.epoch);
        if (line.epoch < replica.log.last_epoch()) {
            report("EpochsInLogNondecreasing", line, line.first,
                   fmt::format("broker {} wrote offset {} in epoch {} behind records of epoch {} at {}",
                               line.node, line.first, line.epoch, replica.log.last_epoch(),
                               time_text(context_, line.at)));
        }
        replica.log.append(line.epoch, line.log_end_offset);
    }

    void truncated(const TraceEvent& line) {
        Replica& replica = replicas_[line.node];
        if (line.to < line.from) check_cut(line, replica);
        replica.log.cut(line.to);
        replica.high_watermark = std::min(replica.high_watermark, line.to);
    }

    /// A leader's answer only takes what the leader has not.
    void check_cut(const TraceEvent& line, const Replica& replica) {
        const auto found = replicas_.find(line.leader);
        const bool its_leader = line.leader == replica.leader && line.epoch == replica.epoch;
        const LeaderEpoch cut = replica.log.epoch_at(line.to);
        const bool leader_has_it = found != replicas_.end() && found->second.known && cut != kNoEpoch &&
                                   found->second.epoch == line.epoch &&
                                   found->second.log.epoch_at(line.to) == cut;
        if (its_leader && !leader_has_it) return;
        report("unexplained-truncation", line, line.to,
               fmt::format("broker {} truncated {} -> {} in epoch {} at {}, but {}", line.node, line.from,
                           line.to, line.epoch, time_text(context_, line.at),
                           its_leader ? fmt::format("its leader {} has offset {} of epoch {} too",
                                                    line.leader, line.to, cut)
                                      : fmt::format("it followed leader {} in epoch {} then", replica.leader,
                                                    replica.epoch)));
    }

    void confirmed(const TraceEvent& line) {
        Replica& replica = replicas_[line.node];
        replica.confirmed = true;
        replica.lineage = std::max(replica.lineage, line.epoch);
    }

    // -- high watermarks

    void check_hw_in_log(const TraceEvent& line, Offset high_watermark, Offset log_end) {
        if (high_watermark <= log_end || log_end == kUnknownOffset) return;
        report("HwLeLeo", line, high_watermark,
               fmt::format("the high watermark of broker {} was {} at {} while its log ended at {}",
                           line.node, high_watermark, time_text(context_, line.at), log_end));
    }

    void moved(const TraceEvent& line) {
        Replica& replica = replicas_[line.node];
        replica.high_watermark = line.to;
        check_hw_in_log(line, line.to, line.log_end_offset);
        if (line.role == "follower") {
            check_follower(line, replica);
        } else if (line.role == "leader") {
            Office& office = offices_[line.epoch];
            if (office.node == kNoBroker) office.node = line.node;
            office.high_watermark = std::max(office.high_watermark, line.to);
            if (line.epoch >= lineage_ && !cut_pending_) commit(line, replica);
        }
        match_logs(line, replica);
    }

    void check_follower(const TraceEvent& line, const Replica& replica) {
        const auto office = offices_.find(line.epoch);
        if (!replica.confirmed || office == offices_.end() || line.to <= office->second.high_watermark)
            return;
        report("follower-hw-above-leader", line, line.to,
               fmt::format(
                   "broker {} moved its high watermark to {} in epoch {} at {}, but that of leader {} was {}",
                   line.node, line.to, line.epoch, time_text(context_, line.at), office->second.node,
                   office->second.high_watermark));
    }

    void commit(const TraceEvent& line, const Replica& leader) {
        extend("CommitUnique", committed_, line, leader.log, line.to, "committed");
        for (const BrokerId member : line.isr) in_sync("WeakIsr", line, member, leader.log, line.to);
        for (const BrokerId member : isr_) in_sync("StrongIsr", line, member, leader.log, line.to);
        for (const BrokerId member : isr_)
            in_sync("CandidateCompleteness", line, member, committed_, committed_.end());
        for (const BrokerId member : elr_)
            in_sync("CandidateCompleteness", line, member, committed_, committed_.end());
        if (line.epoch != epoch_ || static_cast<std::int32_t>(line.isr.size()) < context_.effective_min_isr())
            return;
        std::vector<BrokerId> candidates = isr_;
        candidates.insert(candidates.end(), elr_.begin(), elr_.end());
        for (const BrokerId member : candidates) {
            if (contains(line.isr, member) || line.pending_add == member) continue;
            report("MaximalIsrSuperset", line, line.to,
                   fmt::format("leader {} (epoch {}) counts with ISR {} at {}, but the controller's {}",
                               line.node, line.epoch, ids_text(line.isr), time_text(context_, line.at),
                               candidates_text()));
        }
    }

    /// Adds what `log` has below `to`; a record that is there already must be the same.
    void extend(const char* rule, LogShape& records, const TraceEvent& line, const LogShape& log, Offset to,
                const char* what) {
        const Offset known = std::min({records.end(), log.end(), to});
        if (const auto at = records.first_difference(log, known)) {
            report(rule, line, *at,
                   fmt::format(
                       "offset {} was {} as a record of epoch {}, and at {} broker {} has one of epoch {} "
                       "there",
                       *at, what, records.epoch_at(*at), time_text(context_, line.at), line.node,
                       log.epoch_at(*at)));
        }
        if (to > records.end()) records.copy(log, std::min(to, log.end()), line.epoch);
    }

    void in_sync(const char* rule, const TraceEvent& line, BrokerId member, const LogShape& log, Offset to) {
        const auto found = replicas_.find(member);
        if (found == replicas_.end() || !settled(found->second)) return;
        const auto at = log.first_difference(found->second.log, to);
        if (!at) return;
        report(rule, line, *at,
               fmt::format(
                   "broker {} (leader, epoch {}) has high watermark {} at {}, but broker {} of the {} lacks "
                   "offset {} of epoch {}",
                   line.node, line.epoch, line.to, time_text(context_, line.at), member,
                   rule == std::string_view("WeakIsr") ? "ISR " + ids_text(line.isr)
                   : contains(isr_, member)            ? "ISR " + ids_text(isr_)
                                                       : "ELR " + ids_text(elr_),
                   *at, log.epoch_at(*at)),
               member);
    }

    [[nodiscard]] std::string candidates_text() const {
        return fmt::format("ISR is {}{}", ids_text(isr_), elr_.empty() ? "" : ", its ELR " + ids_text(elr_));
    }

    /// Below the high watermarks of both any two logs are the same.
    void match_logs(const TraceEvent& line, const Replica& replica) {
        if (!settled(replica)) return;
        for (const auto& [id, other] : replicas_) {
            if (id == line.node || !settled(other)) continue;
            const Offset both =
                std::min({replica.high_watermark, other.high_watermark, replica.log.end(), other.log.end()});
            const auto at = replica.log.first_difference(other.log, both);
            if (!at) continue;
            report("LogMatching", line, *at,
                   fmt::format(
                       "at {} broker {} has offset {} of epoch {} below its high watermark {}, broker {} "
                       "has one of epoch {} below its {}",
                       time_text(context_, line.at), line.node, *at, replica.log.epoch_at(*at),
                       replica.high_watermark, id, other.log.epoch_at(*at), other.high_watermark),
                   id);
        }
    }

    // -- what clients were told

    void acked(const TraceEvent& line) {
        if (line.acks != -1 || line.error != 0 || line.last == kUnknownOffset) return;
        const auto members =
            static_cast<std::int32_t>(line.maximal_isr.empty() ? line.isr.size() : line.maximal_isr.size());
        const bool unknown = line.isr.empty() && line.maximal_isr.empty();
        if (line.high_watermark <= line.last || (!unknown && members < context_.effective_min_isr())) {
            report("AckQuorum", line, line.first,
                   fmt::format(
                       "broker {} acked offset {} (acks=all) in epoch {} at {} with high watermark {} and "
                       "maximal ISR {}",
                       line.node, line.last, line.epoch, time_text(context_, line.at), line.high_watermark,
                       ids_text(line.maximal_isr)));
        }
        for (const BrokerId member : isr_) outside(line, member);
    }

    void outside(const TraceEvent& line, BrokerId member) {
        const auto found = replicas_.find(member);
        if (member == line.node || found == replicas_.end()) return;
        const Replica& replica = found->second;
        // Started anew since the controller counted on it: it leaves the ISR as soon as it registers.
        if (!settled(replica) || replica.started > in_sync_since_[member]) return;
        if (replica.log.end() > line.last &&
            replica.log.epoch_at(line.last) == replicas_[line.node].meant_by_ack(line.last))
            return;
        report("acked-outside-isr", line, line.last,
               fmt::format(
                   "broker {} acked offset {} (acks=all) in epoch {} at {} with ISR {}, but broker {} of the "
                   "controller's ISR {} did not have it: its log ended at {}",
                   line.node, line.last, line.epoch, time_text(context_, line.at), ids_text(line.isr), member,
                   ids_text(isr_), replica.log.end()),
               member);
    }

    void served(const TraceEvent& line) {
        const Replica& replica = replicas_[line.node];
        if (!settled(replica) || cut_pending_ || line.from > seen_.end()) return;
        extend("ConsistentRead", seen_, line, replica.log, line.to, "read");
    }

    // -- telling

    /// Once an office and pair of brokers: what is broken stays so for many lines.
    void report(const char* kind, const TraceEvent& line, Offset offset, std::string sentence,
                BrokerId other = kNoBroker) {
        if (!told_.insert({kind, line.node, other, line.epoch}).second) return;
        if (!findings_.count(kind, false)) return;
        Anomaly anomaly;
        anomaly.kind = kind;
        anomaly.partition = number_;
        anomaly.offset = offset;
        anomaly.sentence = std::move(sentence);
        const auto found = context_.partitions.find(number_);
        if (found != context_.partitions.end() && offset != kUnknownOffset) {
            for (const Place& place : found->second.places_at(offset)) {
                if (place.acked_op == kNoOp) continue;
                anomaly.value = place.value;
                anomaly.operations = {place.acked_op};
            }
        }
        findings_.sample(std::move(anomaly));
    }

    static bool contains(const std::vector<BrokerId>& ids, BrokerId id) {
        return std::find(ids.begin(), ids.end(), id) != ids.end();
    }

    const Context& context_;
    Findings& findings_;
    std::int32_t number_;
    const PartitionTrace& trace_;
    std::map<BrokerId, Replica> replicas_;
    std::map<LeaderEpoch, Office> offices_;
    std::set<BrokerId> fenced_;
    std::set<std::tuple<std::string, BrokerId, BrokerId, LeaderEpoch>> told_;

    // The controller's view, from its last line.
    bool decided_ = false;
    BrokerId leader_ = kNoBroker;
    LeaderEpoch epoch_ = kNoEpoch;
    PartitionEpoch partition_epoch_ = -1;
    std::vector<BrokerId> isr_;
    std::vector<BrokerId> elr_;
    std::map<BrokerId, Instant> in_sync_since_;

    /// Below a leader's high watermark, and read by consumers, of the present lineage.
    LogShape committed_;
    LogShape seen_;
    LeaderEpoch lineage_ = kNoEpoch;
    bool cut_pending_ = false;
};

}  // namespace

void check_replica_rules(const Context& context, Findings& findings) {
    if (!context.traced) return;
    for (const auto& [number, partition] : context.partitions) ReplicaRules(context, findings, number).run();
}

std::map<BrokerId, std::string> log_partings(const Context& context, std::int32_t partition) {
    if (!context.traced) return {};
    Findings told_elsewhere(1);
    ReplicaRules rules(context, told_elsewhere, partition);
    rules.run();
    return rules.partings();
}

}  // namespace highwater::checker
