#include "nemesis/executor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace highwater::nemesis {
namespace {

/// Conditions over traces and probes change without a wake-up; look at least this often.
constexpr Duration kLookInterval = milliseconds(20);

}  // namespace

Executor::Executor(const Scenario& scenario, FaultTarget& target, const ClusterFacts& facts, Rng rng,
                   ExecutorHooks hooks)
    : scenario_(scenario), target_(target), facts_(facts), rng_(rng), hooks_(std::move(hooks)) {
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
    Instant next = monotonic_now() + kLookInterval;
    for (const FaultSpec& fault : scenario_.faults) {
        const Progress& progress = progress_.at(fault.id);
        if (progress.stage == Stage::Waiting) {
            if (const auto due = due_time(fault, started)) next = std::min(next, *due);
        } else if (progress.stage == Stage::Active && progress.undo_at) {
            next = std::min(next, *progress.undo_at);
        }
    }
    return next;
}

void Executor::advance(const FaultSpec& fault, Progress& progress, Instant started) {
    const Instant now = monotonic_now();
    if (progress.stage == Stage::Waiting) {
        const std::optional<Instant> due = due_time(fault, started);
        if (!due || *due > now) return;
        progress.due = *due;
        strike(fault, progress);
    }
    if (progress.stage != Stage::Active) return;
    if (fault.until) {
        if (fault.until->holds(facts_)) {
            progress.until_met = true;
            if (!progress.undo_at) return complete(progress);
        } else if (monotonic_now() > progress.give_up) {
            return fail(progress, "fault-not-effective",
                        fmt::format("'{}' ({} {}) never led to \"{}\" within {}", fault.id,
                                    fault_kind_name(fault.kind), records_[progress.record].asked,
                                    fault.until->text(), format_duration(fault.deadline)));
        }
    }
    if (progress.undo_at && *progress.undo_at <= monotonic_now()) {
        undo(fault, progress);
        if (progress.stage != Stage::Active) return;
        if (fault.until && !progress.until_met) {
            return fail(progress, "fault-not-effective",
                        fmt::format("'{}' was over after {} without \"{}\"", fault.id,
                                    format_duration(*fault.lasts), fault.until->text()));
        }
        complete(progress);
    }
}

void Executor::strike(const FaultSpec& fault, Progress& progress) {
    FaultRecord record;
    record.id = fault.id;
    record.kind = fault.kind;
    record.planned = progress.due;
    record.asked = fault.path     ? fault.path->to_string()
                   : fault.target ? fault.target->to_string()
                                  : fault.release_of;
    progress.record = records_.size();
    progress.stage = Stage::Active;
    record.requested = monotonic_now();
    if (fault.kind == FaultKind::Release) {
        release(fault, record);
    } else if (acts_on_path(fault.kind)) {
        strike_paths(fault, progress, record);
    } else {
        strike_processes(fault, record);
    }
    const bool resolved = fault.kind == FaultKind::Release || !record.targets.empty();
    records_.push_back(record);
    hooks_.record(record);
    if (!resolved) {
        return fail(progress, "target-unresolved",
                    fmt::format("'{}' targets {}, which nobody held at that moment", fault.id, record.asked));
    }
    if (!record.ok) {
        return fail(progress, "fault-not-effective", fmt::format("'{}': {}", fault.id, record.detail));
    }
    progress.give_up = monotonic_now() + fault.deadline;
    if (fault.lasts) progress.undo_at = record.effective + *fault.lasts;
    if (!fault.until && !fault.lasts) complete(progress);
}

FaultEffect Executor::act(FaultKind kind, BrokerId id) {
    switch (kind) {
        case FaultKind::Pause:
            return target_.pause(id);
        case FaultKind::Resume:
            return target_.resume(id);
        case FaultKind::Terminate:
            return target_.terminate(id);
        case FaultKind::Kill:
            return target_.kill(id);
        case FaultKind::Restart:
            return target_.restart(id);
        case FaultKind::Delay:
        case FaultKind::Hold:
        case FaultKind::Cut:
        case FaultKind::Refuse:
        case FaultKind::Release:
            break;
    }
    HW_ASSERT(false, "{} is no process fault", fault_kind_name(kind));
}

