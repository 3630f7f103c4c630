// Plays a scenario's faults against a cluster: when each is due, whom it strikes, what proves it, when it is
// undone. Roles are resolved when a fault strikes; everything that happened goes into FaultRecords and the
// history.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "model/condition.h"
#include "model/fault.h"
#include "model/scenario.h"
#include "nemesis/fault_actions.h"
#include "nemesis/fault_target.h"

namespace highwater::nemesis {

/// A reason for `unknown`, with its sentence.
struct Doubt {
    std::string reason;  // "target-unresolved", "fault-not-effective"
    std::string detail;
};

struct ExecutorHooks {
    /// Every struck or undone fault, as it happens.
    std::function<void(const FaultRecord&)> record;
    /// A fault is complete: its id. Phases of workloads may wait for it.
    std::function<void(const std::string&)> completed;
    /// Returns at `until` or earlier when something about the cluster changed.
    std::function<void(Instant until)> wait;
    /// True when the user interrupted the run.
    std::function<bool()> interrupted;
    /// Every process of the cluster and its clients.
    Members members;
};

class Executor {
public:
    Executor(const Scenario& scenario, FaultTarget& target, const ClusterFacts& facts, Rng rng,
             ExecutorHooks hooks);

    /// Plays every fault; returns when all are complete, or one failed: then the rest is not played.
    void run(Instant workload_started);

    [[nodiscard]] const std::vector<FaultRecord>& records() const { return records_; }
    [[nodiscard]] const std::vector<Doubt>& doubts() const { return doubts_; }
    /// For ClusterFacts::targets_of.
    [[nodiscard]] std::optional<std::vector<BrokerId>> targets_of(const std::string& fault_id) const;

private:
    enum class Stage : std::uint8_t { Waiting, Active, Done, Failed };
    struct Progress {
        Stage stage = Stage::Waiting;
        Instant due;
        Instant give_up;
        std::optional<Instant> undo_at;
        /// `until` held at some moment while the fault was in force.
        bool until_met = false;
        InForce force;
        std::size_t record = 0;
    };

    [[nodiscard]] std::optional<Instant> due_time(const FaultSpec& fault, Instant started) const;
    void advance(const FaultSpec& fault, Progress& progress, Instant started);
    void strike(const FaultSpec& fault, Progress& progress);
    /// If nothing is known of the cluster at the moment: waits a little; whether something is known then.
    bool see_again();
    void look(const FaultSpec& fault, Progress& progress);
    void release(const FaultSpec& fault, FaultRecord& record);
    void undo(const FaultSpec& fault, Progress& progress);
    void complete(Progress& progress);
    /// An optional fault is over with that, any other one ends the schedule.
    void fail(const FaultSpec& fault, Progress& progress, const std::string& reason,
              const std::string& detail);
    [[nodiscard]] Instant next_moment(Instant started) const;

    const Scenario& scenario_;
    const ClusterFacts& facts_;
    ExecutorHooks hooks_;
    FaultActions actions_;
    std::map<std::string, Progress> progress_;
    std::vector<FaultRecord> records_;
    std::vector<Doubt> doubts_;
    bool stop_ = false;
};

}  // namespace highwater::nemesis
