#include "nemesis/executor.h"

#include <fmt/format.h>

#include <algorithm>

namespace highwater::nemesis {
namespace {

/// Conditions over traces and probes change without a wake-up; look at least this often.
constexpr Duration kLookInterval = milliseconds(20);
/// The same while a condition waits for an event: the next step should find the cluster at that moment.
constexpr Duration kEventInterval = milliseconds(1);
/// For an observer that a busy machine has kept from its answers.
constexpr Duration kViewPatience = seconds(2);

std::string could_not_undo(const FaultSpec& fault, const Status& undone) {
    return fmt::format("'{}' could not be undone: {}", fault.id, undone.error().message);
}

}  // namespace

Executor::Executor(const Scenario& scenario, FaultTarget& target, const ClusterFacts& facts, Rng rng,
                   ExecutorHooks hooks)
    : scenario_(scenario),
      facts_(facts),
      hooks_(std::move(hooks)),
      actions_(target,
               NodeSpecs(facts, hooks_.members, [this](const std::string& id) { return targets_of(id); }),
               rng) {
    for (const FaultSpec& fault : scenario_.faults) progress_[fault.id] = Progress{};
}

std::optional<std::vector<BrokerId>> Executor::targets_of(const std::string& fault_id) const {
    for (const FaultRecord& record : records_) {
        if (record.id == fault_id) return record.targets;
    }
    return std::nullopt;
}

void Executor::run(Instant workload_started) {
    while (!stop_ && !hooks_.interrupted()) {
        bool open = false;
        for (const FaultSpec& fault : scenario_.faults) {
            Progress& progress = progress_[fault.id];
            advance(fault, progress, workload_started);
            open = open || progress.stage == Stage::Waiting || progress.stage == Stage::Active;
            if (stop_) break;
        }
        if (!open) return;
        if (!stop_) hooks_.wait(next_moment(workload_started));
    }
}

std::optional<Instant> Executor::due_time(const FaultSpec& fault, Instant started) const {
    if (fault.after.empty()) return started + fault.at;
    const Progress& before = progress_.at(fault.after);
    if (before.stage != Stage::Done) return std::nullopt;
    return *records_[before.record].completed + fault.after_delay;
}

Instant Executor::next_moment(Instant started) const {
    const Instant now = monotonic_now();
    Instant next = now + kLookInterval;
    for (const FaultSpec& fault : scenario_.faults) {
        const Progress& progress = progress_.at(fault.id);
        if (progress.stage == Stage::Waiting) {
            if (const auto due = due_time(fault, started)) next = std::min(next, *due);
        } else if (progress.stage == Stage::Active) {
            if (progress.undo_at) next = std::min(next, *progress.undo_at);
            if (fault.until && fault.until->has_events()) next = std::min(next, now + kEventInterval);
            next = std::min(next, progress.force.next_moment());
        }
    }
    return next;
}

void Executor::advance(const FaultSpec& fault, Progress& progress, Instant started) {
    if (progress.stage == Stage::Waiting) {
        const std::optional<Instant> due = due_time(fault, started);
        if (!due || *due > monotonic_now()) return;
        progress.due = *due;
        strike(fault, progress);
    }
    if (progress.stage == Stage::Active) look(fault, progress);
}

void Executor::look(const FaultSpec& fault, Progress& progress) {
    FaultRecord& record = records_[progress.record];
    if (const Status went = actions_.go_on(fault, record, progress.force, monotonic_now()); !went) {
        return fail(fault, progress, "fault-not-effective",
                    fmt::format("'{}': {}", fault.id, went.error().message));
    }
    const bool holds = !fault.until || fault.until->holds(facts_, record.requested);
    progress.until_met = progress.until_met || holds;
    if (progress.undo_at) {
        if (*progress.undo_at > monotonic_now()) return;
        undo(fault, progress);
        if (progress.stage != Stage::Active) return;
        if (!progress.until_met) {
            return fail(fault, progress, "fault-not-effective",
                        fmt::format("'{}' was over after {} without \"{}\"", fault.id,
                                    format_duration(*fault.lasts), fault.until->text()));
        }
        return complete(progress);
    }
    if (holds && progress.force.settled()) return complete(progress);
    if (monotonic_now() > progress.give_up) {
        const std::string awaited = fault.until ? fmt::format("\"{}\"", fault.until->text()) : "its end";
        fail(fault, progress, "fault-not-effective",
             fmt::format("'{}' ({} {}) never led to {} within {}", fault.id, fault_kind_name(fault.kind),
                         record.asked, awaited, format_duration(fault.deadline)));
    }
}

namespace {

std::string asked_of(const FaultSpec& fault) {
    if (fault.path) return fault.path->to_string();
    if (fault.between)
        return fmt::format("{} | {}", fault.between->first.to_string(), fault.between->second.to_string());
    if (fault.target) return fault.target->to_string();
    if (fault.kind == FaultKind::Elect) return fault.unclean ? "unclean" : "preferred";
    if (fault.kind == FaultKind::Await) return fault.until->text();
    return fault.kind == FaultKind::Release ? fault.release_of : "brokers";
}

}  // namespace

bool Executor::see_again() {
    if (facts_.leader()) return false;
    const Instant deadline = monotonic_now() + kViewPatience;
    while (!facts_.leader() && monotonic_now() < deadline && !hooks_.interrupted()) hooks_.wait(deadline);
    return facts_.leader().has_value();
}

void Executor::strike(const FaultSpec& fault, Progress& progress) {
    FaultRecord record;
    record.id = fault.id;
    record.kind = fault.kind;
    record.planned = progress.due;
    record.asked = asked_of(fault);
    progress.record = records_.size();
    progress.stage = Stage::Active;
    record.requested = monotonic_now();
    // The first question about events is asked before there are any; the answer does not matter.
    if (fault.until) (void)fault.until->holds(facts_, record.requested);
    if (fault.kind == FaultKind::Release) {
        release(fault, record);
    } else {
        actions_.strike(fault, record, progress.force);
    }
    bool resolved = has_no_target(fault.kind) || !record.targets.empty();
    if (!resolved && see_again()) {
        // Nobody had answered for a while: that is no word on who holds the role.
        record.detail.clear();
        actions_.strike(fault, record, progress.force);
        resolved = !record.targets.empty();
    }
    if (!resolved) record.ok = false;
    records_.push_back(record);
    hooks_.record(record);
    if (!resolved) {
        return fail(fault, progress, "target-unresolved",
                    fmt::format("'{}' targets {}, which nobody held at that moment", fault.id, record.asked));
    }
    if (!record.ok) {
        return fail(fault, progress, "fault-not-effective", fmt::format("'{}': {}", fault.id, record.detail));
    }
    progress.give_up = monotonic_now() + fault.deadline;
    if (fault.lasts) progress.undo_at = record.effective + *fault.lasts;
}

void Executor::release(const FaultSpec& fault, FaultRecord& record) {
    for (const FaultSpec& earlier : scenario_.faults) {
        if (earlier.id != fault.release_of) continue;
        Progress& progress = progress_[earlier.id];
        if (progress.stage == Stage::Waiting) break;
        undo(earlier, progress);
        record.targets = records_[progress.record].targets;
        record.proof = records_[progress.record].proof;
        record.effective = monotonic_now();
        record.ok = true;
        return;
    }
    record.detail = "nothing to release";
}

void Executor::undo(const FaultSpec& fault, Progress& progress) {
    progress.undo_at.reset();
    if (const Status undone = actions_.undo(fault, records_[progress.record], progress.force); !undone) {
        fail(fault, progress, "fault-not-effective", could_not_undo(fault, undone));
    }
}

void Executor::complete(Progress& progress) {
    progress.stage = Stage::Done;
    records_[progress.record].completed = monotonic_now();
    if (hooks_.completed) hooks_.completed(records_[progress.record].id);
}

void Executor::fail(const FaultSpec& fault, Progress& progress, const std::string& reason,
                    const std::string& detail) {
    if (fault.optional) {
        FaultRecord& record = records_[progress.record];
        record.detail += (record.detail.empty() ? "left out: " : "; left out: ") + detail;
        // What has no time of its own any more must not stay.
        const Status undone =
            progress.force.rules.empty() ? Status{} : actions_.undo(fault, record, progress.force);
        if (!undone) doubts_.push_back({"fault-not-effective", could_not_undo(fault, undone)});
        return complete(progress);
    }
    progress.stage = Stage::Failed;
    doubts_.push_back({reason, detail});
    stop_ = true;
}

}  // namespace highwater::nemesis