void Executor::strike_processes(const FaultSpec& fault, FaultRecord& record) {
    record.targets = resolve(*fault.target);
    record.ok = true;
    for (const BrokerId id : record.targets) {
        const FaultEffect effect = act(fault.kind, id);
        record.effective = std::max(record.effective, effect.effective);
        record.ok = record.ok && effect.ok;
        if (!effect.detail.empty())
            record.detail += fmt::format("{}{}: {}", record.detail.empty() ? "" : "; ", id, effect.detail);
    }
}

void Executor::strike_paths(const FaultSpec& fault, Progress& progress, FaultRecord& record) {
    const std::vector<BrokerId> sources = resolve(fault.path->source);
    const std::vector<BrokerId> destinations = resolve(fault.path->destination);
    record.ok = true;
    for (const BrokerId source : sources) {
        for (const BrokerId destination : destinations) {
            if (source == destination) continue;
            PathRule rule;
            rule.id = fmt::format("{}/{}->{}", fault.id, source, destination);
            rule.source = source;
            rule.destination = destination;
            rule.kind = fault.kind;
            rule.delay = fault.delay;
            rule.jitter = fault.jitter;
            rule.api = fault.api;
            rule.part = fault.part;
            const FaultEffect effect = target_.add_rule(rule);
            progress.rules.push_back(rule.id);
            record.paths.emplace_back(source, destination);
            record.effective = std::max(record.effective, effect.effective);
            record.ok = record.ok && effect.ok;
            if (!effect.detail.empty()) record.detail = effect.detail;
            if (std::find(record.targets.begin(), record.targets.end(), destination) ==
                record.targets.end()) {
                record.targets.push_back(destination);
            }
        }
    }
}

void Executor::release(const FaultSpec& fault, FaultRecord& record) {
    for (const FaultSpec& earlier : scenario_.faults) {
        if (earlier.id != fault.release_of) continue;
        undo(earlier, progress_[earlier.id]);
        record.targets = records_[progress_[earlier.id].record].targets;
        record.effective = monotonic_now();
        record.ok = true;
        return;
    }
    record.detail = "nothing to release";
}

void Executor::undo(const FaultSpec& fault, Progress& progress) {
    FaultRecord& record = records_[progress.record];
    bool ok = true;
    std::string detail;
    for (const std::string& rule : progress.rules) {
        const FaultEffect effect = target_.remove_rule(rule);
        ok = ok && effect.ok;
        detail = effect.detail;
    }
    progress.rules.clear();
    if (fault.kind == FaultKind::Pause) {
        for (const BrokerId id : record.targets) {
            const FaultEffect effect = target_.resume(id);
            ok = ok && effect.ok;
            detail = effect.detail;
        }
    }
    record.undone = monotonic_now();
    progress.undo_at.reset();
    if (!ok)
        fail(progress, "fault-not-effective", fmt::format("'{}' could not be undone: {}", fault.id, detail));
}

void Executor::complete(Progress& progress) {
    progress.stage = Stage::Done;
    records_[progress.record].completed = monotonic_now();
}

void Executor::fail(Progress& progress, const std::string& reason, const std::string& detail) {
    progress.stage = Stage::Failed;
    doubts_.push_back({reason, detail});
    stop_ = true;
}

std::vector<BrokerId> Executor::resolve(const Role& role) {
    if (role.kind == Role::Kind::TargetOf) return targets_of(role.fault_id).value_or(std::vector<BrokerId>{});
    if (role.kind == Role::Kind::Client) return hooks_.clients;
    std::vector<BrokerId> holders = facts_.resolve(role.to_string());
    if (role.kind == Role::Kind::FollowerAny && !holders.empty()) return {rng_.pick(holders)};
    return holders;
}

}  // namespace highwater::nemesis
